//go:build linux

package shm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/collgen/collgen/fast/internal/wire"
)

// testing.T and rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// group is the endpoints of size ranks in this process, each with a mapping of its own.
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

// message is one message of a plan.
type message struct {
	from, to, length      int
	kernel, receivedFirst bool
	shift                 int // of buffers against alignment
}

// plan is steps of messages, which each rank carries out in one Exchange per step.
type plan struct {
	size  int
	steps [][]message
}

// lengths are those at which a transport among size ranks may err.
func lengths(size int) []int {
	all := []int{0, 1, 2, 8, inline - 1, inline, inline + 1, 64, 1000}
	for _, n := range []int{small, cmp.Or(fullSlot(size), small)} {
		all = append(all, n-1, n, n+1, 2*n-1, 2*n, 3*n+7, slots*n-1, slots*n, slots*n+1)
	}
	return all
}

// drawPlan draws messages among size ranks.
func drawPlan(t *rapid.T, size int) plan {
	p := plan{size: size}
	for range rapid.IntRange(1, 3).Draw(t, "steps") {
		p.steps = append(p.steps, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) message {
			from := rapid.IntRange(0, size-1).Draw(t, "from")
			return message{
				from: from, to: (from + rapid.IntRange(1, size-1).Draw(t, "distance")) % size,
				length: rapid.SampledFrom(lengths(size)).Draw(t, "length"),
				kernel: rapid.Bool().Draw(t, "kernel"), receivedFirst: rapid.Bool().Draw(t, "first"),
				shift: rapid.IntRange(0, 7).Draw(t, "shift"),
			}
		}), 0, 8).Draw(t, "messages"))
	}
	return p
}

// fill is the byte at i of what message number n of a step holds.
func fill(step, n, i int) byte { return byte(step*31 + n*7 + i*13 + i>>8) }

const canary = 0xa5

// guarded is n bytes between canaries, shift bytes off alignment.
func guarded(n, shift int) (all, data []byte) {
	all = bytes.Repeat([]byte{canary}, n+64)
	return all, all[16+shift : 16+shift+n]
}

// subtract is a kernel that tells its operands apart.
func subtract(dst, a, b []byte) {
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

// carryOut is rank's part of p. It checks what it receives.
func (p plan) carryOut(ctx context.Context, e *Endpoint) error {
	for s, step := range p.steps {
		e.Begin(wire.NewMark(&wire.Call{Seq: uint64(s) + 1}))
		var sends []wire.Send
		var recvs []wire.Recv
		var checks []func() error
		for n, m := range step {
			if m.from == e.rank {
				_, data := guarded(m.length, m.shift)
				for i := range data {
					data[i] = fill(s, n, i)
				}
				sends = append(sends, wire.Send{Peer: m.to, Data: data})
			}
			if m.to == e.rank {
				r, check := m.receive(s, n)
				recvs, checks = append(recvs, r), append(checks, check)
			}
		}
		if err := e.Exchange(ctx, sends, recvs); err != nil {
			return fmt.Errorf("step %d: %w", s, err)
		}
		for _, check := range checks {
			if err := check(); err != nil {
				return err
			}
		}
	}
	return nil
}

// receive is the receive of m, and the check of what came.
func (m message) receive(step, n int) (wire.Recv, func() error) {
	all, into := guarded(m.length, m.shift)
	r := wire.Recv{Peer: m.from, Into: into}
	want := func(i int) byte { return fill(step, n, i) }
	if m.kernel {
		_, with := guarded(m.length, 7-m.shift)
		for i := range with {
			with[i] = byte(i)
		}
		r.Kernel, r.With, r.ReceivedFirst = subtract, with, m.receivedFirst
		want = func(i int) byte { return byte(i) - fill(step, n, i) }
		if m.receivedFirst {
			want = func(i int) byte { return fill(step, n, i) - byte(i) }
		}
	}
	return r, func() error {
		for i := range all {
			w := byte(canary)
			if k := i - 16 - m.shift; k >= 0 && k < m.length {
				w = want(k)
			}
			if all[i] != w {
				return fmt.Errorf("step %d, message %d %+v: byte %d is %#x, want %#x", step, n, m, i, all[i], w)
			}
		}
		return nil
	}
}

func TestExchange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t, rapid.IntRange(2, 5).Draw(t, "size"))
		all := group(t, p.size)
		defer closeGroup(all)
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		for rank, err := range together(all, func(e *Endpoint) error { return p.carryOut(ctx, e) }) {
			if err != nil {
				t.Fatalf("rank %d: %v", rank, err)
			}
		}
	})
}

// TestSmallSlots is among so many ranks that slots are shorter.
func TestSmallSlots(t *testing.T) {
	const size = 40
	if n := fullSlot(size); n >= maxSlot {
		t.Fatalf("slots of %d bytes", n)
	}
	p := plan{size: size, steps: [][]message{{}, {}}}
	for rank := range size {
		for i, l := range lengths(size) {
			p.steps[i%2] = append(p.steps[i%2], message{from: rank, to: (rank + i + 1) % size, length: l, kernel: i%3 == 0})
		}
	}
	all := group(t, size)
	defer closeGroup(all)
	for rank, err := range together(all, func(e *Endpoint) error { return p.carryOut(t.Context(), e) }) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// TestRunAhead sends as many messages as a ring holds before the receiver does anything.
func TestRunAhead(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	for i := range byte(slots) {
		all[0].Begin(wire.NewMark(&wire.Call{Seq: uint64(i) + 1}))
		if err := all[0].Exchange(t.Context(), []wire.Send{{Peer: 1, Data: []byte{i}}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range byte(slots) {
		all[1].Begin(wire.NewMark(&wire.Call{Seq: uint64(i) + 1}))
		got := []byte{canary}
		if err := all[1].Exchange(t.Context(), nil, []wire.Recv{{Peer: 0, Into: got}}); err != nil || got[0] != i {
			t.Fatal(got, err)
		}
	}
}

func TestCountersWrapAround(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	const start = uint32(1<<32 - 3*slots)
	for _, r := range []*ring{&all[0].links[1].out, &all[1].links[0].in} {
		r.next, r.taken = start, start
		r.head.tail.Store(start)
		for i := range r.head.lines {
			r.head.lines[i].seq.Store(start - slots + uint32(i) + 1)
		}
	}
	p := plan{size: 2, steps: [][]message{{{from: 0, to: 1, length: 6*slots*maxSlot + 1}}}}
	for rank, err := range together(all, func(e *Endpoint) error { return p.carryOut(t.Context(), e) }) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
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

// mappings is how often shared memory is mapped in this process.
func mappings(t *testing.T) int {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(maps, []byte("memfd:collgen"))
}

// openFilesOf is the number of files that this process has open.
func openFilesOf(t *testing.T) int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}
