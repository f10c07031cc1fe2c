package hosts

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/bootstrap"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/ref"
)

// Calls mean what package ref says, bit for bit, and nothing else in the buffers changes: on any hosts, with every
// root, in place and with two buffers, for goroutines, and over shared memory and TCP.

// placement says on which host each rank is.
type placement []int

// placements draws up to four hosts, and ranks on them in any order.
func placements() *rapid.Generator[placement] {
	return rapid.Custom(func(t *rapid.T) placement {
		n := rapid.IntRange(1, 4).Draw(t, "hosts")
		return rapid.SliceOfN(rapid.IntRange(0, n-1), 1, 9).Draw(t, "host of each rank")
	})
}

// hosts returns the ranks of each host, as fast.Topology has them.
func (p placement) hosts() (all [][]int) {
	at := map[int]int{}
	for rank, host := range p {
		if _, known := at[host]; !known {
			at[host] = len(all)
			all = append(all, nil)
		}
		all[at[host]] = append(all[at[host]], rank)
	}
	return all
}

// some are placements that show all that there is: even and uneven numbers of ranks, consecutive ones and others, hosts
// of one rank, one host, and a host for each rank.
var some = []placement{{0}, {0, 0, 0}, {0, 1}, {0, 1, 2}, {0, 0, 1, 1}, {0, 1, 0, 1}, {0, 0, 0, 0, 1, 1, 2},
	{2, 0, 1, 0, 2, 0},
	{0, 1, 1, 1, 0, 2, 3}, {3, 1, 1, 0, 2, 0, 3, 3, 0}, {0, 0, 0, 0, 0, 0, 0, 0, 1}}

// counts are numbers of elements.
var counts = []int{0, 1, 2, 3, 5, 7, 13, 1009}

// errMeaning is that of a call after which a buffer does not have what ref says, or a barrier that has let a rank go.
var errMeaning = errors.New("not what ref says")

// into is a call with two buffers. It ignores an op or a root that it has no use for.
type into = func(ctx context.Context, h *Comm, dst, src []int64, op fast.Op, root int) error

// library is what is tested: this package, or one with a mistake.
type library struct {
	on      func(ctx context.Context, c *fast.Comm, hosts [][]int) (*Comm, error)
	into    map[string]into
	barrier func(ctx context.Context, h *Comm) error
}

// made returns this package.
func made() *library {
	return &library{on, map[string]into{
		"AllReduce": func(ctx context.Context, h *Comm, dst, src []int64, op fast.Op, _ int) error {
			return AllReduceInto(ctx, h, dst, src, op)
		},
		"Broadcast": func(ctx context.Context, h *Comm, dst, src []int64, _ fast.Op, root int) error {
			return BroadcastInto(ctx, h, dst, src, root)
		},
		"Reduce": ReduceInto[int64],
		"AllGather": func(ctx context.Context, h *Comm, dst, src []int64, _ fast.Op, _ int) error {
			return AllGatherInto(ctx, h, dst, src)
		},
		"ReduceScatter": func(ctx context.Context, h *Comm, dst, src []int64, op fast.Op, _ int) error {
			return ReduceScatterInto(ctx, h, dst, src, op)
		},
		"AllToAll": func(ctx context.Context, h *Comm, dst, src []int64, _ fast.Op, _ int) error {
			return AllToAllInto(ctx, h, dst, src)
		},
	}, Barrier}
}

// inPlace are the calls with one buffer.
var inPlace = map[string]func(ctx context.Context, h *Comm, buf []int64, op fast.Op, root int) error{
	"AllReduce": func(ctx context.Context, h *Comm, buf []int64, op fast.Op, _ int) error {
		return AllReduce(ctx, h, buf, op)
	},
	"Broadcast": func(ctx context.Context, h *Comm, buf []int64, _ fast.Op, root int) error {
		return Broadcast(ctx, h, buf, root)
	},
	"Reduce":    Reduce[int64],
	"AllGather": func(ctx context.Context, h *Comm, buf []int64, _ fast.Op, _ int) error { return AllGather(ctx, h, buf) },
	"ReduceScatter": func(ctx context.Context, h *Comm, buf []int64, op fast.Op, _ int) error {
		return ReduceScatter(ctx, h, buf, op)
	},
	"AllToAll": func(ctx context.Context, h *Comm, buf []int64, _ fast.Op, _ int) error { return AllToAll(ctx, h, buf) },
}

