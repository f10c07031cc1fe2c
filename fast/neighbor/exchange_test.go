package neighbor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/ref"
)

// Exchanges mean what package ref says, bit for bit, and nothing else in the buffers changes: on any graph and grid,
// for goroutines, over shared memory and over TCP, whether a call is made or started.

// exchange is one exchange of each kind, seen from all ranks.
type exchange struct {
	dims                  []int // of a grid; of a graph it is nil
	periodic              []bool
	sources, destinations [][]int // by rank, in a grid too
	edges                 []ref.Edge
	count                 int     // how many elements a block has where all are equally long
	lengths               [][]int // of the blocks that a rank sends, where they differ
	apart                 bool    // uneven blocks lie apart, the last one first
}

// exchanges draws those of size ranks.
func exchanges(size int) *rapid.Generator[*exchange] {
	return rapid.Custom(func(t *rapid.T) *exchange {
		x := &exchange{sources: make([][]int, size), destinations: make([][]int, size)}
		if rapid.Bool().Draw(t, "grid") {
			x.drawGrid(t)
		} else {
			x.drawGraph(t)
		}
		x.count, x.apart = rapid.IntRange(0, 5).Draw(t, "count"), rapid.Bool().Draw(t, "apart")
		for _, list := range x.destinations {
			x.lengths = append(x.lengths, rapid.SliceOfN(rapid.IntRange(0, 3), len(list), len(list)).Draw(t, "lengths"))
		}
		return x
	})
}

// drawGrid draws up to three dimensions, and whether each is a ring.
func (x *exchange) drawGrid(t *rapid.T) {
	x.dims = []int{}
	rest := len(x.sources)
	for len(x.dims) < 3 && (rest > 1 || rapid.Bool().Draw(t, "more")) {
		n := rest // the last one has what is left
		if len(x.dims) < 2 {
			n = rapid.IntRange(1, rest).Filter(func(n int) bool { return rest%n == 0 }).Draw(t, "dim")
		}
		x.dims, rest = append(x.dims, n), rest/n
	}
	x.periodic = rapid.SliceOfN(rapid.Bool(), len(x.dims), len(x.dims)).Draw(t, "periodic")
	x.edges = ref.Grid(x.dims, x.periodic)
	for rank := range x.sources {
		x.sources[rank] = slices.Repeat([]int{None}, 2*len(x.dims))
		x.destinations[rank] = slices.Clone(x.sources[rank])
	}
	for _, e := range x.edges {
		x.sources[e.To][e.Got], x.destinations[e.From][e.Sent] = e.From, e.To
	}
}

// drawGraph draws the lists of a graph, with edges more than once, and with entries that are no rank.
func (x *exchange) drawGraph(t *rapid.T) {
	size := len(x.sources)
	ends := rapid.SliceOfN(rapid.IntRange(0, size-1), 0, 6*size).Draw(t, "ends")
	for i := 1; i < len(ends); i += 2 {
		from, to := ends[i-1], ends[i]
		x.destinations[from], x.sources[to] = append(x.destinations[from], to), append(x.sources[to], from)
	}
	for _, side := range [][][]int{x.sources, x.destinations} {
		for rank, list := range side {
			none := rapid.SliceOfN(rapid.Just(None), 0, 1).Draw(t, "none")
			side[rank] = rapid.Permutation(slices.Concat(list, none)).Draw(t, "list")
		}
	}
	x.edges = ref.Graph(x.sources, x.destinations)
}

// mark is what buffers hold where nothing was sent from or has arrived.
const mark = -1

// block returns what a rank sends as one of its blocks.
func block(rank, number, length int) []int64 {
	b := make([]int64, length)
	for i := range b {
		b[i] = int64(rank+1)<<40 | int64(number)<<20 | int64(i)
	}
	return b
}

// blocks returns what all ranks send, and what they have before it arrives; uneven: of different lengths.
func (x *exchange) blocks(uneven bool) (dst, src [][][]int64) {
	length := func(rank, number int) int {
		if uneven {
			return x.lengths[rank][number]
		}
		return x.count
	}
	for rank := range x.sources {
		src, dst = append(src, nil), append(dst, nil)
		for i := range x.destinations[rank] {
			src[rank] = append(src[rank], block(rank, i, length(rank, i)))
		}
		for range x.sources[rank] {
			dst[rank] = append(dst[rank], slices.Repeat([]int64{mark}, x.count))
		}
	}
	for _, e := range x.edges {
		dst[e.To][e.Got] = slices.Repeat([]int64{mark}, length(e.From, e.Sent))
	}
	return dst, src
}

// lay returns blocks in one buffer, and where they lie there.
func lay(blocks [][]int64, apart bool) (buf []int64, at fast.Blocks) {
	at.Counts = make([]int, len(blocks))
	if !apart {
		for i, b := range blocks {
			at.Counts[i] = len(b)
		}
		return slices.Concat(blocks...), at
	}
	at.Displs = make([]int, len(blocks))
	for i, b := range slices.Backward(blocks) {
		buf = append(buf, mark)
		at.Counts[i], at.Displs[i] = len(b), len(buf)
		buf = append(buf, b...)
	}
	return buf, at
}

