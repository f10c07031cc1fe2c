// Package induct says what has to be shown of an algorithm so that it keeps its promise with any number of ranks: it
// derives, from the Algorithm itself and from invariants of its loops, formulas in the language of spec.Expr. Each is
// an [Obligation]. If all of them hold for all values of their variables, every schedule of the algorithm is right.
//
// # The argument
//
// Ranks run by themselves, and messages between two of them are in order, so that what they compute does not depend on
// timing, and one run decides. The run that is looked at is the one in which each message is sent and received at one
// moment. A moment is a place in the program with the turns of the loops around it; the turns of a loop may be shifted
// by a number that depends on the rank, its Skew. The moments of one rank are in the order of its steps. So there is such a
// run, and it ends, if (matched) each send of a moment names a rank that has at
// the same moment a receive that names the sender, and the reverse, and if messages between two ranks at one
// moment are received in the order in which they are sent. They are if (distinct) no rank sends to a rank twice, or receives from
// it twice, at one moment. Of several sends and receives of a step, outside of its loops, the first are matched, the second, and so
// on: that is their order, too.
//
// It ends with no more room in channels than transports promise (ARCHITECTURE.md, "What a channel promises"). Of the moments that are
// not over on all ranks, look at the first: every rank that has a part in it has done all that comes before, and its part is
// one step (exclusive), whose messages are in flight together. So both ends of each of the moment's messages are in flight, and
// those before them on their channel are over, or of this moment too. Nothing holds these up but a receive AfterSend, which takes
// a part when the same part of its send is sent. That is the only message of the moment from this rank to the other (room), so that
// it comes before no other and behind none. Its parts are sent as soon as those before are taken; the receive that takes them may
// be AfterSend too, but then it follows the message in question, one part behind. So part after part goes, of each message, and
// the moment comes to its end. A send that has to wait for a receive of a later step has no partner at its moment; if
// siblings are said to take turns though one rank carries out both, exclusive fails.
//
// What the memory holds at a moment is then known by induction over moments: a value is a reduction of one chunk over the
// ranks first, first+1, …, count of them and modulo the size, each once, or none that is known. A loop has a [gen.Invariant], which
// says what memory holds at its head, as a function of the rank and the turn. It holds before the first turn
// (entry), and after each turn if before it (step); in between, and where there is no loop, the values follow from the
// actions. What is received is what the sender's memory held at that moment. Operands of a reduction are known, of one
// chunk, not finished, and of ranges that are disjoint and meet (operands), so that nothing is reduced twice. In the end
// the memory holds what the primitive promises (post).
//
// All regions are inside of their buffers (bounds), nothing that is in flight overwrites what is sent (apart), and two
// reductions that have the same range of the same chunk for their result have the same operands, so that a range has one
// tree on all ranks (tree).
//
// The invariants are the only thing that is written by hand, besides the Skew and which sibling nodes take turns. None of it
// is believed: an invariant that does not hold makes entry or step fail, one that says too little makes a later obligation fail,
// and a wrong pairing of sends and receives makes matched fail. There is nothing that a wrong one could make hold.
//
// What is lent is known to the reductions of its step alone: to everything else, and after the step, it is nothing that is known.
// Until such a reduction has read it, nothing overwrites where a copy has lent it from (lend).
package induct
