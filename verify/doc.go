// Package verify proves that a schedule does what its primitive promises, or shows where it does not.
//
// The proof is one symbolic run. It stands for every run, for these reasons, which are the passes of [Schedule]:
//
//   - The schedule is well formed, and every message has the two ends that it needs (shape, unmatched, length). What is
//     in a slot of scratch is read as long as it was written (length), and its rank knows how long that is (known).
//   - It ends in every interleaving. A receive names its sender and messages of one channel arrive in order, so the
//     ranks form a Kahn network: whether it blocks, and what it computes, does not depend on timing, and one run
//     decides (deadlock). Each channel's need of buffer space follows from the same graph of events with an edge from
//     the receive of message k-K to the end of the send of message k, for room for K messages; K = 0 is a rendezvous.
//     An algorithm may need no more room than transports promise (room).
//   - Within a rank, any two accesses to one place of which one is a write are ordered by what the rank waits for
//     (race). A send reads until it ends, a receive writes while it is in flight. What is listed AfterSend is the
//     exception. Buffer space orders nothing, because a transport may have more of it. In place, the pass is repeated
//     with Out and In at their shared addresses. Each action by itself has rules about overlap (alias), and what is
//     lent is read by the reductions of its step alone (lend).
//   - Values are expression trees over input chunks, equal trees being one node, so that a doubled, lost, misplaced or
//     wrongly bracketed operand is visible (uninitialized, postcondition, finish, order), and a buffer that is promised
//     to stay as it was is never written (frame). A primitive that moves no data, as a barrier, promises who has
//     met whom (entered).
//
// Chunks are symbolic: a chunk stands for any number of elements, none included. That is right because chunk i of c of
// a block of n elements has n/c elements and one more if i < n%c, so that chunks cover a block exactly and two chunks
// are equally long for every n only if they have the same index modulo c; the pass length compares these. Where blocks
// are uneven, a chunk is a block, and two are equally long for all counts only if they have the same spec.Length.
package verify
