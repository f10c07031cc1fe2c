package message_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/message"
)

// Rank 0 hands out work to whoever asks for it. The tags say what a message is.
func ExampleSend() {
	const asks, work, done = 1, 2, 3
	err := fast.Run(context.Background(), 3, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() == 0 {
			n := []int{0}
			for next := 1; next <= 10+2; next++ { // 10 pieces of work, and an end for each worker
				asked, err := message.Recv(ctx, c, n, message.AnySource, asks)
				if err != nil {
					return err
				}
				tag := work
				if next > 10 {
					tag = done
				}
				if err := message.Send(ctx, c, []int{next}, asked.Source, tag); err != nil {
					return err
				}
			}
			return fast.AllReduce(ctx, c, n, fast.Sum)
		}
		sum := 0
		for {
			if err := message.Send(ctx, c, []int{0}, 0, asks); err != nil {
				return err
			}
			n := []int{0}
			got, err := message.Recv(ctx, c, n, 0, message.AnyTag)
			if err != nil {
				return err
			}
			if got.Tag == done {
				break
			}
			sum += n[0]
		}
		n := []int{sum}
		err := fast.AllReduce(ctx, c, n, fast.Sum)
		if c.Rank() == 1 {
			fmt.Println(n)
		}
		return err
	})
	fmt.Println(err)
	// Output:
	// [55]
	// <nil>
}

// A rank takes messages in another order than that in which they came. One that is too long is an error, and gone.
func ExampleRecv() {
	err := fast.Run(context.Background(), 1, func(ctx context.Context, c *fast.Comm) error {
		for tag := range 3 {
			if err := message.Send(ctx, c, make([]float64, 10*tag), 0, tag); err != nil {
				return err
			}
		}
		buf := make([]float64, 15)
		for _, tag := range []int{1, message.AnyTag, message.AnyTag} {
			got, err := message.Recv(ctx, c, buf, message.AnySource, tag)
			fmt.Println(got.Tag, got.Count, errors.Is(err, message.ErrTruncated))
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// 1 10 false
	// 0 0 false
	// 2 20 true
	// <nil>
}

// Each rank posts its receive, computes, and only then needs what the rank before it has sent.
func ExampleStartRecv() {
	err := fast.Run(context.Background(), 4, func(ctx context.Context, c *fast.Comm) error {
		before, after := (c.Rank()+3)%4, (c.Rank()+1)%4
		in := make([]int, 1)
		r := message.StartRecv(ctx, c, in, before, 0)
		s := message.StartSend(ctx, c, []int{c.Rank()}, after, 0)
		// Here it computes.
		if err := errors.Join(r.Wait(ctx), s.Wait(ctx)); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println(r.Status(), in)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// {3 0 1} [3]
	// <nil>
}

// A receiver that does not know how long a message is asks before it makes the buffer.
func ExampleProbe() {
	err := fast.Run(context.Background(), 2, func(ctx context.Context, c *fast.Comm) error {
		if c.Rank() == 0 {
			return message.Send(ctx, c, []byte("of any length"), 1, 7)
		}
		comes, err := message.Probe(ctx, c, message.AnySource, message.AnyTag)
		if err != nil {
			return err
		}
		buf := make([]byte, comes.Count)
		_, err = message.Recv(ctx, c, buf, comes.Source, comes.Tag)
		fmt.Printf("%s, %+v\n", buf, comes)
		return err
	})
	fmt.Println(err)
	// Output:
	// of any length, {Source:0 Tag:7 Count:13}
	// <nil>
}

// TryProbe does not wait.
func ExampleTryProbe() {
	err := fast.Run(context.Background(), 1, func(ctx context.Context, c *fast.Comm) error {
		for range 2 {
			_, found, err := message.TryProbe(c, 0, 5)
			fmt.Println(found, err)
			if err := message.Send(ctx, c, []int{1}, 0, 5); err != nil {
				return err
			}
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// false <nil>
	// true <nil>
	// <nil>
}

// A receive that no message has matched can be canceled. Then its buffer is free again.
func ExampleHandle_Cancel() {
	err := fast.Run(context.Background(), 1, func(ctx context.Context, c *fast.Comm) error {
		h := message.StartRecv(ctx, c, make([]int, 1), message.AnySource, 9)
		fmt.Println(h.Test())
		fmt.Println(h.Cancel(), errors.Is(h.Wait(ctx), message.ErrCanceled))
		return nil
	})
	fmt.Println(err)
	// Output:
	// false <nil>
	// true true
	// <nil>
}
