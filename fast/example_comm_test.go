package fast_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/collgen/collgen/fast"
)

// Ranks with the same color get a communicator of their own, here those with even and with odd numbers.
func ExampleComm_Split() {
	err := fast.Run(context.Background(), 5, func(ctx context.Context, c *fast.Comm) error {
		half, err := c.Split(ctx, c.Rank()%2, c.Rank())
		if err != nil {
			return err
		}
		defer half.Close()
		x := []int{c.Rank()}
		err = fast.AllReduce(ctx, half, x, fast.Sum)
		if c.Rank() == 4 {
			fmt.Println(half.Rank(), half.Size(), x)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 2 3 [6]
	// <nil>
}

// Two of the ranks make a communicator. The others have nothing to do with it.
func ExampleComm_Group() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank()%3 != 0 {
			return nil
		}
		ends, err := c.Group(ctx, []int{3, 0})
		if err != nil {
			return err
		}
		defer ends.Close()
		x := []int{c.Rank()}
		err = fast.Broadcast(ctx, ends, x, 0)
		if c.Rank() == 0 {
			fmt.Println(ends.Rank(), ends.Size(), x)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// 1 2 [3]
	// <nil>
}

// A library makes its calls on a communicator of its own, so that they do not mix with those of the program.
func ExampleComm_Dup() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		own, err := c.Dup(ctx)
		if err != nil {
			return err
		}
		h := fast.StartBarrier(ctx, own)
		x := []int{1}
		if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(x)
		}
		return errors.Join(h.Wait(ctx), own.Close())
	})
	fmt.Println(err)
	// Output:
	// [2]
	// <nil>
}

// Where ranks are, and how they talk to each other.
func ExampleComm_Topology() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() == 1 {
			fmt.Println(c)
			fmt.Println(c.Topology())
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// world, rank 1 of 3
	// 1 host: [0 1 2]; inproc to [0 2]
	// <nil>
}

// Which algorithm a call would get, and for which calls that one is proved.
func ExampleExplain() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		q := fast.Query{Collective: "AllReduce", Bytes: 64, Op: fast.Sum}
		x, err := fast.Explain(c, q, fast.WithAlgorithm("ring"))
		if c.Rank() == 0 && err == nil {
			fmt.Println(x.Algorithm, "is proved for", x.Proved)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// ring is proved for every number of ranks and every depth
	// <nil>
}

// Eleven rows on four ranks.
func ExampleShard() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		lo, hi := fast.Shard(11, c.Rank(), c.Size())
		mine := []int{lo, hi}
		all := make([]int, 2*c.Size())
		err := fast.AllGatherInto(ctx, c, all, mine)
		if c.Rank() == 0 {
			fmt.Println(all)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [0 3 3 6 6 9 9 11]
	// <nil>
}

// A program that is not started by a launcher follows what collperf -tune -quick has measured on this machine, if it
// has.
func ExampleTunedFile() {
	var opts []fast.InitOption
	if path, err := fast.TunedFile(); err == nil {
		if _, err := os.Stat(path); err == nil {
			opts = append(opts, fast.WithTuningFile(path))
		}
	}
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		sum := []float32{1}
		if err := fast.AllReduce(ctx, c, sum, fast.Sum); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(sum)
		}
		return nil
	}, opts...)
	if err != nil {
		fmt.Println(err)
	}
	// Output: [2]
}
