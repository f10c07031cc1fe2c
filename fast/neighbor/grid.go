package neighbor

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Grid is a Graph in which ranks are the points of a Cartesian grid, numbered with the last coordinate fastest. Along
// dimension d, block 2d of a buffer is that of the neighbour with the lower coordinate, and block 2d+1 that of the
// neighbour with the higher one. A periodic dimension is a ring. In others the ranks at an end have no neighbour there.
type Grid struct {
	*Graph
	dims     []int
	periodic []bool
}

// NewGrid returns the grid of these dimensions, whose product is the number of ranks of c. All ranks of c call it
// together. If they pass different arguments, all get an error. It wraps ErrInvalidArgument, except where another rank
// has given c up because of its own.
func NewGrid(ctx context.Context, c *fast.Comm, dims []int, periodic []bool) (*Grid, error) {
	if c == nil {
		return nil, wire.Refuse("NewGrid", "the communicator is nil")
	}
	if len(periodic) != len(dims) {
		return nil, wire.Refuse("NewGrid", "%d dimensions, and periodic has %d", len(dims), len(periodic))
	}
	points := 1
	for d, n := range dims {
		switch {
		case n < 1:
			return nil, wire.Refuse("NewGrid", "dimension %d of %v is %d, want at least 1", d, dims, n)
		case n > c.Size()/points:
			return nil, wire.Refuse("NewGrid", "dimensions %v have more than %d points, one for each rank", dims, c.Size())
		}
		points *= n
	}
	if points != c.Size() {
		return nil, wire.Refuse("NewGrid", "dimensions %v have %d points, want %d, one for each rank", dims, points, c.Size())
	}
	if err := sameGrid(ctx, c, dims, periodic); err != nil {
		return nil, err
	}
	g := &Grid{dims: slices.Clone(dims), periodic: slices.Clone(periodic)}
	g.connect(c)
	return g, nil
}

// sameGrid returns an error on all ranks unless all pass the same.
func sameGrid(ctx context.Context, c *fast.Comm, dims []int, periodic []bool) error {
	print := uint64(len(dims))
	for d, n := range dims {
		print = wire.Mix(print ^ uint64(n))
		if periodic[d] {
			print = wire.Mix(print ^ 1<<63)
		}
	}
	all := make([]uint64, c.Size())
	part := exec.Part{Operation: "neighbor.NewGrid", Root: -1}
	opt := fast.Option{Kind: exec.PartOption, Part: &part}
	if err := fast.AllGatherInto(ctx, c, all, []uint64{print}, opt); err != nil {
		return fmt.Errorf("NewGrid: %w", err)
	}
	for r, other := range all {
		if other != all[0] {
			return wire.Refuse("NewGrid", "rank %d passes other dimensions than rank 0, or has others periodic", r)
		}
	}
	return nil
}

// connect makes g's graph. Where both neighbours along a dimension are the same rank, the blocks that go down are in
// one layer and those that go up in another. Where that is the rank itself, so it is along other such dimensions too,
// and each has two layers of its own. All ranks have the same layers.
func (g *Grid) connect(c *fast.Comm) {
	var neighbours, inLayer, outLayer []int
	layers, selves := 1, 0
	for d, n := range g.dims {
		down, up := 0, 0
		switch {
		case g.periodic[d] && n == 1:
			down, up = selves, selves+1
			selves += 2
		case g.periodic[d] && n == 2:
			up = 1
		}
		layers = max(layers, up+1)
		below, above := g.shift(c.Rank(), d, 1)
		neighbours = append(neighbours, below, above)
		inLayer = append(inLayer, up, down) // what comes from below goes up
		outLayer = append(outLayer, down, up)
	}
	g.Graph = newGraph(c, neighbours, neighbours, inLayer, outLayer, layers)
}

// Coords returns the coordinates of a rank, or nil if there is no such rank.
func (g *Grid) Coords(rank int) []int {
	if rank < 0 || rank >= g.c.Size() {
		return nil
	}
	at := make([]int, len(g.dims))
	for d, n := range slices.Backward(g.dims) {
		at[d], rank = rank%n, rank/n
	}
	return at
}

// Rank returns the rank at these coordinates. In a periodic dimension they may be any numbers. Rank returns None if
// there is no rank.
func (g *Grid) Rank(coords ...int) int {
	if len(coords) != len(g.dims) {
		return None
	}
	rank := 0
	for d, n := range g.dims {
		x := coords[d]
		if g.periodic[d] {
			x = (x%n + n) % n
		}
		if x < 0 || x >= n {
			return None
		}
		rank = rank*n + x
	}
	return rank
}

// Shift returns the ranks that are that far from this one along a dimension: from below, and from above; None where
// there is none. It is MPI_Cart_shift.
func (g *Grid) Shift(dimension, by int) (below, above int) {
	if dimension < 0 || dimension >= len(g.dims) {
		return None, None
	}
	return g.shift(g.c.Rank(), dimension, by)
}

// shift is Shift of a rank.
func (g *Grid) shift(rank, dimension, by int) (below, above int) {
	stride := 1
	for _, n := range g.dims[dimension+1:] {
		stride *= n
	}
	n, ring := g.dims[dimension], g.periodic[dimension]
	if ring {
		by %= n
	}
	at := rank / stride % n
	move := func(by int) int {
		to := at + by
		if ring {
			to = (to + n) % n
		}
		if to < 0 || to >= n {
			return None
		}
		return rank + (to-at)*stride
	}
	return move(-by), move(by)
}

// Dims returns the dimensions of a grid of size points in so many dimensions, close to each other, the largest first.
// It is MPI_Dims_create. Dims returns nil if there is no such grid.
func Dims(size, dimensions int) []int {
	if size < 1 || dimensions < 1 {
		return nil
	}
	dims := make([]int, dimensions)
	for d := range dims {
		dims[d] = balanced(size, dimensions-d)
		size /= dims[d]
	}
	slices.Sort(dims)
	slices.Reverse(dims)
	return dims
}

// balanced returns the smallest divisor of size whose power to dimensions is at least size.
func balanced(size, dimensions int) int {
	for x := 1; x < size; x++ {
		if size%x == 0 && power(x, dimensions, size) >= size {
			return x
		}
	}
	return size
}

// power returns x to the n, or most if that is less.
func power(x, n, most int) int {
	p := 1
	for range n {
		if p > most/x {
			return most
		}
		p *= x
	}
	return p
}
