// Package shm carries messages between ranks that are processes on one machine, through memory that they share. It runs
// on Linux alone.
//
// Every ordered pair of ranks has a ring of slots in the shared memory: the sender copies a message into slots, segment
// by segment, and the receiver copies, or reduces, straight out of them, or is lent a slot until it has done with it.
// Slots are small until a rank has a long message to send; then it takes memory for full ones, within bounds. What goes
// to several ranks is written once, on the sender's board, to which the lines of its rings refer; among many ranks all
// that is long lies there. A long message from memory that ranks have registered, or that lies in huge pages where the
// system lets processes read each other, is offered instead: the receiver reads it where it lies. A rank that has
// nothing to do looks at its rings for a while and then sleeps on a futex, its doorbell.
//
// That a rank has closed, the others see in the memory. That it has given up, or that its process died, they do not:
// Fail tells them, on behalf of whoever knows.
//
// Nothing has a name: the memory is a memfd and goes when the last process does.
package shm
