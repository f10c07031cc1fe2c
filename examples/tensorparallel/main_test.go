package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/collgen/collgen/fast"
)

// TestBothWays: both ways give what one rank computes, also if heads and rows cannot be divided evenly, and on more
// ranks than there are heads.
func TestBothWays(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 8, 9} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			err := fast.Run(t.Context(), size, func(ctx context.Context, c *fast.Comm) error {
				off, err := compare(ctx, c)
				if err == nil && max(off[0], off[1]) > 1e-12 {
					err = fmt.Errorf("rank %d is off by %v", c.Rank(), off)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDivided: a rank's part alone is not the whole.
func TestDivided(t *testing.T) {
	x := random(tokens, width, 1)
	if difference(newBlock(0, 2).attention(x), newBlock(0, 1).attention(x)) < 1e-3 {
		t.Error("half of the heads give what all give")
	}
}
