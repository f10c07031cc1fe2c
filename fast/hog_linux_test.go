package fast

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

func init() {
	roles["busy"] = busy
	roles["hog"] = func(context.Context, []string) error {
		for i := 0; ; i++ { // until it is killed
			runtime.KeepAlive(i)
		}
	}
}

// busy repeats all operations for so many seconds.
func busy(ctx context.Context, args []string) error {
	var seconds int
	if _, err := fmt.Sscan(args[0], &seconds); err != nil {
		return err
	}
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return err
	}
	defer c.Close()
	calls, end := 0, time.Now().Add(time.Duration(seconds)*time.Second)
	for going := true; going; {
		for _, op := range operations {
			if err := op.run(ctx, c, 1000, calls); err != nil {
				return fmt.Errorf("call %d, %s: %w", calls, op.name, err)
			}
			calls++
		}
		more := []int{0}
		if c.Rank() == 0 && time.Now().Before(end) {
			more[0] = 1
		}
		if err := Broadcast(ctx, c, more, 0); err != nil {
			return err
		}
		going = more[0] == 1
	}
	fmt.Println("done", calls)
	return nil
}

// TestHog has 8 ranks and processes that only burn time share the processors: nobody is taken for dead.
func TestHog(t *testing.T) {
	seconds := tries(t, 16, 1800) / 2 // over each transport
	for _, over := range []string{"shm", "tcp"} {
		hogs := newJob(t, 2, "hog")
		burning := hogs.start(0, 2)
		j := newJob(t, 8, fmt.Sprint("busy ", seconds))
		j.with = append(j.with, "COLL_TRANSPORT="+over)
		ranks := j.start(0, 8)
		for _, p := range ranks {
			l, err := p.lineWithin(time.Duration(seconds)*time.Second + time.Minute)
			if err != nil || !strings.HasPrefix(l, "done ") {
				t.Errorf("over %s, rank %d: %q %v", over, p.rank, l, err)
			} else if p.rank == 0 {
				t.Logf("over %s: %s calls in %d s", over, strings.TrimPrefix(l, "done "), seconds)
			}
		}
		j.end(ranks)
		hogs.end(burning)
	}
}
