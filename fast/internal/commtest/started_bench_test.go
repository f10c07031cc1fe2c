package commtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// startedCalls are ways to make a short call between two ranks.
var startedCalls = []struct {
	what string
	call func(ctx context.Context, c *fast.Comm, x, y []float32) error
}{
	{"AllReduce", func(ctx context.Context, c *fast.Comm, x, _ []float32) error {
		return fast.AllReduce(ctx, c, x, fast.Sum)
	}},
	{"StartAllReduce", func(ctx context.Context, c *fast.Comm, x, _ []float32) error {
		return fast.StartAllReduce(ctx, c, x, fast.Sum).Wait(ctx)
	}},
	{"StartAllReduce,limit", func(ctx context.Context, c *fast.Comm, x, _ []float32) error {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return fast.StartAllReduce(ctx, c, x, fast.Sum).Wait(limited)
	}},
	{"SendRecv", func(ctx context.Context, c *fast.Comm, x, y []float32) error {
		return fast.SendRecv(ctx, c, x, next(c), y, next(c))
	}},
	{"StartSendRecv", func(ctx context.Context, c *fast.Comm, x, y []float32) error {
		return fast.StartSendRecv(ctx, c, x, next(c), y, next(c)).Wait(ctx)
	}},
	{"StartSendRecv,limit", func(ctx context.Context, c *fast.Comm, x, y []float32) error {
		limited, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return fast.StartSendRecv(ctx, c, x, next(c), y, next(c)).Wait(limited)
	}},
	{"StartSend,StartRecv", func(ctx context.Context, c *fast.Comm, x, y []float32) error {
		a, b := fast.StartSend(ctx, c, x, next(c)), fast.StartRecv(ctx, c, y, next(c))
		return errors.Join(a.Wait(ctx), b.Wait(ctx))
	}},
	{"Batch", func(ctx context.Context, c *fast.Comm, x, y []float32) error {
		var a, b *fast.Handle
		err := c.Batch(func() error {
			a, b = fast.StartSend(ctx, c, x, next(c)), fast.StartRecv(ctx, c, y, next(c))
			return nil
		})
		return errors.Join(err, a.Wait(ctx), b.Wait(ctx))
	}},
}

// BenchmarkStarted makes short calls between two ranks of this process, started and not.
func BenchmarkStarted(b *testing.B) {
	for _, w := range worlds {
		for _, x := range startedCalls {
			b.Run(w.Name+"/"+x.what, func(b *testing.B) {
				all := w.Comms(b, 2)
				defer func() {
					for _, c := range all {
						_ = c.Close()
					}
				}()
				b.ReportAllocs()
				b.ResetTimer()
				for _, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
					in, out := make([]float32, 2), make([]float32, 2)
					for range b.N {
						if err := x.call(context.Background(), c, in, out); err != nil {
							return err
						}
					}
					return nil
				}) {
					if err != nil {
						b.Fatal(err)
					}
				}
				b.StopTimer()
			})
		}
	}
}
