package fast

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/trace"
)

// inStep calls f so often on every rank, and returns when all are done.
func inStep(t testing.TB, all []*Comm, times int, f func(c *Comm) error) {
	t.Helper()
	for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
		for range times {
			if err := f(c); err != nil {
				return err
			}
		}
		return nil
	}) {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
}

// BenchmarkAllReduce adds float32 in place between goroutines. MB/s counts the bytes of one rank's buffer. The elements
// are zeros, which are rewritten by every call and stay as they are.
func BenchmarkAllReduce(b *testing.B) {
	for _, size := range []int{2, 4} {
		for bytes := 8; bytes <= 64<<20; bytes *= 8 {
			b.Run(fmt.Sprintf("ranks=%d/bytes=%d", size, bytes), func(b *testing.B) {
				all := comms(b, size)
				buffers := make([][]float32, size)
				for rank := range buffers {
					buffers[rank] = make([]float32, bytes/4)
				}
				call := func(c *Comm) error { return AllReduce(context.Background(), c, buffers[c.Rank()], Sum) }
				inStep(b, all, 3, call)
				b.SetBytes(int64(bytes))
				b.ReportAllocs()
				b.ResetTimer()
				inStep(b, all, b.N, call)
			})
		}
	}
}

// counted is how often allocations are counted.
const counted = 5

// allocations returns how many f makes each time, in runs of it, where they are fewest: what else runs in this process
// makes some too, the more of them the longer the runs take. It calls f countedCalls(runs) times.
func allocations(runs int, f func()) float64 {
	least := math.Inf(1)
	for range counted {
		least = min(least, testing.AllocsPerRun(runs, f))
	}
	return least
}

func countedCalls(runs int) int { return counted * (runs + 1) } // AllocsPerRun calls once more, to warm up

