// Package agree has the members of a group agree on one value although members die meanwhile: the AND of their flags,
// and who of them is gone. Machine is one member's part in one agreement, a pure function of messages and news of
// deaths; Agent runs the machines of one member over a control plane.
//
// # What is promised
//
// Members fail by stopping. The control plane tells every member in the end of each one that has stopped
// (completeness), and of no other (accuracy: it makes sure by cutting off whom it takes for dead). Messages between two
// members that live arrive; their order does not matter. Then:
//
//   - Uniform agreement: no two members return different values, those included that die right afterwards.
//   - Validity: the value has the flags of every member that is not in Gone. Who is in Gone has stopped, or left.
//   - Termination: every member that lives and has started returns, once all others that live have started.
//
// # How
//
// It is the rotating coordinator of Chandra and Toueg (Unreliable failure detectors for reliable distributed systems,
// JACM 1996), with the early-returning structure of ULFM's agreement (Herault et al., Practical scalable consensus for
// pseudo-synchronous distributed systems, SC 2015), in a flat tree. The coordinator is the lowest member not known to
// be gone, and its number is the number of the round: each member coordinates at most one.
//
//	State     to the coordinator, by each member that has started: its flags, or the value that it has adopted, and
//	          the round
//	Propose   by the coordinator, once it has the State of all that are not gone: the value adopted in the highest round,
//	          or else one made of all flags
//	Adopted   the member now holds this value; it is too late for any other
//	Decide    by the coordinator, once all that are not gone have adopted
//
// A member whose coordinator is gone sends its State to the next one, or Decide if it has decided: members go on
// answering after they have returned. From then on it ignores rounds that are lower.
//
// Why two members cannot return different values: take the lowest round r in which a value v was decided. All members
// that lived at that time had adopted v in round r. A coordinator r' > r proposes only after r is gone, so after that
// decision; it lived then, so it has itself adopted v in round r or, by induction, in one between r and r'. The highest
// round in which anybody adopted is thus r or later, and its value is v.
//
// Why it ends: a coordinator waits for members that live, which answer, or that are gone, of which it is told. There
// are no more rounds than members.
//
// # When deaths are mistaken
//
// Behind a cut network each half takes the other one for dead, and both go on with values of their own. With a quorum
// of more than half of the members that cannot be: a coordinator neither proposes nor decides without so many answers,
// any two such sets have a member in common, and that member's State in the higher round tells of what it adopted in
// the lower one, as in Lamport's Paxos with members' numbers as ballots. Who is cut off gets wire.ErrNoQuorum, or is in
// Gone.
package agree
