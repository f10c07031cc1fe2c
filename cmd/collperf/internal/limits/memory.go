package limits

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/collgen/collgen/cmd/collperf/internal/machine"
	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/collective"
)

// piece is how many bytes are copied at once: Go copies longer pieces more slowly.
const piece = 128 << 10

// kernel is what a core does with two operands: copy the second one, or add it, to the first.
type kernel struct {
	name string
	// make prepares a core. The function that it returns repeats the kernel n times.
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

// reducing returns a function that adds from to into, by the kernels of package fast.
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

// withKernels runs f in a collective call of one rank with these buffers and the operator Sum.
func withKernels(ctx context.Context, c *fast.Comm, out, in []float32, f func(x *collective.Call)) error {
	k := &collective.Collective{Name: "Kernels", Reduces: true, Algorithms: []collective.Algorithm{{Name: "kernels",
		Run: func(_ context.Context, x *collective.Call) error {
			if err := x.Layout(1, 0); err != nil {
				return err
			}
			f(x)
			return nil
		}}}}
	return collective.Do(ctx, c, k, out, in, &collective.Args{Count: len(out), Op: fast.Sum, NoAlias: true},
		[]fast.Option{fast.Unproved()})
}

// memoryLimits measures copying and reducing at each level of memory, on one core and on all.
func memoryLimits(ctx context.Context) (all []Limit, err error) {
	for _, level := range memoryLevels() {
		for _, k := range kernels {
			for _, cores := range CoreCounts() {
				bytes := level.operand(cores)
				rate, err := measureCores(ctx, k, bytes, cores)
				if err != nil {
					return all, err
				}
				all = append(all, Limit{Name: k.name, Where: level.name, Bytes: bytes, Cores: cores, Value: rate / 1e9,
					Unit: "GB/s"})
			}
		}
	}
	return all, nil
}

// CoreCounts returns the numbers of cores that memory is measured on: one, and all.
func CoreCounts() []int {
	if runtime.NumCPU() == 1 {
		return []int{1}
	}
	return []int{1, runtime.NumCPU()}
}

// measureCores returns the bytes per second of so many cores at the same time, each with its own operands.
func measureCores(ctx context.Context, k kernel, bytes, cores int) (float64, error) {
	var all sync.WaitGroup
	rates, errs := make([]float64, cores), make([]error, cores)
	ready := newBarrier(cores)
	for core := range cores {
		all.Go(func() { rates[core], errs[core] = measureCore(ctx, k, bytes, core, ready) })
	}
	all.Wait()
	var sum float64
	for _, r := range rates {
		sum += r
	}
	return sum, errors.Join(errs...)
}

// measureCore returns the bytes per second of one core, measured once all are ready.
func measureCore(ctx context.Context, k kernel, bytes, core int, ready *barrier) (float64, error) {
	release := machine.OnCore(core)
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
	// The other cores are still measuring: go on, so that they do not have the memory to themselves.
	for ready.done.Add(1); err == nil && int(ready.done.Load()) < ready.of; {
		err = do(1)
	}
	return float64(bytes) / seconds, err
}

// operands returns two operands of so many bytes each. They were written to, so that the system has provided the pages.
func operands(bytes int) (into, from []float32, free func(), err error) {
	m, err := machine.NewMemory(2 * bytes)
	if err != nil {
		return nil, nil, nil, err
	}
	both := floats(m.Data)[:2*bytes/4]
	fill(both, 0)
	return both[:bytes/4], both[bytes/4:], func() { _ = m.Free() }, nil
}

func floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

// barrier is where goroutines wait for each other, once.
type barrier struct {
	of      int
	missing sync.WaitGroup
	done    atomic.Int32 // goroutines that have finished measuring
}

func newBarrier(of int) *barrier {
	b := &barrier{of: of}
	b.missing.Add(of)
	return b
}

// pass returns when all have arrived.
func (b *barrier) pass() {
	b.missing.Done()
	b.missing.Wait()
}

// leave is for a goroutine that fails: the others no longer wait for it.
func (b *barrier) leave(err error) error {
	b.done.Add(1)
	b.missing.Done()
	return err
}

// fill sets all of s to x.
func fill[T any](s []T, x T) {
	for i := range s {
		s[i] = x
	}
}
