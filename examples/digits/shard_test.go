package main

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/collgen/collgen/fast"
)

// TestShardedIsTheSame: with exact sums, ranks that keep shards come to the bits to which ranks come that keep all.
// Layers of 2080 and 330 parameters have shards of different lengths on 3, 4 and 7 ranks.
func TestShardedIsTheSame(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 7} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			how := settings{epochs: 2, reproducible: true}
			whole := trained(t, n, how)
			how.sharded = true
			if sharded := trained(t, n, how); sharded != whole {
				t.Errorf("sharded %x, accuracy %.4f; unsharded %x, %.4f", sharded.digest[:4], sharded.accuracy,
					whole.digest[:4], whole.accuracy)
			}
		})
	}
}

// TestShardedLearns: with ordinary sums, ranks that keep shards learn as well as one rank.
func TestShardedLearns(t *testing.T) {
	if a := trained(t, 3, settings{epochs: epochs, sharded: true}).accuracy; a < 0.95 {
		t.Errorf("accuracy %.4f", a)
	}
}

// TestShardsAreDivided: between steps each rank has its shards and nothing else, and together they are everything.
func TestShardsAreDivided(t *testing.T) {
	const n = 4
	var kept [n]int
	err := fast.Run(t.Context(), n, func(ctx context.Context, c *fast.Comm) error {
		tr, err := newTrainer(ctx, c, settings{sharded: true})
		if err == nil {
			_, err = tr.step(ctx, tr.training[:batch])
		}
		if err != nil {
			return err
		}
		for _, p := range tr.params {
			if !math.IsNaN(float64(p)) {
				kept[c.Rank()]++
			}
		}
		if state := len(tr.velocity) + len(tr.shards[0].velocity) + len(tr.shards[1].velocity); state != kept[c.Rank()] {
			t.Errorf("rank %d has %d parameters, and the state of %d", c.Rank(), kept[c.Rank()], state)
		}
		return nil
	})
	if want := [n]int{520 + 83, 520 + 83, 520 + 82, 520 + 82}; err != nil || kept != want {
		t.Errorf("ranks keep %v parameters, want %v: %v", kept, want, err)
	}
}
