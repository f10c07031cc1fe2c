package neighbor

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast"
)

// planted are mistakes in exchanges.
var planted = map[string]func(l *library){
	// It was in Open MPI, where exchanges are started (github.com/open-mpi/ompi/pull/14416).
	"a grid is the graph of its neighbours": func(l *library) {
		l.grid = func(ctx context.Context, c *fast.Comm, dims []int, periodic []bool) (*Grid, error) {
			g, err := NewGrid(ctx, c, dims, periodic)
			if err == nil {
				g.Graph, err = NewGraph(ctx, c, g.Sources(), g.Destinations())
			}
			return g, err
		}
	},
	// It was in MPICH (github.com/pmodels/mpich/pull/7945).
	"what is received is matched from the last edge on": func(l *library) {
		l.graph = func(ctx context.Context, c *fast.Comm, sources, destinations []int) (*Graph, error) {
			g, err := NewGraph(ctx, c, sources, destinations)
			if err != nil {
				return nil, err
			}
			back := slices.Clone(sources)
			slices.Reverse(back)
			inLayer := occurrences(back)
			slices.Reverse(inLayer)
			outLayer := occurrences(destinations)
			return newGraph(c, sources, destinations, inLayer, outLayer, len(g.in.layers)), nil
		}
	},
	// It was here.
	"all rings of one rank share two layers": func(l *library) {
		l.grid = func(ctx context.Context, c *fast.Comm, dims []int, periodic []bool) (*Grid, error) {
			g, err := NewGrid(ctx, c, dims, periodic)
			if err == nil {
				for i := range g.in.layerOf {
					g.in.layerOf[i], g.out.layerOf[i] = g.in.layerOf[i]%2, g.out.layerOf[i]%2
				}
			}
			return g, err
		}
	},
	"the dimensions are in another order": func(l *library) {
		l.grid = changed(func(dims []int, periodic []bool) { slices.Reverse(dims); slices.Reverse(periodic) })
	},
	"a line is a ring": func(l *library) {
		l.grid = changed(func(_ []int, periodic []bool) { copy(periodic, slices.Repeat([]bool{true}, len(periodic))) })
	},
	"a ring of 1 is a line": func(l *library) { l.grid = changed(cut(1)) },
	"a ring of 2 is a line": func(l *library) { l.grid = changed(cut(2)) },
	"a ring of 3 is a line": func(l *library) { l.grid = changed(cut(3)) },
	"AllToAll clears a block without a source": func(l *library) {
		l.allToAll = func(ctx context.Context, g *Graph, dst, src []int64) error {
			clear(dst)
			return AllToAll(ctx, g, dst, src)
		}
	},
	"AllGather clears a block without a source": func(l *library) {
		l.allGather = func(ctx context.Context, g *Graph, dst, src []int64) error {
			clear(dst)
			return AllGather(ctx, g, dst, src)
		}
	},
	"AllToAllV writes between blocks": func(l *library) {
		l.allToAllV = func(ctx context.Context, g *Graph, dst []int64, in fast.Blocks, src []int64, out fast.Blocks) error {
			clear(dst)
			return AllToAllV(ctx, g, dst, in, src, out)
		}
	},
	"AllToAllV sends what lies before the blocks": func(l *library) {
		l.allToAllV = func(ctx context.Context, g *Graph, dst []int64, in fast.Blocks, src []int64, out fast.Blocks) error {
			for i := range out.Displs {
				out.Displs[i]--
			}
			return AllToAllV(ctx, g, dst, in, src, out)
		}
	},
}

// changed is NewGrid of changed arguments.
func changed(by func(dims []int, periodic []bool)) func(context.Context, *fast.Comm, []int, []bool) (*Grid, error) {
	return func(ctx context.Context, c *fast.Comm, dims []int, periodic []bool) (*Grid, error) {
		dims, periodic = slices.Clone(dims), slices.Clone(periodic)
		by(dims, periodic)
		return NewGrid(ctx, c, dims, periodic)
	}
}

// cut makes lines of the rings of n ranks.
func cut(n int) func(dims []int, periodic []bool) {
	return func(dims []int, periodic []bool) {
		for d := range dims {
			periodic[d] = periodic[d] && dims[d] != n
		}
	}
}

// TestPlanted: each mistake is seen in one of the exchanges that are made over other transports.
func TestPlanted(t *testing.T) {
	for name, plant := range planted {
		t.Run(name, func(t *testing.T) {
			wrong := made
			plant(&wrong)
			for size := 1; size <= 6; size++ {
				for seed := range 30 {
					x := exchanges(size).Example(seed)
					err := fast.Run(t.Context(), size, func(ctx context.Context, c *fast.Comm) error { return x.on(ctx, c, wrong) })
					if errors.Is(err, errMeaning) {
						return
					}
				}
			}
			t.Error("no exchange shows it")
		})
	}
}
