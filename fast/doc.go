// Package fast runs collectives: operations that all ranks of a communicator take part in, such as a sum over all of
// them. A rank is a goroutine, under [Run], or a process, under [Init], and holds a [Comm]; all ranks call the same
// functions in the same order, each with its own buffers. The function of a primitive works in place ([AllReduce]) or
// between two buffers ([AllReduceInto]), on every type of [Elem], and allocates nothing when it is called again. Every
// call ends: by its result, by its context, or by an error that says which rank is at fault ([PeerError],
// [MismatchError], [TimeoutError]). After such an error the output is unspecified, nothing writes to it any more, and
// the communicator is given up on all ranks; a refused call ([ErrInvalidArgument]) does no harm. A [CallError] around
// the cause says which call it was. The files z*.go are generated from specifications and algorithms, each of which was
// proved before; above every function stands what it promises, and the hash of that specification, which ranks compare.
//
// A call can be started instead, by [StartAllReduce] and its like, and its [Handle] says when it is over. The started
// calls of a Comm run in order. Consecutive sends and receives run together, so ranks may start them in any order. They
// begin when one of them is waited for; [Handle] says when. [SendRecv] is one of each.
// [Comm.Batch] has calls begin together, also on several communicators, and a [Bucket] reduces many small tensors in
// few calls while the next ones are computed.
//
// [Init] connects processes, on one host or several, by what [FromEnv] or its options say. [Main] is Init under a
// launcher, and Run without one. [Comm.Split], [Comm.Group] and [Comm.Dup] make more communicators. When a rank has
// died, the others go on by [Comm.Shrink], and by [Comm.Grow] and [Join] with new ones.
//
// Calls match in the order in which they are made on a Comm, so all ranks have to make them in one order. Goroutines
// that share a Comm have to order their calls. Two at the same time get [ErrConcurrentUse]. A different order on
// another rank is noticed only if the calls differ in more than their buffers.
//
// Rules choose the algorithm of a call by transport, number of ranks, and bytes of a block; [Explain] shows the choice.
// [WithTuning] puts rules that were measured before the built-in ones, and [WithAlgorithm] overrides both for one call;
// [Algorithms] lists what there is.
//
// Of all calls of a rank, the last 4,096 are recorded, at the cost of some 30 nanoseconds each. The record is written
// to a file when a call fails for the first time ([WithTraceDir]), or by [Comm.WriteTrace]; [Trace] is its format, and
// `collrun trace` compares those of all ranks. A call in which nothing moves for long is warned of ([WithSlowCall]),
// with the ranks that it waits for.
//
// Ranks whose calls disagree get a [MismatchError], also where they wait for each other or exchange no message that
// would tell. A call that only sends, or has no elements, may return before the mismatch is known; then a later call
// reports it. At the latest, that is the next collective that receives from a rank that disagreed, since each carries a
// hash of those before it. Of sends and receives, the receiver finds out. Empty blocks of [GatherV], [ScatterV] and
// [AllToAllV] need a later message between the two ranks.
//
// Ranks of a communicator that wait for each other in a ring get an error, although no two of them can tell: a
// MismatchError, or a [DeadlockError] if all are in sends and receives. So do ranks in [Comm.Agree], [Comm.Grow] or
// [Comm.Group] that wait for one in a call that needs them; [Comm.Shrink] gets it out. Rings of more than 128 ranks,
// and through several communicators, are not found. Only the end of its context ends the wait of a rank for such a
// ring, or for others that never come to the same call. Under Run, a rank whose partner has made a call without
// messages instead, of no elements say, learns of that when the partner makes its next call, or ends.
package fast

//go:generate go run ../cmd/collgen gen
