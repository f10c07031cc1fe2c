package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/collective"
)

// piece is what is copied at once: Go copies longer pieces more slowly.
const piece = 128 << 10

// kernel is what a core does with two operands: into the first, from the second.
type kernel struct {
	name string
	// make prepares a core for it. What it returns does it n times.
	make func(ctx context.Context, into, from []float32) (func(n int) error, error)
}

var kernels = []kernel{{"copy", copying}, {"reduce", reducing}}

func copying(_ context.Context, into, from []float32) (func(n int) error, error) {
	return func(n int) error {
		for range n {
			for at := 0; at < len(from); at += piece / 4 {
				copy(into[at:], from[at:min(at+piece/4, len(from))])
			}
		}
		return nil
	}, nil
}

// reducing is into += from, by the kernels of package fast.
func reducing(ctx context.Context, into, from []float32) (func(n int) error, error) {
	c, err := fast.Init(ctx, fast.WithRank(0, 1))
	if err != nil {
		return nil, err
	}
	return func(n int) error {
		return withKernels(ctx, c, into, from, func(x *collective.Call) {
			out := x.Out.Chunk(0)
			for range n {
				x.Operand(out)
				x.Operand(x.In.Chunk(0))
				x.Reduce(out)
			}
		})
	}, nil
}

// withKernels runs f in a call of one rank with these buffers, which sums and does nothing else.
func withKernels(ctx context.Context, c *fast.Comm, out, in []float32, f func(x *collective.Call)) error {
	k := &collective.Collective{Name: "Kernels", Reduces: true, Algorithms: []collective.Algorithm{{Name: "kernels",
		Run: func(_ context.Context, x *collective.Call) error {
			if err := x.Layout(1, 0); err != nil {
				return err
			}
			f(x)
			return nil
		}}}}
	return collective.Do(ctx, c, k, out, in, &collective.Args{Count: len(out), Op: fast.Sum, NoAlias: true}, []fast.Option{fast.Unproved()})
}

// memoryLimits returns what cores copy and reduce, at each level of the memory, one core and all of them.
func memoryLimits(ctx context.Context) (all []limit, err error) {
	for _, level := range memoryLevels() {
		for _, k := range kernels {
			for _, cores := range coreCounts() {
				bytes := level.operand(cores)
				rate, err := together(ctx, k, bytes, cores)
				if err != nil {
					return all, err
				}
				all = append(all, limit{Name: k.name, Where: level.name, Bytes: bytes, Cores: cores, Value: rate / 1e9, Unit: "GB/s"})
			}
		}
	}
	return all, nil
}

// coreCounts returns one core and all of them.
func coreCounts() []int {
	if runtime.NumCPU() == 1 {
		return []int{1}
	}
	return []int{1, runtime.NumCPU()}
}

// together returns how many bytes per second so many cores do, all at the same time, each with operands of its own.
func together(ctx context.Context, k kernel, bytes, cores int) (float64, error) {
	var all sync.WaitGroup
	rates, errs := make([]float64, cores), make([]error, cores)
	ready := newGate(cores)
	for core := range cores {
		all.Go(func() { rates[core], errs[core] = alone(ctx, k, bytes, core, ready) })
	}
	all.Wait()
	var sum float64
	for _, r := range rates {
		sum += r
	}
	return sum, errors.Join(errs...)
}

// alone returns how many bytes per second one core does, from when all are ready.
func alone(ctx context.Context, k kernel, bytes, core int, ready *gate) (float64, error) {
	release := onCore(core)
	defer release()
	into, from, free, err := operands(bytes)
	if err != nil {
		return 0, ready.leave(err)
	}
	defer free()
	do, err := k.make(ctx, into, from)
	if err == nil {
		err = do(1)
	}
	if err != nil {
		return 0, ready.leave(err)
	}
	ready.pass()
	seconds, err := best(ctx, do)
	for ready.done.Add(1); err == nil && int(ready.done.Load()) < ready.of; { // so that the others are not alone meanwhile
		err = do(1)
	}
	return float64(bytes) / seconds, err
}

// operands returns two of so many bytes each, which were written to, so that they are there.
func operands(bytes int) (into, from []float32, free func(), err error) {
	m, err := newMemory(2 * bytes)
	if err != nil {
		return nil, nil, nil, err
	}
	both := floats(m.data)[:2*bytes/4]
	fillWith(both, 0)
	return both[:bytes/4], both[bytes/4:], func() { _ = m.free() }, nil
}

func floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// gate is where so many goroutines wait for each other, once.
type gate struct {
	of      int
	missing sync.WaitGroup
	done    atomic.Int32 // that have done what they came for
}

func newGate(of int) *gate {
	g := &gate{of: of}
	g.missing.Add(of)
	return g
}

// pass returns when all have come.
func (g *gate) pass() {
	g.missing.Done()
	g.missing.Wait()
}

// leave is for one that fails: nobody waits for it.
func (g *gate) leave(err error) error {
	g.done.Add(1)
	g.missing.Done()
	return err
}
