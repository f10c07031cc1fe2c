package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/collgen/collgen/fast"
)

// TestNeighbours checks what every rank gets by each algorithm, of one and two ranks too.
func TestNeighbours(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for _, count := range []int{0, 1, 5} {
			for _, algorithm := range []string{"ring", "shifts"} {
				err := fast.Run(context.Background(), n, func(ctx context.Context, c *fast.Comm) error {
					return exchangeOnce(ctx, c, count, fast.WithAlgorithm(algorithm))
				})
				if err != nil {
					t.Errorf("%s, %d ranks: %v", algorithm, n, err)
				}
			}
		}
	}
}

func exchangeOnce(ctx context.Context, c *fast.Comm, count int, how fast.Option) error {
	src, dst := make([]int32, count), make([]int32, 2*count)
	for i := range src {
		src[i] = int32(100*c.Rank() + i)
	}
	if err := Neighbours(ctx, c, dst, src, how); err != nil {
		return err
	}
	for i := range src {
		before := int32(100*((c.Rank()+c.Size()-1)%c.Size()) + i)
		after := int32(100*((c.Rank()+1)%c.Size()) + i)
		if dst[i] != before || dst[count+i] != after {
			return fmt.Errorf("element %d is %d and %d, want %d and %d", i, dst[i], dst[count+i], before, after)
		}
	}
	return nil
}

// TestFlow checks that no heat is lost, and that the ring is closed: both ways around, it is symmetric.
func TestFlow(t *testing.T) {
	var mu sync.Mutex
	ring := make([]float64, ranks*cells)
	err := fast.Run(context.Background(), ranks, func(ctx context.Context, c *fast.Comm) error {
		heat, err := flow(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		copy(ring[c.Rank()*cells:], heat)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sum, hot := 0.0, cells/2-1
	for i := range ring {
		sum += ring[i]
		left, right := ring[(hot-i+len(ring))%len(ring)], ring[(hot+i)%len(ring)]
		if math.Abs(left-right) > 1e-12 {
			t.Errorf("%d cells before the hot one it is %g, after it %g", i, left, right)
		}
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("the heat is %g, want 1", sum)
	}
}
