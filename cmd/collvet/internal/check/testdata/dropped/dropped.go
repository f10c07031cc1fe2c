// Package dropped has calls whose results are dropped.
package dropped

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/message"
)

func errors(ctx context.Context, c *fast.Comm, x []float32) {
	fast.AllReduce(ctx, c, x, fast.Sum) // want `the error of AllReduce is ignored`
	defer fast.Barrier(ctx, c)          // want `the error of Barrier is ignored`
	message.Send(ctx, c, x, 1, 7)       // want `the error of Send is ignored`
	h := fast.StartBarrier(ctx, c)
	h.Wait(ctx) // want `the error of Wait is ignored`
}

func handles(ctx context.Context, c *fast.Comm, x []float32) {
	fast.StartAllReduce(ctx, c, x, fast.Sum)     // want `the handle of StartAllReduce is dropped`
	_ = fast.StartAllReduce(ctx, c, x, fast.Sum) // want `the handle of StartAllReduce is dropped`
	message.StartSend(ctx, c, x, 1, 7)           // want `the handle of StartSend is dropped`
}

func right(ctx context.Context, c *fast.Comm, x []float32) error {
	defer c.Close()
	_ = fast.Barrier(ctx, c)
	h := fast.StartAllReduce(ctx, c, x, fast.Sum)
	return h.Wait(ctx)
}