// TestAllocations counts what calls allocate that were made before: nothing. The context is one that can end.
func TestAllocations(t *testing.T) {
	const runs = 50
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	counts := map[[2]int][]int{}
	for _, n := range []int{2, 3, 6, 30000, 60000} {
		for size := 1; size <= 3; size++ {
			c := make([]int, size)
			for i := range c {
				c[i] = n / size
			}
			c[0] += n % size
			counts[[2]int{n, size}] = c
		}
	}
	blocks := func(n, size int) Blocks { return Blocks{Counts: counts[[2]int{n, size}]} }
	var prepared sync.Map // by communicator
	differs, err := NewOp("differs", true, func(dst, a, b []bool) {
		for i := range dst {
			dst[i] = a[i] != b[i]
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 2, 3} {
		for name, call := range map[string]func(c *Comm, x []float32) error{
			"AllReduce":    func(c *Comm, x []float32) error { return AllReduce(ctx, c, x, Avg) },
			"ring":         func(c *Comm, x []float32) error { return AllReduce(ctx, c, x, Sum, WithAlgorithm("ring")) },
			"one-shot":     func(c *Comm, x []float32) error { return AllReduce(ctx, c, x, Sum, WithAlgorithm("one-shot")) },
			"with a label": func(c *Comm, x []float32) error { return AllReduce(ctx, c, x, Sum, WithLabel("layers.3.weight")) },
			"two labels by turns": func(c *Comm, x []float32) error {
				if err := AllReduce(ctx, c, x, Sum, WithLabel("weight")); err != nil {
					return err
				}
				return AllReduce(ctx, c, x, Sum, WithLabel("bias"))
			},
			"reproducible": func(c *Comm, x []float32) error { return AllReduce(ctx, c, x, Sum, Reproducible()) },
			"chunked-ring": func(c *Comm, x []float32) error {
				return AllReduce(ctx, c, x, Sum, WithAlgorithm("chunked-ring"), WithDepth(4))
			},
			"Broadcast":     func(c *Comm, x []float32) error { return Broadcast(ctx, c, x, 0) },
			"AllGather":     func(c *Comm, x []float32) error { return AllGather(ctx, c, x) },
			"ReduceScatter": func(c *Comm, x []float32) error { return ReduceScatter(ctx, c, x, Sum) },
			"AllToAll":      func(c *Comm, x []float32) error { return AllToAll(ctx, c, x) },
			"Scan":          func(c *Comm, x []float32) error { return Scan(ctx, c, x, Sum) },
			"Exscan":        func(c *Comm, x []float32) error { return Exscan(ctx, c, x, Sum) },
			"Exscan chain":  func(c *Comm, x []float32) error { return Exscan(ctx, c, x, Sum, WithAlgorithm("chain")) },
			"AllGatherV":    func(c *Comm, x []float32) error { return AllGatherV(ctx, c, x, blocks(len(x), c.Size())) },
			"ReduceScatterV": func(c *Comm, x []float32) error {
				return ReduceScatterV(ctx, c, x, blocks(len(x), c.Size()), Sum)
			},
			"AllToAllV": func(c *Comm, x []float32) error {
				n := len(x) / 2 / c.Size() * c.Size()
				dst, src := x[:n], x[n:][:n]
				return AllToAllV(ctx, c, dst, blocks(len(dst), c.Size()), src, blocks(len(src), c.Size()))
			},
			"bools": func(c *Comm, x []float32) error {
				bools := unsafe.Slice((*bool)(unsafe.Pointer(unsafe.SliceData(x))), len(x)) // all are 0
				return errors.Join(AllReduce(ctx, c, bools, LOr), AllReduce(ctx, c, bools, differs))
			},
			"Barrier": func(c *Comm, _ []float32) error { return Barrier(ctx, c) },
			"persistent": func(c *Comm, x []float32) error {
				p, ok := prepared.Load(c)
				if !ok {
					is, err := c.Prepare(func(opt Option) error { return AllReduce(ctx, c, x, Sum, opt, WithLabel("loss")) })
					if err != nil {
						return err
					}
					p, _ = prepared.LoadOrStore(c, is)
				}
				is := p.(*Persistent)
				if err := is.Do(ctx); err != nil {
					return err
				}
				if err := is.Start(ctx); err != nil {
					return err
				}
				return is.Wait(ctx)
			},
		} {
			for _, count := range []int{6, 60000} {
				all := comms(t, size)
				once := func(c *Comm) func() {
					x := make([]float32, count)
					return func() {
						if err := call(c, x); err != nil {
							t.Error(err)
						}
					}
				}
				var others sync.WaitGroup
				for _, c := range all[1:] {
					others.Go(func() {
						f := once(c)
						for range countedCalls(runs) {
							f()
						}
					})
				}
				if n := allocations(runs, once(all[0])); n != 0 {
					t.Errorf("%s of %d elements, %d ranks: %v allocations per call", name, count, size, n)
				}
				others.Wait()
			}
		}
	}
}

// BenchmarkPathUneven is what an all-to-all of two blocks of 4 bytes costs besides its transport, and one of uneven
// blocks.
func BenchmarkPathUneven(b *testing.B) {
	dst, src, counts := make([]float32, 2), make([]float32, 2), Blocks{Counts: []int{1, 1}}
	for name, call := range map[string]func(context.Context, *Comm) error{
		"even":   func(ctx context.Context, c *Comm) error { return AllToAllInto(ctx, c, dst, src) },
		"uneven": func(ctx context.Context, c *Comm) error { return AllToAllV(ctx, c, dst, counts, src, counts) },
	} {
		b.Run(name, func(b *testing.B) { benchmarkPath(b, call) })
	}
}

// BenchmarkPath is what a call costs besides its transport: an all-reduce of 8 bytes among 2 ranks, recorded.
func BenchmarkPath(b *testing.B) {
	x := make([]float32, 2)
	benchmarkPath(b, func(ctx context.Context, c *Comm) error { return AllReduce(ctx, c, x, Sum) })
}

// BenchmarkPersistent is what calls cost besides their transport: of one kind, of two in turn, and of one with a label;
// persistent or not.
func BenchmarkPersistent(b *testing.B) {
	x := [][]float32{make([]float32, 2), make([]float32, 1)}
	for name, opts := range map[string][][]Option{"alike": {nil}, "in turn": {nil, nil},
		"labelled": {{WithLabel("layers.3.weight")}}} {
		calls := make([]func(context.Context, *Comm, ...Option) error, len(opts))
		for i := range opts {
			calls[i] = func(ctx context.Context, c *Comm, opt ...Option) error {
				return AllReduce(ctx, c, x[i], Sum, append(opts[i], opt...)...)
			}
		}
		b.Run(name+"/ordinary", func(b *testing.B) {
			n := 0
			benchmarkPath(b, func(ctx context.Context, c *Comm) error { n++; return calls[n%len(calls)](ctx, c) })
		})
		b.Run(name+"/persistent", func(b *testing.B) {
			n, all := 0, make([]*Persistent, len(calls))
			benchmarkPath(b, func(ctx context.Context, c *Comm) (err error) {
				n++
				p := &all[n%len(all)]
				if *p == nil {
					if *p, err = c.Prepare(func(opt Option) error { return calls[n%len(calls)](ctx, c, opt) }); err != nil {
						return err
					}
				}
				return (*p).Do(ctx)
			})
		})
	}
}

// benchmarkPath measures call on a communicator of 2 ranks, recorded.
func benchmarkPath(b *testing.B, call func(context.Context, *Comm) error) {
	c := newComm(0, 2, fasttest.Idle{})
	c.exec.Carrier = "shm" // the algorithm of processes
	c.record(flight.New(flight.Config{Operations: trace.MaxEntries}))
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if err := call(ctx, c); err != nil {
			b.Fatal(err)
		}
	}
}
