package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/collgen/collgen/fast"
)

// TestElastic: whoever dies, and whenever, the others get what one rank alone gets.
func TestElastic(t *testing.T) {
	want := alone()
	for _, die := range [][]int{{}, {1: 20}, {3: 0, 1: 30}, {3: 20, 1: 20}, {3: 21, 2: 20, 1: steps - 1}} {
		t.Run(fmt.Sprint(die), func(t *testing.T) {
			var left, dead atomic.Int64
			var out bytes.Buffer // of rank 0
			err := fast.Run(t.Context(), 4, func(ctx context.Context, c *fast.Comm) error {
				one := newTraining(c, &out)
				if c.Rank() > 0 && c.Rank() < len(die) && die[c.Rank()] > 0 {
					one.diesAt = die[c.Rank()]
					dead.Add(1)
				}
				over, err := one.run(ctx)
				if err != nil || !over {
					return err
				}
				left.Add(1)
				if off := difference(one.weights, want); off > 1e-12 {
					return fmt.Errorf("rank %d is off by %g", one.rank, off)
				}
				return nil
			})
			if err != nil || left.Load()+dead.Load() != 4 || (dead.Load() > 0) != strings.Contains(out.String(), "have failed") {
				t.Errorf("%v: %d ranks are left of 4, %d were to die; %s", err, left.Load(), dead.Load(), out.String())
			}
		})
	}
}
