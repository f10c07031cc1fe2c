package fast

import (
	"context"
	"errors"
	"io"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/fork"
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
		t.Run(w.name, func(t *testing.T) {
			all := w.comms(t, 2)
			defer closeAll(t, all)
			c, x := all[0], []int{1, 2}
			if err := errors.Join(onAll(all, func(c *Comm) error { return AllReduce(t.Context(), c, []int{1, 2}, Sum) })...); err != nil {
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
			if err := errors.Join(Send(t.Context(), all[1], []int{5, 6}, 0), started.Wait(t.Context())); err != nil || x[1] != 6 {
				t.Errorf("%v: %v", x, err)
			}
			checkHealthy(t, all)
		})
	}
}