// operation is what calls of one name have in common.
type operation struct {
	name            string
	inEach, outEach bool // a buffer has a block for each rank
	reduces, rooted bool
}

var operations = []operation{
	{name: "AllReduce", reduces: true},
	{name: "Broadcast", rooted: true},
	{name: "Reduce", reduces: true, rooted: true},
	{name: "AllGather", outEach: true},
	{name: "ReduceScatter", inEach: true, reduces: true},
	{name: "AllToAll", inEach: true, outEach: true},
}

// call is one call, seen from all ranks.
type call struct {
	*operation
	size, count int
	op          fast.Op
	root        int
}

// calls returns the calls of o with blocks of that many elements: with some ops, and with every root.
func (o *operation) calls(size, count int) (all []call) {
	ops, roots := []fast.Op{0}, 1
	if o.reduces {
		ops = []fast.Op{fast.Sum, fast.Avg, fast.Max, fast.LAnd}
	}
	if o.rooted {
		roots = size
	}
	for _, op := range ops {
		for root := range roots {
			all = append(all, call{o, size, count, op, root})
		}
	}
	return all
}

func (x *call) String() string {
	return fmt.Sprintf("%s of %d elements, op %v, root %d", x.name, x.count, x.op, x.root)
}

// blocks returns how many blocks a buffer has.
func (x *call) blocks(each bool) int {
	if each {
		return x.size
	}
	return 1
}

// input is what a rank passes: elements that differ from all others.
func (x *call) input(rank int) []int64 {
	in := make([]int64, x.blocks(x.inEach)*x.count)
	for i := range in {
		in[i] = int64(rank+1)*1_000_003 + int64(i)*7
	}
	return in
}

// want returns what ref says that a rank has in dst afterwards, where it had before.
func (x *call) want(rank int, before []int64) []int64 {
	all := ref.Call[int64]{Op: x.op, Root: x.root}
	for r := range x.size {
		all.In = append(all.In, x.input(r))
	}
	out, err := all.Run(x.name)
	if err != nil {
		panic(err) // there is none of that name
	}
	if x.name == "Reduce" && rank != x.root {
		return before
	}
	return out[rank]
}

// mark is what buffers hold where nothing has arrived.
const mark = -1

// on makes a rank's part of the call: with two buffers, and in place by each of two functions.
func (x *call) on(ctx context.Context, h *Comm, by *library) error {
	rank := h.c.Rank()
	src, dst := x.input(rank), slices.Repeat([]int64{mark}, x.blocks(x.outEach)*x.count)
	want := x.want(rank, slices.Clone(dst))
	err := by.into[x.name](ctx, h, dst, src, x.op, x.root)
	err = errors.Join(x.compare(rank, "dst", dst, want, err), x.compare(rank, "src", src, x.input(rank), nil))
	if err != nil {
		return err
	}
	for _, call := range []func(buf, dst, src []int64) error{
		func(_, dst, src []int64) error { return by.into[x.name](ctx, h, dst, src, x.op, x.root) },
		func(buf, _, _ []int64) error { return inPlace[x.name](ctx, h, buf, x.op, x.root) },
	} {
		buf, dst, src := x.oneBuffer(rank)
		copy(src, x.input(rank))
		want := slices.Clone(buf)
		_, wantDst, _ := x.oneBufferIn(rank, want)
		copy(wantDst, x.want(rank, slices.Clone(dst)))
		if err := x.compare(rank, "buf", buf, want, call(buf, dst, src)); err != nil {
			return err
		}
	}
	return nil
}

// oneBuffer returns a buffer for a call in place, and what of it is dst and src.
func (x *call) oneBuffer(rank int) (buf, dst, src []int64) {
	return x.oneBufferIn(rank, slices.Repeat([]int64{mark}, x.blocks(x.inEach || x.outEach)*x.count))
}

