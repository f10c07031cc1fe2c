package verify_test

import (
	"context"
	"errors"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/verify/colltest"
)

// TestConform: package fast does what the specifications say, by the tests that any implementation can be put to. The
// other tests of this package know more: the algorithms, the bits of their sums, and other ways to make calls.
func TestConform(t *testing.T) {
	colltest.Run(t, conform{[]int{1, 2, 3, 4, 5, 6, 7, 8}, fast.Run})
}

// conform is fast as colltest takes it: ranks of those sizes, which run starts as fast.Run does.
type conform struct {
	sizes []int
	run   func(ctx context.Context, size int, rank func(ctx context.Context, c *fast.Comm) error,
		opts ...fast.InitOption) error
}

func (f conform) Capabilities() colltest.Capabilities {
	can := colltest.Everything("fast", f.sizes...)
	for i := range can.Primitives {
		can.Primitives[i].Uneven = can.Primitives[i].Primitive.IsUneven()
	}
	return can
}

func (f conform) Start(_ context.Context, size int) (colltest.World, error) {
	w := &conformWorld{over: make(chan error, 1)}
	for range size {
		w.calls = append(w.calls, make(chan conformCall))
	}
	go func() {
		w.over <- f.run(context.Background(), size, func(_ context.Context, c *fast.Comm) error {
			for x := range w.calls[c.Rank()] {
				x.over <- x.on(c)
			}
			return nil
		})
	}()
	return w, nil
}

// conformWorld is ranks that run has started, and that make the calls which come through channels.
type conformWorld struct {
	calls []chan conformCall // by rank
	over  chan error
}

type conformCall struct {
	ctx  context.Context
	call *colltest.Call
	over chan error
}

func (w *conformWorld) Call(ctx context.Context, rank int, c *colltest.Call) error {
	over := make(chan error, 1)
	w.calls[rank] <- conformCall{ctx, c, over}
	return <-over
}

func (w *conformWorld) Close() error {
	for _, calls := range w.calls {
		close(calls)
	}
	return <-w.over
}

// on makes the call, by the selection table.
func (x *conformCall) on(c *fast.Comm) error {
	h, err := elements[x.call.Type].over(c, &rankCall{Call: *x.call}).invoke(x.ctx, false, nil)
	if h != nil {
		return errors.New("a blocking call has a handle")
	}
	return err
}
