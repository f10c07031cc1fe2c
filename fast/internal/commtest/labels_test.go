package commtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// misuses are programs whose ranks disagree, by what is wrong with them. All of their calls have labels. They begin
// with a step that is right.
var misuses = map[string]func(ctx context.Context, c, d *fast.Comm, step int) error{
	"two calls are swapped": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		return inOrder(ctx, c, swapped(c, step, "first", "second")...)
	},
	"a call is missing": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		names := []string{"first", "second", "third"}
		if step > 0 && c.Rank() == 1 {
			names = []string{"first", "third"}
		}
		return inOrder(ctx, c, names...)
	},
	"a call is repeated": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		names := []string{"first", "second"}
		if step > 0 && c.Rank() == 1 {
			names = []string{"first", "first", "second"}
		}
		return inOrder(ctx, c, names...)
	},
	"a collective in one branch": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		if step > 0 && c.Rank() == 0 {
			if err := inOrder(ctx, c, "norm"); err != nil {
				return err
			}
		}
		return inOrder(ctx, c, "weights")
	},
	"another root": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		return fast.Broadcast(ctx, c, make([]float32, 3), min(step, 1)*c.Rank(), fast.WithLabel("weights"))
	},
	"another type": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		if step > 0 && c.Rank() == 1 {
			return fast.AllReduce(ctx, c, make([]int32, 3), fast.Sum, fast.WithLabel("weights"))
		}
		return fast.AllReduce(ctx, c, make([]float32, 3), fast.Sum, fast.WithLabel("weights"))
	},
	"another length": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		return fast.AllReduce(ctx, c, make([]float32, 3+step*c.Rank()), fast.Sum, fast.WithLabel("weights"))
	},
	"a label on one rank": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		if step > 0 && c.Rank() == 1 {
			return fast.AllReduce(ctx, c, make([]float32, 3), fast.Sum)
		}
		return fast.AllReduce(ctx, c, make([]float32, 3), fast.Sum, fast.WithLabel("weights"))
	},
	"sends are swapped": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		for _, name := range swapped(c, step, "first", "second") {
			var err error
			if c.Rank() == 0 {
				err = fast.Send(ctx, c, make([]int64, 5), 1, fast.WithLabel(name))
			} else {
				err = fast.Recv(ctx, c, make([]int64, 5), 0, fast.WithLabel(name))
			}
			if err != nil {
				return err
			}
		}
		return inOrder(ctx, c, "end")
	},
	"sends and receives at once are swapped": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		other := 1 - c.Rank()
		for _, name := range swapped(c, step, "first", "second") {
			if err := fast.SendRecv(ctx, c, make([]int64, 5), other, make([]int64, 5), other,
				fast.WithLabel(name)); err != nil {
				return err
			}
		}
		return inOrder(ctx, c, "end")
	},
	"sends that are started together are swapped": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		var handles []*fast.Handle
		for _, name := range append([]string{"zeroth"}, swapped(c, step, "first", "second")...) {
			if c.Rank() == 0 {
				handles = append(handles, fast.StartSend(ctx, c, make([]int64, 5), 1, fast.WithLabel(name)))
			} else {
				handles = append(handles, fast.StartRecv(ctx, c, make([]int64, 5), 0, fast.WithLabel(name)))
			}
		}
		for _, h := range handles {
			if err := h.Wait(ctx); err != nil {
				return err
			}
		}
		return inOrder(ctx, c, "end")
	},
	"calls of uneven blocks are swapped": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		for _, name := range swapped(c, step, "first", "second") {
			if err := fast.AllGatherV(ctx, c, make([]float32, 5), fast.Blocks{Counts: []int{2, 3}},
				fast.WithLabel(name)); err != nil {
				return err
			}
		}
		return nil
	},
	"barriers are swapped": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		for _, name := range swapped(c, step, "first", "second") {
			if err := fast.Barrier(ctx, c, fast.WithLabel(name)); err != nil {
				return err
			}
		}
		return nil
	},
	"started calls are swapped": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		for _, name := range swapped(c, step, "first", "second") {
			if err := fast.StartBroadcast(ctx, c, make([]float32, 5), 0, fast.WithLabel(name)).Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	},
	"tensors that go alone, in another order": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		return inBucketOf(ctx, c, 4, swapped(c, step, "embedding", "head")...)
	},
	"a bucket in another order": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		return inBucket(ctx, c, swapped(c, step, "embedding", "head")...)
	},
	"a tensor is skipped": func(ctx context.Context, c, _ *fast.Comm, step int) error {
		if step > 0 && c.Rank() == 1 {
			return inBucket(ctx, c, "embedding", "head")
		}
		return inBucket(ctx, c, "embedding", "frozen", "head")
	},
	"goroutines in the order of a mutex": func(ctx context.Context, c, d *fast.Comm, step int) error {
		turn := make(chan struct{}, 1) // what a mutex gives to one of them first
		turn <- struct{}{}
		all := make(chan error, 2)
		for _, name := range swapped(c, step, "loss", "accuracy") {
			<-turn
			go func() {
				err := inOrder(ctx, c, name)
				turn <- struct{}{}
				all <- err
			}()
		}
		return errors.Join(<-all, <-all)
	},
	exchanged: func(ctx context.Context, c, d *fast.Comm, step int) error {
		if step > 0 { // which only a context ends
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Second/2)
			defer cancel()
		}
		if step > 0 && c.Rank() == 1 {
			c, d = d, c
		}
		if err := inOrder(ctx, c, "loss"); err != nil {
			return err
		}
		return inOrder(ctx, d, "accuracy")
	},
}

