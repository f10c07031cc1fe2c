// Command job is a rank of the jobs whose events `make tla-traces` holds against the models. It makes three
// all-reduces: one of which each message fits into a line of shared memory, one that takes slots, and one that takes
// several of them. What happens meanwhile is its argument:
//
//	normal     nothing
//	slow       rank 1 comes late to each call
//	killed     rank 1 is killed in the second call, to which rank 0 comes late; the others go on without it
//	cancelled  the context of rank 1 ends in that call; all go on together
package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/collgen/collgen/fast"
)

// calls are the algorithms and numbers of elements, which can be cut into as many equal chunks as there are ranks.
var calls = []struct {
	algorithm string
	count     int
}{{"one-shot", 48}, {"recursive-doubling", 48 << 7}, {"ring", 48 << 12}}

func main() {
	if err := run(context.Background(), os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, "job:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, what string) error {
	c, err := fast.Init(ctx, fast.FromEnv()...)
	if err != nil {
		return err
	}
	for i := range calls {
		if err = call(ctx, c, what, i); err == nil {
			continue
		}
		if what != "killed" && what != "cancelled" {
			return err
		}
		next, again := c.Shrink(ctx)
		if again != nil {
			return again
		}
		if err := c.Close(); err != nil {
			return err
		}
		c, what = next, "normal"
	}
	return c.Close()
}

// call makes call i, of which what says how it goes.
func call(ctx context.Context, c *fast.Comm, what string, i int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	switch {
	case what == "slow" && c.Rank() == 1:
		time.Sleep(20 * time.Millisecond)
	case i != 1:
	case what == "killed" && c.Rank() == 1:
		time.AfterFunc(20*time.Millisecond, func() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL) })
	case what == "cancelled" && c.Rank() == 1:
		time.AfterFunc(20*time.Millisecond, cancel)
	case (what == "killed" || what == "cancelled") && c.Rank() == 0:
		time.Sleep(200 * time.Millisecond)
	}
	x := &calls[i]
	return fast.AllReduce(ctx, c, make([]float32, x.count), fast.Sum, fast.WithAlgorithm(x.algorithm))
}
