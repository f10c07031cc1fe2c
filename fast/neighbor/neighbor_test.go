package neighbor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/collgen/collgen/fast"
)

// lists are the neighbours of each rank.
type lists struct{ sources, destinations [][]int }

// graphOf returns the lists of a graph with these edges, each from one rank to another.
func graphOf(size int, edges [][2]int) lists {
	l := lists{make([][]int, size), make([][]int, size)}
	for _, e := range edges {
		l.destinations[e[0]] = append(l.destinations[e[0]], e[1])
	}
	for _, e := range slices.Backward(edges) { // in another order
		l.sources[e[1]] = append(l.sources[e[1]], e[0])
	}
	return l
}

// origin returns from which block of the source comes what is received into block i.
func (l lists) origin(rank, i int) (block int) {
	source := l.sources[rank][i]
	before := 0
	for _, other := range l.sources[rank][:i] {
		if other == source {
			before++
		}
	}
	for j, to := range l.destinations[source] {
		if to == rank && before == 0 {
			return j
		} else if to == rank {
			before--
		}
	}
	panic("an edge has one end")
}

// value is an element that a rank sends.
func value(rank, block, at int) int64 { return int64(rank+1)<<40 | int64(block)<<20 | int64(at) }

// input returns src with blocks of these lengths, each behind a gap.
func input(rank int, counts []int, gap int) (src []int64, blocks fast.Blocks) {
	for block, n := range counts {
		src = append(src, make([]int64, gap)...)
		blocks.Displs = append(blocks.Displs, len(src))
		blocks.Counts = append(blocks.Counts, n)
		for at := range n {
			src = append(src, value(rank, block, at))
		}
	}
	return src, blocks
}

// check makes the calls on g, twice each, and compares with what comes by l. Length says how long the block of an edge is.
func check(ctx context.Context, g *Graph, l lists, rank, count, gap int, length func(from, block int) int) error {
	sources, destinations := len(l.sources[rank]), len(l.destinations[rank])
	want := make([]int64, sources*count)
	gathered := make([]int64, sources*count)
	var uneven []int64
	in := fast.Blocks{Displs: []int{}, Counts: []int{}}
	for i, source := range l.sources[rank] {
		uneven = append(uneven, make([]int64, gap)...)
		in.Displs = append(in.Displs, len(uneven))
		if source == None {
			in.Counts = append(in.Counts, 1<<30) // makes no difference
			continue
		}
		block := l.origin(rank, i)
		for at := range count {
			want[i*count+at], gathered[i*count+at] = value(source, block, at), value(source, 0, at)
		}
		in.Counts = append(in.Counts, length(source, block))
		for at := range length(source, block) {
			uneven = append(uneven, value(source, block, at))
		}
	}
	src, _ := input(rank, slices.Repeat([]int{count}, destinations), 0)
	one, _ := input(rank, []int{count}, 0)
	var lengths []int
	for block := range destinations {
		lengths = append(lengths, length(rank, block))
	}
	some, out := input(rank, lengths, gap)
	for range 2 {
		for _, x := range []struct {
			name string
			want []int64
			call func(dst []int64) error
		}{
			{"AllToAll", want, func(dst []int64) error { return AllToAll(ctx, g, dst, src) }},
			{"AllToAllV", uneven, func(dst []int64) error { return AllToAllV(ctx, g, dst, in, some, out) }},
			{"AllGather", gathered, func(dst []int64) error { return AllGather(ctx, g, dst, one) }},
			{"StartAllToAllV", uneven, func(dst []int64) error { return StartAllToAllV(ctx, g, dst, in, some, out).Wait(ctx) }},
			{"StartAllToAll", want, func(dst []int64) error { return StartAllToAll(ctx, g, dst, src).Wait(ctx) }},
			{"StartAllGather", gathered, func(dst []int64) error { return StartAllGather(ctx, g, dst, one).Wait(ctx) }},
		} {
			dst := make([]int64, len(x.want))
			if err := x.call(dst); err != nil {
				return err
			}
			if !slices.Equal(dst, x.want) {
				return fmt.Errorf("%s, rank %d: %s", x.name, rank, cmp.Diff(x.want, dst))
			}
		}
	}
	return nil
}

// run has all ranks call f, over that transport.
func run(t testing.TB, transport string, size int, f func(ctx context.Context, c *fast.Comm) error) error {
	if transport == "inproc" {
		return fast.Run(t.Context(), size, f)
	}
	store, done := fast.NewMemoryStore(), make(chan error)
	for rank := range size {
		go func() {
			c, err := fast.Init(t.Context(), fast.WithRank(rank, size), fast.WithStore(store), fast.WithTransport(transport), fast.WithJob(t.Name()))
			if err == nil {
				err = errors.Join(f(t.Context(), c), c.Close())
			}
			done <- err
		}()
	}
	var all error
	for range size {
		all = errors.Join(all, <-done)
	}
	return all
}