func (x *call) oneBufferIn(rank int, all []int64) (buf, dst, src []int64) {
	dst, src = all, all
	if x.inEach && !x.outEach {
		dst = all[rank*x.count:][:x.count]
	}
	if x.outEach && !x.inEach {
		src = all[rank*x.count:][:x.count]
	}
	return all, dst, src
}

// compare returns err, or what is wrong with a buffer.
func (x *call) compare(rank int, buffer string, got, want []int64, err error) error {
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("%v, rank %d: %s: %w: %s", x, rank, buffer, errMeaning, cmp.Diff(want, got))
	}
	return err
}

// world is ranks on hosts, and how many barriers they have begun.
type world struct {
	placement
	begun atomic.Int64
}

// on makes a rank's part of all calls with blocks of that many elements, and of barriers between them.
func (w *world) on(ctx context.Context, h *Comm, by *library, count int) error {
	for i := range operations {
		for _, x := range operations[i].calls(len(w.placement), count) {
			if err := x.on(ctx, h, by); err != nil {
				return err
			}
		}
		if err := w.barrier(ctx, h, by, i%len(w.placement)); err != nil {
			return err
		}
	}
	return nil
}

// barrier makes a rank's part of two barriers, the first of which rank late comes to after the others.
func (w *world) barrier(ctx context.Context, h *Comm, by *library, late int) error {
	if h.c.Rank() == late {
		for range 1000 {
			runtime.Gosched()
		}
	}
	w.begun.Add(1)
	if err := by.barrier(ctx, h); err != nil {
		return err
	}
	n := w.begun.Load()
	if err := Barrier(ctx, h); err != nil {
		return err
	}
	if size := int64(len(w.placement)); n%size != 0 {
		return fmt.Errorf("rank %d: %w: a barrier has let it go when %d of %d ranks had come", h.c.Rank(), errMeaning, n%size,
			size)
	}
	return nil
}

// goroutines has all ranks make all calls, with blocks of that many elements each, for goroutines.
func (p placement) goroutines(ctx context.Context, by *library, counts ...int) error {
	w := &world{placement: p}
	return fast.Run(ctx, len(p), func(ctx context.Context, c *fast.Comm) error {
		h, err := by.on(ctx, c, p.hosts())
		if err != nil {
			return err
		}
		defer h.Close()
		for _, count := range counts {
			if err := w.on(ctx, h, by, count); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestDrawn: for goroutines on any hosts.
func TestDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, count := placements().Draw(t, "placement"), rapid.SampledFrom(counts).Draw(t, "count")
		if err := p.goroutines(context.Background(), made(), count); err != nil {
			t.Fatal(err)
		}
	})
}

// TestSome: for goroutines on some hosts, with blocks of any length.
func TestSome(t *testing.T) {
	for _, p := range some {
		if err := p.goroutines(t.Context(), made(), counts...); err != nil {
			t.Errorf("%v: %v", p, err)
		}
	}
}

// init connects the ranks, which believe that they are on these hosts: those of a host share memory, others use TCP.
func (p placement) init(t testing.TB) []*fast.Comm {
	return fasttest.InitAll(t, len(p), fast.Init, fasttest.Option[fast.InitOption](func(c *bootstrap.Config) {
		c.Host = fmt.Sprint("host ", p[c.Rank])
	}))
}

// TestSharedMemoryAndTCP: over shared memory on hosts and TCP between them, as Topology has them. With -short it tries
// few hosts.
func TestSharedMemoryAndTCP(t *testing.T) {
	all := some
	if testing.Short() {
		all = some[6:8]
	}
	for _, p := range all {
		t.Run(fmt.Sprint(p), func(t *testing.T) {
			all, w := p.init(t), &world{placement: p}
			defer fasttest.CloseAll(t, all)
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
				h, err := New(t.Context(), c)
				if err != nil {
					return err
				}
				defer h.Close()
				if want := p.hosts(); !slices.EqualFunc(h.hosts, want, slices.Equal) {
					return fmt.Errorf("hosts %v, want %v", h.hosts, want)
				}
				return errors.Join(w.on(t.Context(), h, made(), 5), w.on(t.Context(), h, made(), 1009))
			}))
		})
	}
}
