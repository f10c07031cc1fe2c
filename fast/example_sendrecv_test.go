package fast_test

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
)

// Rank 0 sends two elements to rank 1.
func ExampleSend() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() == 0 {
			return fast.Send(ctx, c, []int{7, 8}, 1)
		}
		buf := make([]int, 2)
		err := fast.Recv(ctx, c, buf, 0)
		fmt.Println(buf)
		return err
	})
	fmt.Println(err)
	// Output:
	// [7 8]
	// <nil>
}

// Rank 0 takes what the other ranks send, one after the other.
func ExampleRecv() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() > 0 {
			return fast.Send(ctx, c, []int{10 * c.Rank()}, 0)
		}
		buf := make([]int, c.Size())
		for from := 1; from < c.Size(); from++ {
			if err := fast.Recv(ctx, c, buf[from:from+1], from); err != nil {
				return err
			}
		}
		fmt.Println(buf)
		return nil
	})
	fmt.Println(err)
	// Output:
	// [0 10 20]
	// <nil>
}

// All ranks send to the next one, on a ring, and receive from the one before.
func ExampleSendRecv() {
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		next, before := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
		in := make([]int, 1)
		err := fast.SendRecv(ctx, c, []int{c.Rank()}, next, in, before)
		if c.Rank() == 0 {
			fmt.Println(in)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [2]
	// <nil>
}

// Two ranks exchange what they have, in one buffer.
func ExampleSendRecvReplace() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		x := []int{c.Rank(), 5}
		other := 1 - c.Rank()
		err := fast.SendRecvReplace(ctx, c, x, other, other)
		if c.Rank() == 0 {
			fmt.Println(x)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [1 5]
	// <nil>
}
