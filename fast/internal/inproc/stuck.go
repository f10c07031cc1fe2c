package inproc

import (
	"context"
	"errors"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Ranks whose calls do not match may wait for each other without a message that would tell: two roots that both send,
// or that both receive. It shows when all ranks that have not closed are asleep, because then nothing can wake any of
// them. The rank that falls asleep last finds out who disagrees with whom.

// errStuck is for ranks that wait for each other although their calls agree, which an algorithm without a deadlock
// cannot lead to.
var errStuck = errors.New("all ranks wait for each other")

// unstick gives every rank that waits for one in a different call its verdict, and wakes all ranks. The rank last fell
// asleep last, and has risen.
func (n *network) unstick(last *Endpoint) {
	ranks, all := n.claim(last)
	if all {
		judge(append(ranks, last))
	}
	for _, e := range ranks {
		e.token <- struct{}{}
	}
}

// claim ends the sleep of all ranks but last: until a rank gets its token, it is the caller's to look at. Not all can
// be claimed if one has just come to its end in another way.
func (n *network) claim(last *Endpoint) (ranks []*Endpoint, all bool) {
	for _, e := range n.endpoints {
		switch {
		case e == last || e.closed.Load():
		case e.riseFrom(asleep):
			ranks = append(ranks, e)
		default:
			return ranks, false
		}
	}
	return ranks, true
}

// judge sets the verdicts of ranks, which wait for each other, unless one of them has failed in another way: it finds
// out by itself, and a closed rank's call must not be read.
func judge(ranks []*Endpoint) {
	for _, e := range ranks {
		if e.failure(context.Background()) != nil {
			return
		}
	}
	// Ranks that are in different calls may just wait for those that disagree, or for a ring of others.
	if condemn(ranks, func(e *Endpoint) error { return e.disagreement(true) }) || condemn(ranks, (*Endpoint).ring) ||
		condemn(ranks, func(e *Endpoint) error { return e.disagreement(false) }) {
		return
	}
	for _, e := range ranks {
		e.verdict = errStuck
	}
}

// condemn sets the verdicts of those ranks for which there is one, and tells whether there are any.
func condemn(ranks []*Endpoint, verdict func(*Endpoint) error) (found bool) {
	for _, e := range ranks {
		if err := verdict(e); err != nil {
			e.verdict, found = err, true
		}
	}
	return found
}

// ring returns the error of a ring of ranks that wait for each other in sends and receives, of which e is the first;
// nil: there is none.
func (e *Endpoint) ring() error {
	path, seen := new(wire.DeadlockError), make([]bool, len(e.net.endpoints))
	if !e.closes(e.rank, path, seen) {
		return nil
	}
	slices.Reverse(path.Ranks)
	slices.Reverse(path.Sends)
	return path
}

// closes reports whether a way from e leads to a rank through point-to-point calls between ranks that were not seen,
// and adds it to path, the last step first.
func (e *Endpoint) closes(to int, path *wire.DeadlockError, seen []bool) bool {
	seen[e.rank] = true
	for peer, call := range e.pending() {
		next := e.net.endpoints[peer]
		if call.Peer == 0 || next.waitsIn(call) || peer != to && (seen[peer] || !next.closes(to, path, seen)) {
			continue
		}
		path.Add(e.rank, call)
		return true
	}
	return false
}

// waitsIn reports whether e waits for a message of that call, too.
func (e *Endpoint) waitsIn(call *wire.Call) bool {
	for _, mine := range e.pending() {
		if wire.Mismatch(call, mine, e.rank) == nil {
			return true
		}
	}
	return false
}

// disagreement compares the calls of the messages that e waits for with those that the other ranks are in: all of them,
// or only those that have to be the same call.
func (e *Endpoint) disagreement(sameCall bool) error {
	for peer, call := range e.pending() {
		if err := e.net.endpoints[peer].disagrees(e, call, sameCall); err != nil {
			return err
		}
	}
	return nil
}

// disagrees returns nil if e waits for something in the other rank's call. Otherwise it compares that with e's call of
// the same place, if e has made one, or with the call of a message that e waits for, one between the two ranks if there
// is any.
func (e *Endpoint) disagrees(other *Endpoint, call *wire.Call, sameCall bool) *wire.MismatchError {
	var found *wire.MismatchError
	if theirs := wire.Counterpart(e.past[:], call); theirs != nil {
		found = wire.Explain(call, theirs, e.rank, other.past[:], e.past[:])
	}
	for peer, mine := range e.pending() {
		err := wire.Mismatch(call, mine, e.rank)
		if err == nil {
			return nil
		}
		if (found == nil || peer == other.rank) && (!sameCall || call.Meets(mine)) {
			found = err
		}
	}
	return found
}
