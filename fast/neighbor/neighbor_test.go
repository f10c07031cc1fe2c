package neighbor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
)

// grids are dimensions of grids, with rings of 1, 2 and more ranks.
var grids = []struct {
	dims     []int
	periodic []bool
}{
	{[]int{}, []bool{}},
	{[]int{1}, []bool{true}},
	{[]int{2}, []bool{true}},
	{[]int{2}, []bool{false}},
	{[]int{5}, []bool{true}},
	{[]int{2, 2}, []bool{true, true}},
	{[]int{2, 3}, []bool{true, false}},
	{[]int{3, 2}, []bool{false, true}},
	{[]int{3, 3}, []bool{true, true}},
	{[]int{2, 1, 3}, []bool{false, true, true}},
}

// TestGrid: a grid knows the coordinates of its ranks, and the ranks at some distance, as those say.
func TestGrid(t *testing.T) {
	for _, x := range grids {
		size := 1
		for _, n := range x.dims {
			size *= n
		}
		t.Run(fmt.Sprint(x), func(t *testing.T) {
			if err := fast.Run(t.Context(), size, func(ctx context.Context, c *fast.Comm) error {
				g, err := NewGrid(ctx, c, x.dims, x.periodic)
				if err != nil {
					return err
				}
				return checkGrid(g)
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// checkGrid compares what a grid's ranks know.
func checkGrid(g *Grid) error {
	rank := g.c.Rank()
	if got := g.Rank(g.Coords(rank)...); got != rank {
		return fmt.Errorf("rank %d is at %v, where %d is", rank, g.Coords(rank), got)
	}
	if once := !slices.Contains(g.periodic, true) || slices.Min(g.dims) > 2; once && len(g.in.layers) > 1 {
		return fmt.Errorf("a call on %v is %d calls", g.dims, len(g.in.layers))
	}
	for d, n := range g.dims {
		for _, far := range []int{0, n, -n, 3*n + 1, math.MaxInt, math.MinInt} {
			below, above := g.Shift(d, far)
			at := g.Coords(rank)
			at[d] += far % n
			want := rank // a multiple of n away
			if far%n != 0 || far != 0 && !g.periodic[d] {
				want = None
			}
			if g.periodic[d] {
				want = g.Rank(at...)
			}
			at[d] -= 2 * (far % n)
			if above != want || g.periodic[d] && below != g.Rank(at...) || below == None != (above == None) {
				return fmt.Errorf("%v, rank %d, dimension %d by %d: %d and %d, want %d above", g.dims, rank, d, far, below, above,
					want)
			}
		}
	}
	for d, n := range g.dims {
		at := g.Coords(rank)
		at[d] = 0
		want := g.Rank(at...)
		if !g.periodic[d] {
			want = None
		}
		at[d] = n // which is 0 on a ring
		if got := g.Rank(at...); got != want {
			return fmt.Errorf("rank %d is at %v, want %d", got, at, want)
		}
	}
	if below, above := g.Shift(len(g.dims), 1); below != None || above != None {
		return fmt.Errorf("%d and %d along a dimension that there is not", below, above)
	}
	for i, source := range g.Sources() {
		if below, above := g.Shift(i/2, 1); source != []int{below, above}[i%2] || source != g.Destinations()[i] {
			return fmt.Errorf("rank %d, neighbour %d is %d, Shift says %d and %d", rank, i, source, below, above)
		}
	}
	return nil
}

// TestRefused: wrong arguments are refused, those that ranks see together on all of them.
func TestRefused(t *testing.T) {
	graph := func(sources, destinations func(rank int) []int) func(context.Context, *fast.Comm) error {
		return func(ctx context.Context, c *fast.Comm) error {
			_, err := NewGraph(ctx, c, sources(c.Rank()), destinations(c.Rank()))
			return err
		}
	}
	none := func(int) []int { return nil }
	grid := func(dims []int, periodic ...bool) func(context.Context, *fast.Comm) error {
		return func(ctx context.Context, c *fast.Comm) error {
			_, err := NewGrid(ctx, c, dims, periodic)
			return err
		}
	}
	for name, x := range map[string]struct {
		call func(context.Context, *fast.Comm) error
		want string
	}{
		"a rank too large":  {graph(func(int) []int { return []int{3} }, none), "neighbour 3, want a rank of 3"},
		"a rank below None": {graph(none, func(int) []int { return []int{-2} }), "neighbour -2"},
		"one end": {graph(none, func(r int) []int { return []int{1} }),
			"rank 1 and a rank other than this one disagree|rank 0 lists rank 1 as a destination 1 times, and that one lists " +
				"it as a source 0"},
		"one end more": {graph(func(r int) []int { return []int{r, r} }, func(r int) []int { return []int{r} }),
			"as a destination 1 times, and that one lists it as a source 2 times"},
		"one end, that rank 0 finds": {graph(func(r int) []int { return [][]int{{1}, nil, nil}[r] }, none),
			"rank 0 and a rank other than this one disagree|rank 1 lists rank 0 as a destination 0 times"},
		"other dimensions": {func(ctx context.Context, c *fast.Comm) error {
			return grid([][]int{{3}, {3}, {1, 3}}[c.Rank()], make([]bool, 1+c.Rank()/2)...)(ctx, c)
		}, "rank 2 passes other dimensions"},
		"other rings": {func(ctx context.Context, c *fast.Comm) error {
			return grid([]int{3}, c.Rank() == 1)(ctx,
				c)
		}, "rank 1 passes other dimensions"},
		"too few points":       {grid([]int{2}, false), "have 2 points, want 3"},
		"too many points":      {grid([]int{3, 2}, false, true), "[3 2] have more than 3 points"},
		"a dimension of 0":     {grid([]int{0}, false), "dimension 0 of [0] is 0"},
		"too many points, far": {grid([]int{3, math.MaxInt}, false, true), "have more than 3 points"},
		"a ring too few":       {grid([]int{3}), "1 dimensions, and periodic has 0"},
		"no communicator": {func(ctx context.Context, _ *fast.Comm) error {
			_, err := NewGrid(ctx, nil, []int{3}, []bool{true})
			return err
		}, "the communicator is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			var seen [3]error
			_ = fast.Run(t.Context(), 3, func(ctx context.Context, c *fast.Comm) error {
				seen[c.Rank()] = x.call(ctx, c)
				return nil
			})
			checkRefused(t, seen[:], x.want)
		})
	}
}

// TestGridIsItsOwn: a grid stays as it is when the caller's slices change.
func TestGridIsItsOwn(t *testing.T) {
	if err := fast.Run(t.Context(), 6, func(ctx context.Context, c *fast.Comm) error {
		dims, periodic := []int{2, 3}, []bool{false, true}
		g, err := NewGrid(ctx, c, dims, periodic)
		if err != nil {
			return err
		}
		dims[0], dims[1], periodic[0], periodic[1] = 6, 1, true, false
		if at := g.Coords(5); !slices.Equal(at, []int{1, 2}) || g.Rank(1, -1) != 5 || g.Rank(2, 0) != None {
			t.Errorf("rank 5 is at %d, (1, -1) is rank %d, and (2, 0) rank %d", at, g.Rank(1, -1), g.Rank(2, 0))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// checkRefused: all errors are ErrInvalidArgument, and have these words or, after a bar, those.
func checkRefused(t *testing.T, all []error, want string) {
	t.Helper()
	for rank, err := range all {
		has := func(words string) bool { return strings.Contains(err.Error(), words) }
		if !errors.Is(err, fast.ErrInvalidArgument) || !slices.ContainsFunc(strings.Split(want, "|"), has) {
			t.Errorf("rank %d: %v, want %q", rank, err, want)
		}
	}
}

// TestCallsRefused: a call whose buffers do not have room for the neighbours' blocks is refused, and does no harm.
func TestCallsRefused(t *testing.T) {
	blocks := func(displs []int, counts ...int) fast.Blocks { return fast.Blocks{Counts: counts, Displs: displs} }
	right := blocks(nil, 1, 1, 1)
	if err := fast.Run(t.Context(), 1, func(ctx context.Context, c *fast.Comm) error {
		g, err := NewGraph(ctx, c, []int{0, None, 0}, []int{None, 0, 0})
		if err != nil {
			return err
		}
		empty, err := NewGraph(ctx, c, nil, nil)
		if err != nil {
			return err
		}
		three, four := make([]int64, 3), make([]int64, 4)
		for name, x := range map[string]struct {
			err  error
			want string
		}{
			"no graph":          {AllToAll(ctx, nil, three, three), "the graph is nil"},
			"a graph of nobody": {AllToAll(ctx, &Graph{}, three, three), "the graph is nil"},
			"dst":               {AllToAll(ctx, g, four, three), "len(dst) is 4, want a multiple of 3"},
			"src":               {AllToAll(ctx, g, three, four), "len(src) is 4, want a multiple of 3"},
			"lengths": {AllToAll(ctx, g, three, make([]int64, 6)),
				"the blocks of dst have 1 elements, and those of src 2"},
			"nobody":             {AllToAll(ctx, empty, three, nil), "want a multiple of 0"},
			"started":            {StartAllToAll(ctx, g, four, three).Wait(ctx), "len(dst) is 4, want a multiple of 3"},
			"gathered":           {AllGather(ctx, g, three, three), "want 3 blocks of len(src)"},
			"gathered, a rest":   {AllGather(ctx, g, four, three[:1]), "want 3 blocks of len(src)"},
			"gathered, too much": {AllGather(ctx, g, make([]int64, 9), three[:1]), "want 3 blocks of len(src)"},
			"gathered, nobody":   {AllGather(ctx, empty, three, three), "want 0 blocks of len(src)"},
			"counts": {AllToAllV(ctx, g, three, blocks(nil, 1, 1), four[:3], right),
				"2 Counts and 0 Displs, want 3"},
			"displs": {AllToAllV(ctx, g, three, right, four[:3], blocks([]int{0}, 1, 1, 1)),
				"3 Counts and 1 Displs, want 3"},
			"a negative count": {AllToAllV(ctx, g, three, blocks(nil, -1, 1, 1), four[:3], right),
				"block 0 of dst has -1 elements"},
			"beyond": {AllToAllV(ctx, g, three, right, four[:3], blocks([]int{0, 1, 3}, 1, 1, 1)),
				"block 2 of src has 1 elements from 3 on"},
			"far beyond": {AllToAllV(ctx, g, three, blocks(nil, 1, 1, math.MaxInt), four[:3], right),
				"block 2 of dst has"},
			"too few": {AllToAllV(ctx, g, four, right, three, right),
				"the blocks of dst have 3 elements, and len(dst) is 4"},
			"overlapping layers": {AllToAllV(ctx, g, three, blocks([]int{0, 0, 0}, 1, 1, 1), four[:3], right),
				"two blocks of dst have element 0"},
			"both ends": {AllToAllV(ctx, g, three, right, four, blocks(nil, 1, 1, 2)),
				"has 1 elements in dst, and 2 in src"},
			"one buffer": {AllToAll(ctx, g, three, three),
				"neighbor.AllToAll: invalid argument: dst and src overlap"},
		} {
			if !errors.Is(x.err, fast.ErrInvalidArgument) || !strings.Contains(x.err.Error(), x.want) {
				t.Errorf("%s: %v, want %q", name, x.err, x.want)
			}
		}
		return AllToAll(ctx, g, three, four[:3])
	}); err != nil {
		t.Error(err)
	}
}

// TestAllocations: a repeated call allocates nothing.
func TestAllocations(t *testing.T) {
	if err := fast.Run(t.Context(), 1, func(ctx context.Context, c *fast.Comm) error {
		g, err := NewGrid(ctx, c, []int{1, 1}, []bool{true, false})
		if err != nil {
			return err
		}
		ring, err := NewGraph(ctx, c, []int{0, None}, []int{None, 0})
		if err != nil {
			return err
		}
		dst, src := make([]int64, 8), make([]int64, 8)
		blocks := fast.Blocks{Counts: []int{4, 4}}
		for name, call := range map[string]func() error{
			"AllToAll":  func() error { return AllToAll(ctx, g.Graph, dst, src) },
			"AllGather": func() error { return AllGather(ctx, g.Graph, dst, src[:2]) },
			"AllToAllV": func() error { return AllToAllV(ctx, ring, dst, blocks, src, blocks) },
		} {
			if n := testing.AllocsPerRun(10, func() { err = call() }); n != 0 || err != nil {
				t.Errorf("%s: %v allocations, %v", name, n, err)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestDims(t *testing.T) {
	for _, x := range []struct {
		size, dimensions int
		want             []int
	}{
		{1, 1, []int{1}}, {12, 2, []int{4, 3}}, {12, 3, []int{3, 2, 2}}, {7, 2, []int{7, 1}}, {24, 3, []int{4, 3, 2}},
		{36, 2, []int{6, 6}},
		{64, 3, []int{4, 4, 4}}, {6, 4, []int{3, 2, 1, 1}}, {0, 2, nil}, {4, 0, nil},
	} {
		if got := Dims(x.size, x.dimensions); !slices.Equal(got, x.want) {
			t.Errorf("Dims(%d, %d) = %v, want %v", x.size, x.dimensions, got, x.want)
		}
	}
}
