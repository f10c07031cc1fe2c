// Package fast runs collectives: operations that all ranks of a communicator take part in, such as a sum over all of
// them. A rank is a goroutine, under [Run], or a process, under [Init], and holds a [Comm]; all ranks call the same
// functions in the same order, each with its own buffers. The function of a primitive works in place ([AllReduce]) or
// between two buffers ([AllReduceInto]), on every type of [Elem], and allocates nothing when it is called again. Every
// call ends: by its result, by its context, or by an error that says which rank is at fault ([PeerError],
// [MismatchError], [TimeoutError]). After such an error the output is unspecified, nothing writes to it any more, and the
// communicator is given up on all ranks; a refused call ([ErrInvalidArgument]) does no harm. The files z*.go are
// generated from specifications and algorithms, each of which was proved before; above every function stands what it
// promises.
//
// Ranks whose calls disagree get a [MismatchError], also where they wait for each other or exchange no message that would
// tell. A call that only sends, or has no messages because there are no elements, may return before the disagreement is
// known; then the rank learns of it by a later call, at the latest by one that waits for a rank that disagreed. Only the
// end of its context ends the wait of a rank for others that never come to the same call: because they are in other
// calls or programs, or in a ring of point-to-point calls of three ranks or more on shared memory. Under Run, a rank that
// waits for one whose call had no messages waits for that rank's next call, or its end.
package fast

//go:generate go run ../cmd/collgen gen