// TestGraph: what each neighbour sends arrives in the block of its edge, in any graph, and nothing else changes.
func TestGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 6).Draw(t, "size")
		rank := rapid.IntRange(0, size-1)
		edges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
			return [2]int{rank.Draw(t, "from"), rank.Draw(t, "to")}
		}), 0, 3*size).Draw(t, "edges")
		l := graphOf(size, edges)
		for _, side := range [][][]int{l.sources, l.destinations} {
			for r := range side {
				if rapid.IntRange(0, 3).Draw(t, "none") == 0 {
					side[r] = slices.Insert(side[r], rapid.IntRange(0, len(side[r])).Draw(t, "at"), None)
				}
			}
		}
		count, gap := rapid.IntRange(0, 5).Draw(t, "count"), rapid.IntRange(0, 2).Draw(t, "gap")
		seed := rapid.IntRange(1, 9).Draw(t, "seed")
		length := func(from, block int) int { return (seed*(from+3) + 5*block) % 4 }
		if err := fast.Run(context.Background(), size, func(ctx context.Context, c *fast.Comm) error {
			g, err := NewGraph(ctx, c, l.sources[c.Rank()], l.destinations[c.Rank()])
			if err != nil {
				return err
			}
			return check(ctx, g, l, c.Rank(), count, gap, length)
		}); err != nil {
			t.Fatal(err)
		}
	})
}

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

