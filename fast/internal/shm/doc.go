// Package shm carries messages between ranks that are processes on one machine, through memory that they share. It runs
// on Linux alone.
//
// Every ordered pair of ranks has a ring of slots in the shared memory. The sender copies a message into slots, segment
// by segment. The receiver copies or reduces straight out of them, or borrows a slot until it is done with it. Slots
// are small until a rank has a long message to send; then it takes memory for full ones, within bounds. What goes to
// several ranks is written once, in one of the sender's multicast slots, to which the lines of its rings refer; among
// many ranks all long messages lie there. A long message from memory that ranks have registered, or that lies in huge
// pages where the system lets processes read each other, is offered instead: the receiver reads it where it lies. A
// rank that has nothing to do looks at its rings for a while and then sleeps on a futex, its doorbell.
//
// The other ranks see in the memory that a rank has closed. They do not see that it has given up or that its process
// died: whoever learns of that calls Fail on their endpoints.
//
// Nothing has a name in a file system: the memory is a memfd, and disappears with the last process.
package shm
