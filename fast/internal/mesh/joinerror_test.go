package mesh

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// TestVerdict: of several reasons to fail, in whatever order they come, the cause is taken and not what follows from
// it.
func TestVerdict(t *testing.T) {
	dead := func(p int, err error) error { return &wire.PeerError{Rank: p, Err: err} }
	blames := func(p int, b blame, ranks ...int) error { return dead(p, &gaveUp{closeReason{b, ranks, "it says"}}) }
	timeout := &wire.TimeoutError{Waiting: []int{3}, Err: context.DeadlineExceeded}
	is := func(w weight, err error) reason { return reason{err: err, weight: w} }
	died, gone, store := dead(1, wire.ErrDied), dead(0, errGone), errors.New("the store has ended")
	for name, x := range map[string]struct {
		reasons []reason
		want    string
	}{
		"a death": {[]reason{is(strong, died)}, "rank 1: rank died"},
		"hearsay": {[]reason{is(strong, blames(0, blameDead, 1))}, "rank 1: rank died, says rank 0"},
		"an end, then hearsay": {[]reason{is(weak, gone), is(strong, blames(3, blameDead, 1))},
			"rank 1: rank died, says rank 3"},
		"what two agree on": {[]reason{is(strong, dead(3, wire.ErrDied)), is(strong, blames(0, blameDead, 1)),
			is(strong, blames(4, blameDead, 1))}, "rank 1: rank died, says rank 0"},
		"a store that is gone": {[]reason{is(weak, store), is(weak, store), is(weak, store), is(strong, died)}, died.Error()},
		"an end, then absence": {[]reason{is(weak, gone), is(strong, blames(1, blameAbsent, 3))},
			fmt.Sprintf("waiting for ranks [3]: %v on rank 1, which gave up: it says", context.DeadlineExceeded)},
		"absence":              {[]reason{is(weak, timeout)}, timeout.Error()},
		"blame for this one":   {[]reason{is(strong, blames(1, blameDead, 2))}, "rank 1: gave up: it says"},
		"a fault of one's own": {[]reason{is(strong, died), is(certain, dead(0, ErrTaken))}, dead(0, ErrTaken).Error()},
		"the first of equals":  {[]reason{is(weak, gone), is(weak, dead(1, errGone))}, gone.Error()},
		"the best of one":      {[]reason{is(weak, dead(1, errGone)), is(strong, died)}, died.Error()},
	} {
		j := &joining{Mesh: &Mesh{}, work: t.Context(), setFailing: func(error) {}}
		j.me.Process = 2
		for _, r := range x.reasons {
			j.report(r.err, r.weight)
		}
		if _, err := j.reasons.best(); err == nil || err.Error() != x.want {
			t.Errorf("%s: %q, want %q", name, err, x.want)
		}
	}
}

// TestDeathWhileWaiting: those who wait for another process know at once that one has died, and tell the one that comes
// later, which must not wait for the dead one.
func TestDeathWhileWaiting(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			leavesNothing(t)
			b := newBoard()
			config := func(p int) Config {
				c := b.config(p, 4)
				if way != nil {
					way(&c)
				}
				return c
			}
			victim, err := newMesh(config(1))
			if err != nil {
				t.Fatal(err)
			}
			victim.begin()
			j := newJoining(soon(t), victim)
			together(4, func(p int) {
				if p == 1 {
					_ = j.run() // until it is killed
					return
				}
				if p > 1 {
					eventually(t, func() bool { return victim.peer(0) != nil })
				}
				if p == 3 {
					eventually(t, func() bool { return victim.peer(2) != nil })
					victim.kill()
					victim.finish()
					j.end()
				}
				_, err := Join(soon(t), config(p))
				var peer *wire.PeerError
				if !errors.As(err, &peer) || peer.Rank != 1 || !errors.Is(err, wire.ErrDied) {
					t.Errorf("process %d: %v", p, err)
				}
			})
		})
	}
}
