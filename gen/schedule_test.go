package gen_test

import (
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// TestCuts cuts blocks of any length into chunks: these lie one after the other, differ by one element at most, and
// fill the blocks.
func TestCuts(t *testing.T) {
	for block := range 9 {
		for chunks := 1; chunks < 7; chunks++ {
			c := gen.Cuts{block, chunks}
			end := 0
			for at := range 3 * chunks {
				p := gen.Place{Buf: spec.Out, At: at, N: 1, Like: at % chunks}
				from, to := c.Span(p)
				slot := gen.Place{Buf: spec.Scratch, At: 2, N: 1, Like: p.Like}
				start, stop := c.Span(slot)
				switch {
				case from != end || to-from > c.Slot() || to-from < c.Slot()-1 || to-from != c.Len(p):
					t.Errorf("%+v: chunk %d is %d..%d after %d", c, at, from, to, end)
				case start != 2*c.Slot() || stop-start != c.Len(p) || c.Len(slot) != c.Len(p):
					t.Errorf("%+v: like chunk %d, a slot is %d..%d", c, at, start, stop)
				case at%chunks == 0 && from != at/chunks*block:
					t.Errorf("%+v: block %d begins at %d", c, at/chunks, from)
				}
				end = to
			}
			if from, to := c.Span(gen.Place{Buf: spec.In, At: 0, N: 3 * chunks}); from != 0 || to != 3*block || end != to {
				t.Errorf("%+v: three blocks are %d..%d", c, from, to)
			}
		}
	}
	if from, to := (gen.Cuts{5, 1}).Span(gen.Place{Buf: spec.Scratch, At: 1, N: 2}); from != 5 || to != 15 {
		t.Errorf("two slots of blocks are %d..%d", from, to)
	}
}
