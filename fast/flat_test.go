package fast

import (
	"runtime"
	"testing"
	"time"
)

// perSecond is how many allocations are allowed for what runs beside the calls, be the machine slow.
const perSecond = 1000

// TestMemoryStaysFlat makes very many small all-reduces: they allocate nothing, and the memory that is in use stays
// what it was. What the control plane does beside, such as its signs of life, is allowed for.
func TestMemoryStaysFlat(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 2)
			buffers := [2][]float32{make([]float32, 2), make([]float32, 2)}
			reduce := func(n int) {
				inStep(t, all, n, func(c *Comm) error { return AllReduce(t.Context(), c, buffers[c.Rank()], Sum) })
			}
			reduce(1000)
			before, start := inUse(), time.Now()
			n := tries(t, 20_000, 10_000_000)
			reduce(n)
			after, took := inUse(), time.Since(start)
			t.Logf("%d allocations in %v, %d bytes more in use", after.Mallocs-before.Mallocs, took, int64(after.HeapAlloc)-int64(before.HeapAlloc))
			beside := perSecond * took.Seconds()
			if each := (float64(after.Mallocs-before.Mallocs) - beside) / float64(n); each > 0.1 {
				t.Errorf("%.2f allocations in each all-reduce", each)
			}
			if after.HeapAlloc > before.HeapAlloc+1<<20 {
				t.Errorf("%d bytes are in use, after %d", after.HeapAlloc, before.HeapAlloc)
			}
		})
	}
}

// inUse returns the state of the heap with nothing in it but what is in use.
func inUse() (m runtime.MemStats) {
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}
