package induct

import (
	"fmt"

	"github.com/collgen/collgen/gen"
)

// apart derives that what a step receives does not overwrite what it sends, unless it may, after that was sent.
func (w *walker) apart(x *action) {
	if isNothing(x.data()) {
		return
	}
	for _, y := range x.step.sends {
		if isNothing(y.data()) {
			continue
		}
		w.oblige("apart", fmt.Sprintf("what it writes is not what action %d sends", y.index), x.index, func(c *context) {
			f := w.anywhere(c, x.step.at)
			g := w.turned(c, f, x.inner)
			h := w.turned(c, f, y.inner)
			share, equal := g.region(x.data()).overlaps(f, h.region(y.data()))
			if !afterSend(x.node) {
				c.want(Part{"what is sent", not(share)})
				return
			}
			c.want(Part{"what is sent, all of it", implies(share, equal)},
				Part{"what is sent, to that rank", implies(share, eq(g.eval(x.peer()), h.eval(y.peer())))})
		})
	}
}

// noRace derives that what a step receives by x overwrites neither what it receives by y nor what that is reduced with.
func (w *walker) noRace(x, y *action) {
	if isNothing(x.data()) {
		return
	}
	w.oblige("apart", fmt.Sprintf("what it writes is not what action %d receives, or reduces that with", y.index), x.index,
		func(c *context) {
			f := w.anywhere(c, x.step.at)
			g, h := w.turned(c, f, x.inner), w.turned(c, f, y.inner)
			reads := func(says string, r gen.Region) {
				if !isNothing(r) {
					share, _ := g.region(x.data()).overlaps(f, h.region(r))
					c.want(Part{says, not(share)})
				}
			}
			reads("what is received", y.data())
			if n, ok := y.node.(gen.RecvReduce); ok {
				reads("what is reduced", n.With)
			}
		})
}

func afterSend(n gen.Node) bool {
	switch n := n.(type) {
	case gen.Recv:
		return n.AfterSend
	case gen.RecvReduce:
		return n.AfterSend
	}
	return false
}
