//go:build linux

package shm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/exchangetest"
	"github.com/collgen/collgen/fast/internal/wire"
)

// tester is a testing.T, B or F.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// group returns the endpoints of size ranks in this process, each with a mapping of its own.
func group(t tester, size int) []*Endpoint {
	t.Helper()
	memory, err := Create(size)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(memory)
	all := make([]*Endpoint, size)
	for rank := range all {
		if all[rank], err = Attach(rank, size, duplicate(t, memory)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func closeGroup(all []*Endpoint) {
	for _, e := range all {
		_ = e.Close()
	}
}

// together runs f on all ranks at once and gives their errors.
func together(all []*Endpoint, f func(e *Endpoint) error) []error {
	errs := make([]error, len(all))
	done := make(chan bool)
	for rank, e := range all {
		go func() {
			errs[rank] = f(e)
			done <- true
		}()
	}
	for range all {
		<-done
	}
	return errs
}

// lengths returns those at which a transport among size ranks may err.
func lengths(size int) []int {
	all := []int{0, 1, 2, 8, inline - 1, inline, inline + 1, 64, 1000}
	_, _, full := fullSlots(size)
	for _, n := range []int{small, full} {
		all = append(all, n-1, n, n+1, 2*n-1, 2*n, 3*n+7, slots*n-1, slots*n, slots*n+1)
	}
	return all
}

const canary = 0xa5

// subtract is a kernel that tells its operands apart.
func subtract(dst, a, b []byte) {
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

// carryOut is all ranks' part of p.
func carryOut(t *testing.T, all []*Endpoint, p exchangetest.Plan) {
	t.Helper()
	for rank, err := range together(all, func(e *Endpoint) error { return p.CarryOut(t.Context(), e, e.rank) }) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestLengths: what all transports are tested with are the lengths at which this one may err.
func TestLengths(t *testing.T) {
	for _, n := range lengths(2) {
		if !slices.Contains(exchangetest.Lengths, n) && n < slots*maxSlot+1 {
			t.Errorf("nobody sends %d bytes", n)
		}
	}
}

// TestSmallSlots is among so many ranks that slots are shorter.
func TestSmallSlots(t *testing.T) {
	const size = 40
	if rings, _, n := fullSlots(size); rings > 0 || n >= maxSlot {
		t.Fatalf("%d slots of %d bytes", rings, n)
	}
	p := exchangetest.Plan{{}, {}}
	for rank := range size {
		for i, l := range lengths(size) {
			p[i%2] = append(p[i%2], exchangetest.Message{From: rank, To: (rank + i + 1) % size, Length: l, Kernel: i%3 == 0})
		}
	}
	all := group(t, size)
	defer closeGroup(all)
	carryOut(t, all, p)
}

// TestRunAhead sends as many short messages as a ring holds before the receiver does anything.
func TestRunAhead(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	for i := range byte(depth) {
		all[0].Begin(wire.NewMark(&wire.Call{Seq: uint64(i) + 1}))
		if err := all[0].Exchange(t.Context(), []wire.Send{{Peer: 1, Data: []byte{i}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range byte(depth) {
		all[1].Begin(wire.NewMark(&wire.Call{Seq: uint64(i) + 1}))
		got := []byte{canary}
		if err := all[1].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: got}}); err != nil || got[0] != i {
			t.Fatal(got, err)
		}
	}
}

// TestCountersWrapAround has the numbers of segments pass 2^32: what the receiver says it took is believed as before,
// and a message arrives.
func TestCountersWrapAround(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	for n := range uint32(depth) { // so many segments lie behind the end of the numbers
		r := &ring{head: new(ringHead), taken: n - depth, next: n}
		for _, tail := range []uint32{n - depth, n - 1, n} {
			if r.head.tail.Store(tail); !r.look() {
				t.Fatalf("%d segments were taken of those up to %d, and that cannot be", tail, n)
			}
		}
		for _, tail := range []uint32{n - depth - 1, n + 1} {
			if r.head.tail.Store(tail); r.look() {
				t.Fatalf("%d segments were taken, as it seems, of those up to %d", tail, n)
			}
			r.taken = n - depth
		}
	}
	const start = uint32(1<<32 - depth)
	for _, r := range []*ring{&all[0].links[1].out, &all[1].links[0].in} {
		r.next, r.taken = start, start
		r.head.tail.Store(start)
		for i := range r.head.lines {
			r.head.lines[i].seq.Store(start - depth + uint32(i) + 1)
		}
	}
	carryOut(t, all, exchangetest.Plan{{{From: 0, To: 1, Length: 6*slots*maxSlot + 1}}})
}

// TestNothingStays makes and ends groups: by Close, and by Fail in the middle of an Exchange before it.
func TestNothingStays(t *testing.T) {
	ends := map[string]func(e *Endpoint){
		"close": func(e *Endpoint) { _, _ = e.Close(), e.Close() },
		"fail":  func(e *Endpoint) { e.Fail(wire.ErrClosed); _ = e.Close(); e.Fail(wire.ErrClosed) },
	}
	for name, end := range ends {
		goroutines, files, mapped := runtime.NumGoroutine(), openFilesOf(t), mappings(t)
		for range 20 {
			all := group(t, 3)
			done := make(chan error)
			go func() {
				done <- all[0].Exchange(context.Background(), nil, []wire.Recv{{Peer: 1, Into: make([]byte, 1)}})
			}()
			time.Sleep(time.Millisecond)
			for _, e := range all {
				end(e)
			}
			if err := <-done; err == nil {
				t.Errorf("%s: the Exchange succeeds", name)
			}
			if err := all[0].Exchange(t.Context(), nil, nil); !errors.Is(err, wire.ErrClosed) {
				t.Errorf("%s: then %v", name, err)
			}
			all[0].Begin(wire.NewMark(new(wire.Call)))
		}
		for wait := time.Now(); runtime.NumGoroutine() > goroutines && time.Since(wait) < 5*time.Second; {
			time.Sleep(time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("%s: %d goroutines, before %d", name, n, goroutines)
		}
		if n := openFilesOf(t); n != files {
			t.Errorf("%s: %d open files, before %d", name, n, files)
		}
		if n := mappings(t); n != mapped {
			t.Errorf("%s: %d mappings, before %d", name, n, mapped)
		}
	}
}

// mappings returns how often shared memory is mapped in this process.
func mappings(t *testing.T) int {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(maps, []byte("memfd:collgen"))
}

// openFilesOf returns the number of files that this process has open.
func openFilesOf(t *testing.T) int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}
