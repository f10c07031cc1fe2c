package fast

import (
	"context"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/shm"
	"github.com/collgen/collgen/fast/internal/tcp"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/trace"
	"golang.org/x/sys/unix"
)

// inChild forks, has the child call f, which gives its exit status, and is that status. The child has one thread: where
// another one held a lock of Go's runtime, or was to take over, it hangs, whatever it calls. So it is tried again.
func inChild(t *testing.T, f func() int) int {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	for range 5 {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if errno == 0 && pid == 0 {
			syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(f()), 0, 0)
		}
		if errno != 0 {
			t.Fatal(errno)
		}
		hangs := time.AfterFunc(10*time.Second, func() { _ = syscall.Kill(int(pid), syscall.SIGKILL) })
		var status syscall.WaitStatus
		_, err := syscall.Wait4(int(pid), &status, 0, nil)
		hangs.Stop()
		switch {
		case err != nil:
			t.Fatal(err)
		case status.Exited():
			return status.ExitStatus()
		}
		t.Logf("the child has ended with %#x", status)
	}
	t.Fatal("no child has come to its end by itself")
	return 0
}

// TestForked: a child of a rank's process, which shares its memory and its sockets, is refused whatever it calls, and
// the job does not notice it.
func TestForked(t *testing.T) {
	if !fork.Supported() {
		t.Skip("this system cannot wipe memory in a child")
	}
	for _, w := range worlds[1:] {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			defer fasttest.CloseAll(t, all)
			c, x := all[0], []int{1, 2}
			if err := errors.Join(fasttest.OnAll(all, func(c *Comm) error {
				return AllReduce(t.Context(), c, []int{1, 2},
					Sum)
			})...); err != nil {
				t.Fatal(err)
			}
			started := StartRecv(t.Context(), c, x, 1)
			ctx := context.Background()
			calls := []func() error{
				func() error { return AllReduce(ctx, c, x, Sum) },
				func() error { return Send(ctx, c, x, 1) },
				func() error { return SendRecvReplace(ctx, c, x, 1, 1) },
				func() error { return StartBarrier(ctx, c).Wait(ctx) },
				func() error { return started.Wait(ctx) },
				func() error { _, err := c.Split(ctx, 0, 0); return err },
				func() error { _, err := c.Group(ctx, []int{0, 1}); return err },
				func() error { _, err := c.Agree(ctx, 1); return err },
				func() error { _, err := c.Shrink(ctx); return err },
				func() error { _, err := Init(ctx, WithRank(0, 1)); return err },
				func() error { return Free(c, x) },
				func() error { return c.Batch(func() error { return nil }) },
				func() error { return c.WriteTrace(io.Discard) },
				func() error { return MonitoredBarrier(ctx, c) },
				func() error { _, err := c.Health(ctx); return err },
				func() error { c.Abort(); return c.Revoke() },
				c.Close,
			}
			const right = 100
			if got := inChild(t, func() int {
				for i, call := range calls {
					if !errors.Is(call(), ErrForked) {
						return i
					}
				}
				return right
			}); got != right {
				t.Errorf("call %d is not refused in a child", got)
			}
			if err := errors.Join(Send(t.Context(), all[1], []int{5, 6}, 0), started.Wait(t.Context())); err != nil ||
				x[1] != 6 {
				t.Errorf("%v: %v", x, err)
			}
			checkHealthy(t, all)
		})
	}
}

// pair returns the two ends of a communicator over shared memory, both in this process, which never waits: who calls
// the sender's end first finds the message at the other end.
func pair(b *testing.B) (all [2]*Comm) {
	b.Helper()
	memory, err := shm.Create(2)
	if err != nil {
		b.Fatal(err)
	}
	for rank := range all {
		file, err := unix.Dup(memory)
		if err != nil {
			b.Fatal(err)
		}
		e, err := shm.Attach(rank, 2, file)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = e.Close() })
		c := newComm(rank, 2, e)
		c.exec.Carrier = "shm"
		c.record(flight.New(flight.Config{Rank: rank, Size: 2, Operations: trace.MaxEntries}))
		all[rank] = c
	}
	_ = unix.Close(memory)
	return all
}

// BenchmarkPair is the calls of both ends of a message, one after the other on one core: software alone, without the
// way of a cache line.
func BenchmarkPair(b *testing.B) {
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	x := make([]float32, 2)
	for name, f := range map[string]func(c *Comm) error{
		"broadcast": func(c *Comm) error { return BroadcastInto(ctx, c, x, x, 0) },
		"send": func(c *Comm) error {
			if c.rank == 0 {
				return Send(ctx, c, x, 1)
			}
			return Recv(ctx, c, x, 0)
		},
	} {
		b.Run(name, func(b *testing.B) {
			all := pair(b)
			b.ReportAllocs()
			for b.Loop() {
				for _, c := range all {
					if err := f(c); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// TestClosedIsLetGo: nothing of a process keeps a communicator that was closed, or its transport, although its
// operations are recorded.
func TestClosedIsLetGo(t *testing.T) {
	for _, w := range worlds[1:] { // the others have none that others are made of
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 3)
			defer fasttest.CloseAll(t, all)
			var made, collected atomic.Int64
			for range 10 {
				more := fasttest.Again(t, all)
				for rank, err := range fasttest.OnAll(more, func(c *Comm) error {
					made.Add(2)
					runtime.AddCleanup(c, func(n int64) { collected.Add(n) }, 1)
					switch e := c.exec.Transport.(type) {
					case *tcp.Endpoint:
						runtime.AddCleanup(e, func(n int64) { collected.Add(n) }, 1)
					case *shm.Endpoint:
						runtime.AddCleanup(e, func(n int64) { collected.Add(n) }, 1)
					case *transport.Composite:
						runtime.AddCleanup(e, func(n int64) { collected.Add(n) }, 1)
					}
					return errors.Join(AllReduce(t.Context(), c, make([]int64, 100_000), Sum), c.Close())
				}) {
					if err != nil {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			}
			for tries := 0; collected.Load() < made.Load(); tries++ { // cleanups run some time after the collector
				if runtime.GC(); tries == 1000 {
					t.Fatalf("%d of %d are let go", collected.Load(), made.Load())
				}
				time.Sleep(time.Millisecond)
			}
			if kept := len(written(t, all[0]).Entries); kept < int(made.Load())/6 {
				t.Errorf("%d operations are recorded of %d: this test shows nothing", kept, made.Load()/6)
			}
		})
	}
}