const exchanged = "two communicators are exchanged"

// swapped returns names; for rank 1, after the first step, the other way round.
func swapped(c *fast.Comm, step int, first, second string) []string {
	if step > 0 && c.Rank() == 1 {
		return []string{second, first}
	}
	return []string{first, second}
}

// inOrder makes an all-reduce of one form for each label.
func inOrder(ctx context.Context, c *fast.Comm, labels ...string) error {
	for _, label := range labels {
		if err := fast.AllReduce(ctx, c, make([]float32, 4), fast.Sum, fast.WithLabel(label)); err != nil {
			return err
		}
	}
	return nil
}

// inBucket reduces a tensor of the same length for each label, all of them in one call.
func inBucket(ctx context.Context, c *fast.Comm, labels ...string) error {
	return inBucketOf(ctx, c, 1000, labels...)
}

// inBucketOf reduces a tensor of 16 bytes for each label, in a bucket of so many bytes.
func inBucketOf(ctx context.Context, c *fast.Comm, bytes int, labels ...string) error {
	b, err := fast.NewBucket[float32](c, fast.Sum, bytes)
	if err != nil {
		return err
	}
	for _, label := range labels {
		if err := b.Add(ctx, make([]float32, 4), fast.WithLabel(label)); err != nil {
			return err
		}
	}
	return b.Wait(ctx)
}

// TestMisuses: every rank of a program whose ranks disagree gets an error with a label, in the step in which they do
// or, where nothing of the call depends on the other rank, the one after; no data is wrong in silence.
func TestMisuses(t *testing.T) {
	for _, w := range worlds {
		for name, step := range misuses {
			t.Run(w.Name+"/"+name, func(t *testing.T) {
				all := w.Comms(t, 2)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
					defer c.Close()
					d, err := c.Dup(ctx)
					if err != nil {
						return err
					}
					defer d.Close()
					if err := step(ctx, c, d, 0); err != nil {
						return fmt.Errorf("before they disagree: %w", err)
					}
					if err := step(ctx, c, d, 1); err != nil {
						return err
					}
					return inOrder(ctx, c, "the next step")
				}) {
					found := errors.As(err, new(*fast.MismatchError))
					if name == exchanged {
						found = errors.As(err, new(*fast.TimeoutError)) || errors.As(err, new(*fast.PeerError))
					}
					if !found || !strings.Contains(err.Error(), `"`) || strings.Contains(err.Error(), "before they disagree") {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			})
		}
	}
}
