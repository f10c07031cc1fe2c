// Package rdma carries messages between ranks by RDMA over reliable connections, one for each pair of ranks that has
// something to say to each other, on devices that a [Domain] stands for.
//
// A sender writes segments of its messages into slots in the receiver's memory, each with an immediate that tells the
// receiver of it; the receiver copies them, reduces straight out of the slot, or lends it. A long message whose place
// is memory that was registered (Know) is written there at once, and out of registered memory without a copy: its
// sender asks for the place, and its receiver, when the message is in turn, answers. How many slots have become free a
// receiver says in bulk, by an immediate without bytes. What ranks tell each other besides (package linkproto) has
// slots of its own, so that it never waits behind messages.
//
// Ranks learn of each other's queue pairs and memory by cards, which others carry over an authenticated connection. A
// rank writes only after the other one has said that it is ready.
//
// An Endpoint may have several domains, its rails: then a message from registered memory to registered memory is
// written in parts over all that both ranks have, and everything else of two ranks goes over one of them, the main one.
// Immediates tell of what was written on the same queue pair alone, so each rail beside the main one ends its part with
// one of its own, and the message is complete when all of these have come, and its last segment on the main one.
//
// An Endpoint has, for each peer that it has exchanged something with, 528 KiB of memory, registered with each rail,
// and a queue pair on each: 16 slots of 16 KiB to receive into and as many to send from, and 16 KiB for what is said
// besides. On a rail all share one completion queue and one protection domain. It has a goroutine for each rail but the
// first, which sleeps when the endpoint does; those that make a link, as long as the device and the network take for
// that; and the one that after Close lets go out what was sent, for two seconds at most.
//
// The transport does not watch other ranks: who is dead, it is told by Fail, or by a write that is not answered. A rank
// that waits for long writes nothing, to where it waits for, so that there is an answer to miss.
package rdma
