// Package simnet is a network in memory: links that are slow, take and give what they carry in pieces of any length,
// break, or lose all that is sent from some moment on, between processes that crash, stop, and go on. It keeps the
// clock of the goroutines that use it, so that under testing/synctest hours pass in no time; and what it draws by
// chance comes from a seed, for each direction of each link by itself. In which order goroutines run that have
// something to do at the same moment is not drawn: delays are in nanoseconds, so that there are few such moments.
//
// A link has two ends, and each end two faces: a net.Conn that blocks, and a socket that never does, as package tcp
// uses it.
package simnet
