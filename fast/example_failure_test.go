package fast_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/trace"
)

// Rank 2 has left. The others learn of it in their call, and go on without it.
func ExampleComm_Shrink() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() == 2 {
			return nil
		}
		x := []int{1}
		if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
			left, err := c.Shrink(ctx)
			if err != nil {
				return err
			}
			defer left.Close()
			x = []int{1}
			if err := fast.AllReduce(ctx, left, x, fast.Sum); err != nil {
				return err
			}
		}
		if c.Rank() == 3 {
			fmt.Println(c.State(), fast.Culprits(c.Err()), x)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// Failed [2] [3]
	// <nil>
}

// The ranks agree that all are done: a bit is set if every rank has set it.
func ExampleComm_Agree() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		const ready, done = 1, 2
		flags := uint64(ready | done)
		if c.Rank() == 1 {
			flags = ready
		}
		all, err := c.Agree(ctx, flags)
		if c.Rank() == 0 {
			fmt.Println(all&ready != 0, all&done != 0)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// true false
	// <nil>
}

// Rank 0 gets all other ranks out of their calls.
func ExampleComm_Revoke() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() == 0 {
			return c.Revoke()
		}
		err := fast.Barrier(ctx, c)
		fmt.Println(errors.Is(err, fast.ErrRevoked))
		return nil
	})
	fmt.Println(err)
	// Output:
	// true
	// <nil>
}

// After Abort, calls fail on all ranks.
func ExampleComm_Abort() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		own, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			own.Abort()
			return nil
		}
		err = fast.Barrier(ctx, own)
		fmt.Println(errors.Is(err, fast.ErrAborted), fast.Culprits(err), own.State())
		return nil
	})
	fmt.Println(err)
	// Output:
	// true [0] Failed
	// <nil>
}

// Rank 2 computes for too long. The others learn that it has not come, and the communicator stays as it was.
func ExampleMonitoredBarrier() {
	var failed sync.WaitGroup
	failed.Add(2)
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() == 2 {
			failed.Wait() // it computes
			return nil
		}
		soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		err := fast.MonitoredBarrier(soon, c)
		var late *health.LateError
		if errors.As(err, &late) && c.Rank() == 0 {
			for i := range late.Ranks {
				fmt.Println("rank", late.Ranks[i].Rank, &late.Ranks[i])
			}
			fmt.Println(c.State())
		}
		failed.Done()
		return nil
	})
	fmt.Println(err)
	// Output:
	// rank 2 is in no call, and no earlier one is known
	// Healthy
	// <nil>
}

// Rank 0 asks what the others do, while one of them waits in a call.
func ExampleComm_Health() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		params := make([]float32, 4)
		if c.Rank() == 1 {
			return fast.Recv(ctx, c, params, 0, fast.WithLabel("params"))
		}
		for {
			r, err := c.Health(ctx)
			if err != nil {
				return err
			}
			if x := r.Ranks[1]; len(x.Running) > 0 { // it has come to its call
				fmt.Println("rank 1:", x.State, "in", &x.Running[0])
				break
			}
		}
		return fast.Send(ctx, c, params, 1, fast.WithLabel("params"))
	})
	fmt.Println(err)
	// Output:
	// rank 1: Healthy in Recv "params" with rank 0, call 1 of world
	// <nil>
}

// Every rank records its last calls.
func ExampleComm_WriteTrace() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		if err := fast.Barrier(ctx, c); err != nil {
			return err
		}
		var b bytes.Buffer
		if err := c.WriteTrace(&b); err != nil {
			return err
		}
		last, err := trace.Read(&b)
		if c.Rank() == 0 && err == nil {
			for _, e := range last.Entries {
				fmt.Println(e.Primitive, e.Seq)
			}
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// Barrier 1
	// <nil>
}
