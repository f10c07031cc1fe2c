package fast

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
)

// TestSeveralCommunicators uses several communicators at once, each in a goroutine of its own on every rank, among
// ranks of one process and among processes.
func TestSeveralCommunicators(t *testing.T) {
	t.Run("goroutines", func(t *testing.T) {
		errs := make([]error, several)
		var jobs sync.WaitGroup
		for i := range errs {
			jobs.Go(func() {
				errs[i] = Run(t.Context(), 3, func(ctx context.Context, c *Comm) error { return keepAdding(ctx, c, i) })
			})
		}
		jobs.Wait()
		if err := errors.Join(errs...); err != nil {
			t.Error(err)
		}
	})
	t.Run("processes", func(t *testing.T) {
		j := newJob(t, 3, "several")
		for _, p := range j.start(0, 3) {
			if l := p.line(t); l != "right" {
				t.Errorf("rank %d: %s", p.rank, l)
			}
		}
		j.wantNothingLeft()
	})
}

const several = 4

func init() { roles["several"] = inSeveral }

// inSeveral returns a rank of several communicators.
func inSeveral(ctx context.Context, _ []string) error {
	errs := make([]error, several)
	var jobs sync.WaitGroup
	for i := range errs {
		c, err := Init(ctx, append(FromEnv(), WithJob(fmt.Sprint(os.Getenv("COLL_JOB"), i)))...)
		if err != nil {
			return err
		}
		defer c.Close()
		jobs.Go(func() { errs[i] = keepAdding(ctx, c, i) })
	}
	jobs.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	fmt.Println("right")
	return nil
}

// keepAdding makes many calls with results that tell communicators, calls and ranks apart.
func keepAdding(ctx context.Context, c *Comm, which int) error {
	for call := range 200 {
		buf := make([]int64, 1+call*which*7)
		for i := range buf {
			buf[i] = int64(which*1_000_000 + call*1000 + c.Rank())
		}
		want := slices.Repeat([]int64{int64(c.Size()*(which*1_000_000+call*1000) + c.Size()*(c.Size()-1)/2)}, len(buf))
		if err := AllReduce(ctx, c, buf, Sum); err != nil {
			return err
		}
		if !slices.Equal(buf, want) {
			return fmt.Errorf("communicator %d, call %d: %d, want %d", which, call, buf[0], want[0])
		}
	}
	return nil
}
