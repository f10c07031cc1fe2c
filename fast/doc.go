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
// calls of a Comm run one after the other, but sends and receives in a row run together, so that ranks may start them
// in any order, and do not begin before one of them is waited for ([Handle] says when); [SendRecv] is one of each.
// [Comm.Batch] has calls begin together, also on several communicators, and a [Bucket] reduces many small tensors in
// few calls while the next ones are computed.
//
// [Init] connects processes, on one host or several, by what [FromEnv] or its options say. [Comm.Split], [Comm.Group]
// and [Comm.Dup] make more communicators. When a rank has died, the others go on by [Comm.Shrink], and by [Comm.Grow]
// and [Join] with new ones.
//
// Calls match in the order in which they are made on a Comm, so all ranks have to make them in one order. A program
// that uses one Comm from several goroutines has to order their calls itself: two of them in a call at the same time is
// [ErrConcurrentUse], but calls that come one after the other, in another order on another rank, are found out only if
// they differ in more than their buffers.
//
// A table of rules says which algorithm a call gets, by how the ranks talk, their number and the bytes of a block;
// [Explain] says which, and why. [WithTuning] puts rules that were measured before the built-in ones, and
// [WithAlgorithm] overrides both for one call; [Algorithms] lists what there is.
//
// Of all calls of a rank, the last 4,096 are recorded, at the cost of some 30 nanoseconds each. The record is written
// to a file when a call fails for the first time ([WithTraceDir]), or by [Comm.WriteTrace]; [Trace] is its format, and
// `collrun trace` compares those of all ranks. A call in which nothing moves for long is warned of ([WithSlowCall]),
// with the ranks that it waits for.
//
// Ranks whose calls disagree get a [MismatchError], also where they wait for each other or exchange no message that
// would tell. A call that only sends, or has no messages because there are no elements, may return before the
// disagreement is known; then the rank learns of it by a later call, at the latest by a collective that takes anything
// from a rank that disagreed: each carries a hash of those before it. That is not so of sends and receives, where the
// receiver finds out, nor of empty blocks of [GatherV], [ScatterV] and [AllToAllV], which need a message between the
// two. Ranks of a communicator that wait for each other in a ring, which no two of them can tell, are found out some
// seconds after the last of them has come to it: they get a MismatchError, or a [DeadlockError] if all are in sends and
// receives. So are ranks in [Comm.Agree], [Comm.Grow] or [Comm.Group] that wait for one in a call that
// needs them; [Comm.Shrink] gets it out. Rings of more than 128 ranks, and through several communicators, are not
// found. Only the end of its context ends the wait of a rank for such a ring, or for others that never come to the same
// call. Under Run, a rank whose partner has made a call without messages instead, of no elements say, learns of that
// when the partner makes its next call, or ends.
package fast

//go:generate go run ../cmd/collgen gen
