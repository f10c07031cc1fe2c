// Package rendezvous is how the processes of a job on one machine find each other. It runs on Linux alone.
//
// Rank 0 listens on a socket in a directory that only this user may enter; the others connect to it and say who they
// are. When all have come the socket is removed. Then rank 0 gives each of them its files, and when all have taken theirs
// they go on. Whatever fails on one rank is told to all.
//
// Whoever else connects is sent away, or ignored: other users, other programs, other jobs, a rank that is there already.
package rendezvous
