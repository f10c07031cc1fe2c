package inproc

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Ranks whose calls do not match may wait for each other without a message that would tell: two roots that both send,
// or that both receive. It shows when all ranks that have not closed are asleep, because then nothing can wake any of
// them. The rank that falls asleep last finds out who disagrees with whom.

// errStuck is for ranks that wait for each other although their calls agree, which an algorithm without a deadlock cannot
// lead to.
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

// claim ends the sleep of all ranks but last: until a rank gets its token, it is the caller's to look at. Not all can be
// claimed if one has just come to its end in another way.
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

// judge sets the verdicts of ranks, which wait for each other, unless one of them has failed in another way: it finds out
// by itself, and a closed rank's call must not be read.
func judge(ranks []*Endpoint) {
	for _, e := range ranks {
		if e.failure(context.Background()) != nil {
			return
		}
	}
	agree := true
	for _, e := range ranks {
		if err := e.disagreement(); err != nil {
			e.verdict, agree = err, false
		}
	}
	for _, e := range ranks {
		if agree {
			e.verdict = errStuck
		}
	}
}

// disagreement compares e's call with those of the ranks that it waits for.
func (e *Endpoint) disagreement() error {
	for _, rank := range e.waiting() {
		if err := wire.Mismatch(e.call, e.net.endpoints[rank].call, rank); err != nil {
			return err
		}
	}
	return nil
}
