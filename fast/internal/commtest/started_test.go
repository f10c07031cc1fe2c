package commtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// progressing are programs in which started sends and receives move without any further call of their rank. Each rank
// has channels to tell the others beside the communicator.
var progressing = []struct {
	what string
	run  func(ctx context.Context, c *fast.Comm, told []chan struct{}) error
}{
	{"a send, and then something else", func(ctx context.Context, c *fast.Comm, told []chan struct{}) error {
		x := filled(c.Rank())
		switch c.Rank() {
		case 0:
			h := fast.StartSend(ctx, c, x, 1)
			return errors.Join(await(ctx, told[0]), h.Err())
		case 1:
			defer close(told[0])
			return errors.Join(fast.Recv(ctx, c, x, 0), isFrom(x, 0))
		}
		return nil
	}},
	{"a receive, and then something else", func(ctx context.Context, c *fast.Comm, told []chan struct{}) error {
		x := filled(c.Rank())
		switch c.Rank() {
		case 0:
			h := fast.StartRecv(ctx, c, x, 1)
			return errors.Join(await(ctx, told[0]), await(ctx, h.Done()), h.Err(), isFrom(x, 1))
		case 1:
			defer close(told[0])
			return fast.Send(ctx, c, x, 0)
		}
		return nil
	}},
	{"all start sends, and then receives", func(ctx context.Context, c *fast.Comm, told []chan struct{}) error {
		in, out := filled(0), filled(c.Rank())
		send := fast.StartSend(ctx, c, out, next(c))
		close(told[c.Rank()])
		for _, one := range told { // all have started them
			if err := await(ctx, one); err != nil {
				return err
			}
		}
		recv := fast.StartRecv(ctx, c, in, previous(c))
		return errors.Join(send.Wait(ctx), recv.Wait(ctx), isFrom(in, previous(c)))
	}},
	{"a started receive, and a send that is not", func(ctx context.Context, c *fast.Comm, _ []chan struct{}) error {
		in := filled(0)
		recv := fast.StartRecv(ctx, c, in, previous(c))
		return errors.Join(fast.Send(ctx, c, filled(c.Rank()), next(c)), recv.Wait(ctx), isFrom(in, previous(c)))
	}},
	{"started messages, and an exchange in place", func(ctx context.Context, c *fast.Comm, _ []chan struct{}) error {
		x, in := filled(c.Rank()), filled(0)
		send, recv := fast.StartSend(ctx, c, filled(c.Rank()+10), next(c)), fast.StartRecv(ctx, c, in, previous(c))
		return errors.Join(fast.SendRecvReplace(ctx, c, x, next(c), previous(c)), isFrom(x, previous(c)), send.Wait(ctx),
			recv.Wait(ctx), isFrom(in, previous(c)+10))
	}},
	{"a wait for one of two", func(ctx context.Context, c *fast.Comm, told []chan struct{}) error {
		x, y := filled(0), filled(0)
		switch c.Rank() {
		case 0:
			first, second := fast.StartRecv(ctx, c, x, 1), fast.StartRecv(ctx, c, y, 2)
			err := errors.Join(second.Wait(ctx), isFrom(y, 2))
			close(told[0])
			return errors.Join(err, first.Wait(ctx), isFrom(x, 1))
		case 1:
			return errors.Join(await(ctx, told[0]), fast.Send(ctx, c, filled(1), 0))
		}
		return fast.Send(ctx, c, filled(2), 0)
	}},
	{"another goroutine starts what the others need", func(ctx context.Context, c *fast.Comm, _ []chan struct{}) error {
		in := filled(0)
		var err error
		var both sync.WaitGroup
		send := fast.StartSend(ctx, c, filled(c.Rank()), next(c))
		both.Go(func() { err = send.Wait(ctx) })
		recv := fast.StartRecv(ctx, c, in, previous(c))
		both.Wait()
		return errors.Join(err, recv.Wait(ctx), isFrom(in, previous(c)))
	}},
	{"a receive stays while a thousand messages pass", func(ctx context.Context, c *fast.Comm, _ []chan struct{}) error {
		last, x := []int32{0}, []int32{0}
		stays := fast.StartRecv(ctx, c, last, previous(c))
		for i := range int32(1000) {
			x[0] = i
			h := fast.StartSend(ctx, c, x, previous(c))
			in := []int32{-1}
			if err := errors.Join(fast.Recv(ctx, c, in, next(c)), h.Wait(ctx)); err != nil || in[0] != i {
				return fmt.Errorf("message %d: got %v: %w", i, in, err)
			}
		}
		err := errors.Join(fast.Send(ctx, c, []int32{7}, next(c)), stays.Wait(ctx))
		if last[0] != 7 {
			err = errors.Join(err, fmt.Errorf("got %v", last))
		}
		return err
	}},
}

// filled returns many elements that say which rank they are of.
func filled(rank int) []int32 { return slices.Repeat([]int32{int32(rank)}, 1<<18) }

// isFrom returns an error unless x is what filled returns.
func isFrom(x []int32, rank int) error {
	if i := slices.IndexFunc(x, func(v int32) bool { return v != int32(rank) }); i >= 0 {
		return fmt.Errorf("element %d is %d, want %d", i, x[i], rank)
	}
	return nil
}

// await waits until c is closed.
func await(ctx context.Context, c <-chan struct{}) error {
	select {
	case <-c:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TestStartedProgress: started sends and receives begin at once, and end while their rank does something else.
func TestStartedProgress(t *testing.T) {
	for _, w := range worlds {
		for _, p := range progressing {
			t.Run(w.Name+"/"+p.what, func(t *testing.T) {
				all, told := w.Comms(t, 3), []chan struct{}{}
				defer fasttest.CloseAll(t, all)
				for range all {
					told = append(told, make(chan struct{}))
				}
				ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
				defer cancel()
				fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
					return errors.Join(p.run(ctx, c, told), fast.Barrier(ctx, c))
				}))
			})
		}
	}
}
