package neighbor

import (
	"context"
	"errors"
	"testing"

	"github.com/collgen/collgen/fast"
)

// ending is a context that ends when its Err has been asked for so often.
type ending struct {
	context.Context
	left int
}

func (e *ending) Err() error {
	if e.left--; e.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// TestInterrupted: a call whose context ends after one of its layers, or of the calls that make a graph, gives the
// communicator up. One whose context ends before that does no harm.
func TestInterrupted(t *testing.T) {
	for name, call := range map[string]func(ctx context.Context, g *Graph, dst, src []int) error{
		"AllToAll": AllToAll[int],
		"StartAllToAll": func(ctx context.Context, g *Graph, dst, src []int) error {
			return StartAllToAll(ctx, g, dst, src).Wait(context.Background())
		},
		"NewGraph": func(ctx context.Context, g *Graph, dst, _ []int) error {
			other := 1 - g.c.Rank()
			copy(dst, []int{10*other + 1, 10 * other})
			_, err := NewGraph(ctx, g.c, []int{other}, []int{other})
			return err
		},
	} {
		harmless, given := 0, 0
		for left := range 8 {
			_ = fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
				g, err := NewGrid(ctx, c, []int{2}, []bool{true})
				if err != nil {
					t.Error(err)
					return err
				}
				src, dst := []int{10 * c.Rank(), 10*c.Rank() + 1}, make([]int, 2)
				limited := ctx
				if c.Rank() == 0 {
					limited = &ending{ctx, left}
				}
				err = call(limited, g.Graph, dst, src)
				if c.Rank() == 0 && err != nil {
					if c.State() != fast.Healthy {
						given++
						return err
					}
					harmless++
					err = call(ctx, g.Graph, dst, src)
				}
				if other := 10 * (1 - c.Rank()); err == nil && (dst[0] != other+1 || dst[1] != other) {
					t.Errorf("%s, %d: rank %d has %d", name, left, c.Rank(), dst)
				}
				return err
			})
		}
		if harmless+given == 0 || given == 0 {
			t.Errorf("%s: of 8 calls, %d did no harm, and %d gave the communicator up", name, harmless, given)
		}
	}
}

// TestMixed: ranks that make different calls, or calls on different graphs, get errors.
func TestMixed(t *testing.T) {
	ends := func(rank, size int) []int { return []int{(rank + size - 1) % size, (rank + 1) % size} }
	for name, odd := range map[string]func(ctx context.Context, c *fast.Comm, g, other *Graph, dst []int) error{
		"another call": func(ctx context.Context, _ *fast.Comm, g, _ *Graph, dst []int) error {
			return AllGather(ctx, g, dst, []int{7})
		},
		"another graph": func(ctx context.Context, _ *fast.Comm, _, other *Graph, dst []int) error {
			return AllToAll(ctx, other, dst, []int{7, 8})
		},
		"AllToAllV of package fast": func(ctx context.Context, c *fast.Comm, _, _ *Graph, dst []int) error {
			blocks := fast.Blocks{Counts: []int{0, 1, 1}}
			return fast.AllToAllV(ctx, c, dst, blocks, []int{7, 8}, blocks, fast.WithAlgorithm("direct"))
		},
	} {
		var seen [3]error
		_ = fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
			g, err := NewGraph(ctx, c, ends(c.Rank(), 3), ends(c.Rank(), 3))
			if err != nil {
				return err
			}
			other, err := NewGraph(ctx, c, ends(c.Rank(), 3), ends(c.Rank(), 3))
			if err != nil {
				return err
			}
			dst := make([]int, 2)
			if c.Rank() == 0 {
				seen[0] = odd(ctx, c, g, other, dst)
			} else {
				seen[c.Rank()] = AllToAll(ctx, g, dst, []int{1, 2})
			}
			return nil
		})
		for rank, err := range seen {
			if !errors.As(err, new(*fast.MismatchError)) {
				t.Errorf("%s: rank %d: %v", name, rank, err)
			}
		}
	}
}

// TestTooManyLayers: two ranks cannot be neighbours so often that a rank would need very much memory.
func TestTooManyLayers(t *testing.T) {
	var seen [2]error
	_ = fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
		var layers int
		if layers = 1; c.Rank() == 1 {
			layers = mostBlocks/2 + 1
		}
		_, seen[c.Rank()] = agree(ctx, c, []int{0, 0}, []int{0, 0}, layers)
		return nil
	})
	checkRefused(t, seen[:], "neighbours 2097153 times, and may be 2097152 times")
}
