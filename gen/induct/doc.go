// Package induct says what has to be shown of an algorithm so that it keeps its promise with any number of ranks: it
// derives, from the Algorithm itself and from invariants of its loops, formulas in the language of spec.Expr. Each is
// an [Obligation]. If all of them hold for all values of their variables, every schedule of the algorithm is right.
//
// # The argument
//
// Ranks run by themselves, and messages between two of them are in order, so that what they compute does not depend on
// timing, and one run decides. The run that is looked at is the one in which each message is sent and received at one
// moment. A moment is a place in the program with the turns of the loops around it; the turns of a loop may be shifted
// by a number that depends on the rank, its Skew. The moments of one rank are in the order of its steps. So there is
// such a run, and it ends, if (matched) each send of a moment names a rank that has at the same moment a receive that
// names the sender, and the reverse, and if messages between two ranks at one moment are received in the order in which
// they are sent. They are if (distinct) no rank sends to a rank twice, or receives from it twice, at one moment. Of
// several sends and receives of a step, outside of its loops, the first are matched, the second, and so on: that is
// their order, too.
//
// The run ends with no more room in channels than transports promise (ARCHITECTURE.md, "What a channel promises").
// Consider the first moment that is not over on all ranks:
//
//  1. Every rank that takes part in the moment has done all that comes before it. Its part is one step (exclusive),
//     whose messages are in flight together. So both ends of each message of the moment are in flight.
//  2. The messages before these on their channels are over, or belong to the moment too.
//  3. Only a receive AfterSend can hold a message up. Such a receive takes a segment once the same segment of the send
//     that it follows has been buffered.
//  4. That send is the only message of the moment from its rank to the peer (room). So within the moment it has no
//     other message before it on its channel, and none behind it.
//  5. A segment of that send is buffered as soon as the peer has taken the segment before it. The peer's receive may be
//     AfterSend too. Then the peer's receive follows the message that claim 3 is about, since the peer, too, sends just
//     one message (room). Then segment k of either message waits only until segment k-1 of the other one was taken.
//  6. So segment after segment of each message is taken, and the moment ends.
//
// A send that has to wait for a receive of a later step has no partner at its moment, so that matched fails. If
// siblings are said to take turns though one rank carries out both, exclusive fails.
//
// What the memory holds at a moment is then known by induction over moments: a value is a reduction of one chunk over
// the ranks first, first+1, …, count of them and modulo the size, each once, or none that is known. A loop has a
// [gen.Invariant], which says what memory holds at its head, as a function of the rank and the turn. It holds before
// the first turn (entry), and after each turn if before it (step); in between, and where there is no loop, the values
// follow from the actions. What is received is what the sender's memory held at that moment. Operands of a reduction
// are known, of one chunk, not finished, and of ranges that are disjoint and meet (operands), so that nothing is
// reduced twice. In the end the memory holds what the primitive promises (post).
//
// All regions are inside their buffers (bounds), nothing that is in flight overwrites what is sent (apart), and two
// reductions that have the same range of the same chunk for their result have the same operands, so that a range has
// one tree on all ranks (tree).
//
// The invariants are the only thing that is written by hand, besides the Skew and which sibling nodes take turns. None
// of it is believed: an invariant that does not hold makes entry or step fail, one that says too little makes a later
// obligation fail, and a wrong pairing of sends and receives makes matched fail. There is nothing that a wrong one
// could make hold.
//
// What is lent is known to the reductions of its step alone: to everything else, and after the step, it is nothing that
// is known. Until such a reduction has read it, nothing overwrites where a copy has lent it from (lend).
package induct
