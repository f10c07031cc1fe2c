package inproc

import (
	"context"
	"errors"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Ranks whose calls do not match may wait for each other without any message that would show it: two roots that both
// send, or that both receive. When all ranks that have not closed are asleep, nothing can wake any of them. The rank
// that falls asleep last then finds out which calls disagree.

// errStuck is the error of ranks that wait for each other although their calls agree. It cannot occur with an algorithm
// that is free of deadlocks.
var errStuck = errors.New("all ranks wait for each other")

// unstick sets the verdicts of ranks that wait for each other, and wakes all ranks. The rank last was the last to fall
// asleep, and is awake again.
func (n *network) unstick(last *Endpoint) {
	ranks, all := n.claim(last)
	if all {
		judge(append(ranks, last))
	}
	for _, e := range ranks {
		e.token <- struct{}{}
	}
}

// claim ends the sleep of all ranks except last. Until a rank gets its token, the caller may access its state. All is
// false if a rank has just woken up for another reason.
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

// judge sets the verdicts of ranks, which wait for each other, unless one of them has failed for another reason. That
// rank notices by itself, and a closed rank's call must not be read.
func judge(ranks []*Endpoint) {
	for _, e := range ranks {
		if e.failure(context.Background()) != nil {
			return
		}
	}
	// Ranks in different calls may merely wait for ranks that disagree, or for a ring of others.
	if condemn(ranks, func(e *Endpoint) error { return e.disagreement(true) }) || condemn(ranks, (*Endpoint).ring) ||
		condemn(ranks, func(e *Endpoint) error { return e.disagreement(false) }) {
		return
	}
	for _, e := range ranks {
		e.verdict = errStuck
	}
}

// condemn sets the verdict of each rank that has one, and reports whether any has.
func condemn(ranks []*Endpoint, verdict func(*Endpoint) error) (found bool) {
	for _, e := range ranks {
		if err := verdict(e); err != nil {
			e.verdict, found = err, true
		}
	}
	return found
}

// ring returns the error of a ring of ranks, beginning with e, that wait for each other in sends and receives, or nil.
func (e *Endpoint) ring() error {
	path, seen := new(wire.DeadlockError), make([]bool, len(e.net.endpoints))
	if !e.closes(e.rank, path, seen) {
		return nil
	}
	slices.Reverse(path.Ranks)
	slices.Reverse(path.Sends)
	return path
}

// closes reports whether a path of point-to-point calls leads from e to a rank through ranks that were not seen, and
// adds its steps to path, the last one first.
func (e *Endpoint) closes(to int, path *wire.DeadlockError, seen []bool) bool {
	seen[e.rank] = true
	for peer, call := range e.stuckIn() {
		next := e.net.endpoints[peer]
		if call.Peer == 0 || next.waitsIn(call) || peer != to && (seen[peer] || !next.closes(to, path, seen)) {
			continue
		}
		path.Add(e.rank, call)
		return true
	}
	return false
}

// waitsIn reports whether e also waits for a message of that call.
func (e *Endpoint) waitsIn(call *wire.Call) bool {
	for _, mine := range e.pending() {
		if wire.Mismatch(call, mine, e.rank) == nil {
			return true
		}
	}
	return false
}

// disagreement compares the calls of the messages that e waits for with those that the other ranks are in. If sameCall
// is set, it only compares calls that have to agree.
func (e *Endpoint) disagreement(sameCall bool) error {
	for peer, call := range e.stuckIn() {
		if err := e.net.endpoints[peer].disagrees(e, call, sameCall); err != nil {
			return err
		}
	}
	return nil
}

// disagrees returns nil if e waits for something in the other rank's call. Otherwise it compares that call with e's
// counterpart, or else with the call of a message that e waits for, preferably one between the two ranks.
func (e *Endpoint) disagrees(other *Endpoint, call *wire.Call, sameCall bool) *wire.MismatchError {
	var found *wire.MismatchError
	if theirs := wire.Counterpart(e.past[:], call); theirs != nil {
		found = wire.Explain(call, theirs, e.rank, other.past[:], e.past[:])
	}
	if e.waitsIn(call) {
		return nil
	}
	for peer, mine := range e.stuckIn() {
		err := wire.Mismatch(call, mine, e.rank)
		if (found == nil || peer == other.rank) && (!sameCall || call.Meets(mine)) {
			found = err
		}
	}
	return found
}
