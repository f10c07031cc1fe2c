// Package touched uses buffers of started calls.
package touched

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
)

func read(ctx context.Context, c *fast.Comm, x []float32) error {
	h := fast.StartAllReduce(ctx, c, x, fast.Sum)
	fmt.Println(x[0]) // want `x is used before the call that StartAllReduce has started in line 12 is over`
	return h.Wait(ctx)
}

func lentTwice(ctx context.Context, c, other *fast.Comm, x []float32) error {
	first := fast.StartAllReduce(ctx, c, x, fast.Sum)
	second := fast.StartAllGather(ctx, other, x) // want `x is used before the call that StartAllReduce`
	if err := first.Wait(ctx); err != nil {
		return err
	}
	return second.Wait(ctx)
}

func written(ctx context.Context, c *fast.Comm, dst, src []float32) error {
	h := fast.StartAllReduceInto(ctx, c, dst, src, fast.Sum)
	if len(src) > 0 {
		src[0]++ // want `src is written before the call that StartAllReduceInto`
	}
	return h.Wait(ctx)
}

func copied(ctx context.Context, c *fast.Comm, x, y []float32) error {
	h := fast.StartSend(ctx, c, x, 1)
	copy(x[1:], y) // want `x is written before the call that StartSend`
	return h.Wait(ctx)
}

func received(ctx context.Context, c, other *fast.Comm, dst, src []float32) error {
	h := fast.StartAllGatherInto(ctx, c, dst, src)
	err := fast.Recv(ctx, other, src, 1) // want `src is written before the call that StartAllGatherInto`
	if err != nil {
		return err
	}
	return h.Wait(ctx)
}

func forwarded(ctx context.Context, c *fast.Comm, x []float32) error {
	in := fast.StartRecv(ctx, c, x, 0)
	out := fast.StartSend(ctx, c, x, 2) // want `x is used before the call that StartRecv`
	if err := in.Wait(ctx); err != nil {
		return err
	}
	return out.Wait(ctx)
}

// What follows is right.

func oneAfterTheOther(ctx context.Context, c *fast.Comm, x []float32) error {
	first := fast.StartAllReduce(ctx, c, x, fast.Sum)
	second := fast.StartAllGather(ctx, c, x)
	if err := first.Wait(ctx); err != nil {
		return err
	}
	return second.Wait(ctx)
}

func lengths(ctx context.Context, c *fast.Comm, x []float32) error {
	h := fast.StartAllReduce(ctx, c, x, fast.Sum)
	fmt.Println(len(x))
	return h.Wait(ctx)
}

func waited(ctx context.Context, c *fast.Comm, x []float32) error {
	h := fast.StartAllReduce(ctx, c, x, fast.Sum)
	if err := h.Wait(ctx); err != nil {
		return err
	}
	x[0] = 1
	return nil
}

func sourceRead(ctx context.Context, c *fast.Comm, dst, src []float32) error {
	h := fast.StartAllReduceInto(ctx, c, dst, src, fast.Sum)
	fmt.Println(src[0])
	return h.Wait(ctx)
}

func otherPart(ctx context.Context, c *fast.Comm, x []float32) error {
	h := fast.StartAllReduce(ctx, c, x[:2], fast.Sum)
	x[2] = 1
	return h.Wait(ctx)
}

func replaced(ctx context.Context, c *fast.Comm, x []float32) error {
	h := fast.StartAllReduce(ctx, c, x, fast.Sum)
	x = make([]float32, 3)
	x[0] = 1
	return h.Wait(ctx)
}