// library is what is tested: this package, or one with a mistake.
type library struct {
	grid                func(ctx context.Context, c *fast.Comm, dims []int, periodic []bool) (*Grid, error)
	graph               func(ctx context.Context, c *fast.Comm, sources, destinations []int) (*Graph, error)
	allToAll, allGather func(ctx context.Context, g *Graph, dst, src []int64) error
	allToAllV           func(_ context.Context, g *Graph, dst []int64, in fast.Blocks, src []int64, out fast.Blocks) error
}

var made = library{NewGrid, NewGraph, AllToAll[int64], AllGather[int64], AllToAllV[int64]}

var started = library{NewGrid, NewGraph,
	func(ctx context.Context, g *Graph, dst, src []int64) error {
		return StartAllToAll(ctx, g, dst, src).Wait(ctx)
	},
	func(ctx context.Context, g *Graph, dst, src []int64) error {
		return StartAllGather(ctx, g, dst, src).Wait(ctx)
	},
	func(ctx context.Context, g *Graph, dst []int64, in fast.Blocks, src []int64, out fast.Blocks) error {
		return StartAllToAllV(ctx, g, dst, in, src, out).Wait(ctx)
	},
}

// errMeaning is that of a call after which a buffer does not have what ref says.
var errMeaning = errors.New("not what ref says")

// on makes a rank's part of the exchanges, and compares.
func (x *exchange) on(ctx context.Context, c *fast.Comm, by library) error {
	g, err := x.connect(ctx, c, by)
	if err != nil {
		return err
	}
	rank := c.Rank()
	compare := func(name string, got, want []int64, err error) error {
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("%s, rank %d: %w: %s", name, rank, errMeaning, cmp.Diff(want, got))
		}
		return err
	}

	dst, src := x.blocks(false)
	got, _ := lay(dst[rank], false)
	send, _ := lay(src[rank], false)
	ref.NeighborAllToAll(x.edges, dst, src)
	want, _ := lay(dst[rank], false)
	if err := compare("AllToAll", got, want, by.allToAll(ctx, g, got, send)); err != nil {
		return err
	}

	dst, _ = x.blocks(false)
	got, _ = lay(dst[rank], false)
	var one [][]int64
	for r := range x.sources {
		one = append(one, block(r, 0, x.count))
	}
	ref.NeighborAllGather(x.edges, dst, one)
	want, _ = lay(dst[rank], false)
	if err := compare("AllGather", got, want, by.allGather(ctx, g, got, one[rank])); err != nil {
		return err
	}

	dst, src = x.blocks(true)
	got, in := lay(dst[rank], x.apart)
	send, out := lay(src[rank], x.apart)
	ref.NeighborAllToAll(x.edges, dst, src)
	want, _ = lay(dst[rank], x.apart)
	return compare("AllToAllV", got, want, by.allToAllV(ctx, g, got, in, send, out))
}

// connect makes the graph or grid.
func (x *exchange) connect(ctx context.Context, c *fast.Comm, by library) (*Graph, error) {
	if x.dims == nil {
		return by.graph(ctx, c, x.sources[c.Rank()], x.destinations[c.Rank()])
	}
	g, err := by.grid(ctx, c, x.dims, x.periodic)
	if err != nil {
		return nil, err
	}
	return g.Graph, nil
}

// run has all ranks call f, over that transport.
func run(ctx context.Context, transport string, size int, f func(ctx context.Context, c *fast.Comm) error) error {
	if transport == "inproc" {
		return fast.Run(ctx, size, f)
	}
	store, done := fast.NewMemoryStore(), make(chan error)
	for rank := range size {
		go func() {
			c, err := fast.Init(ctx, fast.WithRank(rank, size), fast.WithStore(store), fast.WithTransport(transport))
			if err == nil {
				err = errors.Join(f(ctx, c), c.Close())
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

// TestExchanges: for goroutines, any exchanges mean what ref says.
func TestExchanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := exchanges(rapid.IntRange(1, 8).Draw(t, "size")).Draw(t, "exchange")
		if err := fast.Run(context.Background(), len(x.sources), func(ctx context.Context, c *fast.Comm) error {
			return errors.Join(x.on(ctx, c, made), x.on(ctx, c, started))
		}); err != nil {
			t.Fatal(err)
		}
	})
}

// TestTransports: over other transports, some exchanges mean what ref says, one after the other.
func TestTransports(t *testing.T) {
	transports := []string{"tcp"}
	if runtime.GOOS == "linux" {
		transports = append(transports, "shm")
	}
	for _, transport := range transports {
		for size := 1; size <= 6; size++ {
			t.Run(fmt.Sprint(transport, "/", size), func(t *testing.T) {
				if err := run(t.Context(), transport, size, func(ctx context.Context, c *fast.Comm) error {
					for seed := range 30 {
						x := exchanges(size).Example(seed)
						if err := errors.Join(x.on(ctx, c, made), x.on(ctx, c, started)); err != nil {
							return fmt.Errorf("exchange %d: %w", seed, err)
						}
					}
					return nil
				}); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