// TestGrid: the block below of a rank is what the rank below has sent up, and so on, over all transports.
func TestGrid(t *testing.T) {
	transports := []string{"inproc", "tcp"}
	if runtime.GOOS == "linux" {
		transports = append(transports, "shm")
	}
	for _, x := range grids {
		size := 1
		for _, n := range x.dims {
			size *= n
		}
		// The ends of an edge, as coordinates say.
		l := lists{make([][]int, size), make([][]int, size)}
		var all Grid
		all.Graph, all.dims, all.periodic = &Graph{}, x.dims, x.periodic
		origins := map[[2]int]int{}
		for r := range size {
			rest, at := r, make([]int, len(x.dims))
			for d, n := range slices.Backward(x.dims) {
				at[d], rest = rest%n, rest/n
			}
			for d := range x.dims {
				for up := range 2 {
					to := slices.Clone(at)
					to[d] += 2*up - 1
					other := all.Rank(to...)
					l.sources[r], l.destinations[r] = append(l.sources[r], other), append(l.destinations[r], other)
					origins[[2]int{r, 2*d + up}] = 2*d + 1 - up
				}
			}
		}
		for _, transport := range transports {
			t.Run(fmt.Sprint(x, transport), func(t *testing.T) {
				if err := run(t, transport, size, func(ctx context.Context, c *fast.Comm) error {
					g, err := NewGrid(ctx, c, x.dims, x.periodic)
					if err != nil {
						return err
					}
					return checkGrid(ctx, g, l, origins)
				}); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// checkGrid compares what a grid's ranks know and exchange.
func checkGrid(ctx context.Context, g *Grid, l lists, origins map[[2]int]int) error {
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
				return fmt.Errorf("%v, rank %d, dimension %d by %d: %d and %d, want %d above", g.dims, rank, d, far, below, above, want)
			}
		}
	}
	const count = 3
	src, _ := input(rank, slices.Repeat([]int{count}, len(l.destinations[rank])), 0)
	dst, want := make([]int64, len(src)), make([]int64, len(src))
	for i, source := range l.sources[rank] {
		below, above := g.Shift(i/2, 1)
		if source != []int{below, above}[i%2] {
			return fmt.Errorf("rank %d, neighbour %d is %d, Shift says %d and %d", rank, i, source, below, above)
		}
		for at := range count {
			if source != None {
				want[i*count+at] = value(source, origins[[2]int{rank, i}], at)
			}
		}
	}
	for range 2 {
		clear(dst)
		if err := AllToAll(ctx, g.Graph, dst, src); err != nil {
			return err
		}
		if !slices.Equal(dst, want) {
			return fmt.Errorf("rank %d: %s", rank, cmp.Diff(want, dst))
		}
		if err := AllGather(ctx, g.Graph, dst, slices.Repeat([]int64{int64(rank)}, count)); err != nil {
			return err
		}
		for i := range dst {
			if source := l.sources[rank][i/count]; source != None && dst[i] != int64(source) {
				return fmt.Errorf("rank %d: %v is not from %v", rank, dst, l.sources[rank])
			}
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
		"one end":           {graph(none, func(r int) []int { return []int{1} }), "rank 1 and another one disagree|rank 0 lists rank 1 as a destination 1 times, and that one lists it as a source 0"},
		"one end more":      {graph(func(r int) []int { return []int{r, r} }, func(r int) []int { return []int{r} }), "as a destination 1 times, and that one lists it as a source 2 times"},
		"other dimensions": {func(ctx context.Context, c *fast.Comm) error {
			return grid([][]int{{3}, {3}, {1, 3}}[c.Rank()], make([]bool, 1+c.Rank()/2)...)(ctx, c)
		}, "rank 2 passes other dimensions"},
		"other rings":          {func(ctx context.Context, c *fast.Comm) error { return grid([]int{3}, c.Rank() == 1)(ctx, c) }, "rank 1 passes other dimensions"},
		"too few points":       {grid([]int{2}, false), "have 2 points, want 3"},
		"too many points":      {grid([]int{3, 2}, false, true), "the first 2 do not fit 3 ranks"},
		"a dimension of 0":     {grid([]int{0}, false), "do not fit"},
		"too many points, far": {grid([]int{3, math.MaxInt}, false, true), "do not fit"},
		"a ring too few":       {grid([]int{3}), "1 dimensions, and periodic has 0"},
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
			"no graph":           {AllToAll(ctx, nil, three, three), "the graph is nil"},
			"a graph of nobody":  {AllToAll(ctx, &Graph{}, three, three), "the graph is nil"},
			"dst":                {AllToAll(ctx, g, four, three), "len(dst) is 4, want a multiple of 3"},
			"src":                {AllToAll(ctx, g, three, four), "len(src) is 4, want a multiple of 3"},
			"lengths":            {AllToAll(ctx, g, three, make([]int64, 6)), "the blocks of dst have 1 elements, and those of src 2"},
			"nobody":             {AllToAll(ctx, empty, three, nil), "want a multiple of 0"},
			"started":            {StartAllToAll(ctx, g, four, three).Wait(ctx), "len(dst) is 4, want a multiple of 3"},
			"gathered":           {AllGather(ctx, g, three, three), "want 3 blocks of len(src)"},
			"gathered, a rest":   {AllGather(ctx, g, four, three[:1]), "want 3 blocks of len(src)"},
			"gathered, nobody":   {AllGather(ctx, empty, three, three), "want 0 blocks of len(src)"},
			"counts":             {AllToAllV(ctx, g, three, blocks(nil, 1, 1), four[:3], right), "2 Counts and 0 Displs, want 3"},
			"displs":             {AllToAllV(ctx, g, three, right, four[:3], blocks([]int{0}, 1, 1, 1)), "3 Counts and 1 Displs, want 3"},
			"a negative count":   {AllToAllV(ctx, g, three, blocks(nil, -1, 1, 1), four[:3], right), "block 0 of dst has -1 elements"},
			"beyond":             {AllToAllV(ctx, g, three, right, four[:3], blocks([]int{0, 1, 3}, 1, 1, 1)), "block 2 of src has 1 elements from 3 on"},
			"far beyond":         {AllToAllV(ctx, g, three, blocks(nil, 1, 1, math.MaxInt), four[:3], right), "block 2 of dst has"},
			"too few":            {AllToAllV(ctx, g, four, right, three, right), "the blocks of dst have 3 elements, and len(dst) is 4"},
			"overlapping layers": {AllToAllV(ctx, g, three, blocks([]int{0, 0, 0}, 1, 1, 1), four[:3], right), "two blocks of dst have element 0"},
			"both ends":          {AllToAllV(ctx, g, three, right, four, blocks(nil, 1, 1, 2)), "has 1 elements in dst, and 2 in src"},
			"one buffer":         {AllToAll(ctx, g, three, three), "dst and src overlap"},
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
		{1, 1, []int{1}}, {12, 2, []int{4, 3}}, {12, 3, []int{3, 2, 2}}, {7, 2, []int{7, 1}}, {24, 3, []int{4, 3, 2}}, {36, 2, []int{6, 6}},
		{64, 3, []int{4, 4, 4}}, {6, 4, []int{3, 2, 1, 1}}, {0, 2, nil}, {4, 0, nil},
	} {
		if got := Dims(x.size, x.dimensions); !slices.Equal(got, x.want) {
			t.Errorf("Dims(%d, %d) = %v, want %v", x.size, x.dimensions, got, x.want)
		}
	}
}
