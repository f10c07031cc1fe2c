package quantized

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/inproc"
)

// TestRefused: a call with wrong arguments is refused before anything is sent, and does no harm.
func TestRefused(t *testing.T) {
	for size := 1; size <= 3; size++ {
		if err := fast.Run(t.Context(), size, func(ctx context.Context, c *fast.Comm) error {
			q, err := New(c, Options{})
			if err != nil {
				return err
			}
			buf := make([]float32, 8)
			var none context.Context
			for _, err := range []error{
				made().into(ctx, nil, buf, buf, fast.Sum), made().into(ctx, new(Comm), buf, buf, fast.Sum),
				made().into(ctx, q, buf, buf, fast.Max), made().into(ctx, q, buf, buf, 0),
				made().into(ctx, q, buf[1:], buf, fast.Sum), made().into(ctx, q, buf[1:], buf[:7], fast.Sum),
				made().into(none, q, buf, buf, fast.Sum),
			} {
				if !errors.Is(err, fast.ErrInvalidArgument) {
					t.Errorf("%d ranks: %v", size, err)
				}
			}
			ended, end := context.WithCancel(ctx)
			end()
			if err := AllReduce(ended, q, buf, fast.Sum); !errors.Is(err, context.Canceled) {
				t.Errorf("%d ranks, without time: %v", size, err)
			}
			return AllReduce(ctx, q, buf, fast.Sum)
		}); err != nil {
			t.Errorf("%d ranks: %v", size, err)
		}
	}
}

// TestNewRefuses options that there are not.
func TestNewRefuses(t *testing.T) {
	if err := fast.Run(t.Context(), 1, func(_ context.Context, c *fast.Comm) error {
		for _, o := range []Options{{Format: 3}, {Block: -1}, {Block: 15}, {Block: 1<<16 + 1}} {
			if _, err := New(c, o); !errors.Is(err, fast.ErrInvalidArgument) {
				t.Errorf("%v: %v", o, err)
			}
		}
		if _, err := New(nil, Options{}); !errors.Is(err, fast.ErrInvalidArgument) {
			t.Error(err)
		}
		for _, o := range []Options{{}, {Block: 16}, {Float8E5M2, 1 << 16}} {
			if _, err := New(c, o); err != nil {
				t.Error(err)
			}
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestNames: formats and options say what they are.
func TestNames(t *testing.T) {
	for want, got := range map[string]string{"int8/256": Options{}.String(), "e4m3/16": Options{1, 16}.String(),
		"float8e5m2": Float8E5M2.String(), "format(3)": Format(3).String()} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestConcurrentUse: a second call at the same time is refused, and the first one goes on.
func TestConcurrentUse(t *testing.T) {
	if err := fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
		q, err := New(c, Options{})
		if err != nil {
			return err
		}
		buf := make([]float32, 8)
		changed, tries := *q.format, 0
		right := changed.round
		changed.round = func(codes []byte, x []float32, by float32) {
			tries++
			if err := AllReduce(ctx, q, slices.Clone(buf), fast.Sum); !errors.Is(err, fast.ErrConcurrentUse) {
				t.Error(err)
			}
			right(codes, x, by)
		}
		q.format = &changed
		err = errors.Join(AllReduce(ctx, q, buf, fast.Sum), AllReduce(ctx, q, buf, fast.Sum))
		if tries != 2 {
			t.Errorf("%d other calls on rank %d, want 2", tries, c.Rank())
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestMismatches: ranks that call with another format, block, op, length or label, or make another call, are found, and
// the call ends on all ranks with an error that says so.
func TestMismatches(t *testing.T) {
	ctx := t.Context()
	call := func(c *fast.Comm, o Options, count int, op fast.Op, opts ...fast.Option) error {
		q, err := New(c, o)
		if err != nil {
			return err
		}
		return AllReduce(ctx, q, make([]float32, count), op, opts...)
	}
	for name, odd := range map[string]func(c *fast.Comm) error{
		"format":          func(c *fast.Comm) error { return call(c, Options{Format: Float8E4M3}, 1000, fast.Sum) },
		"block":           func(c *fast.Comm) error { return call(c, Options{Block: 255}, 1000, fast.Sum) },
		"op":              func(c *fast.Comm) error { return call(c, Options{}, 1000, fast.Avg) },
		"one more":        func(c *fast.Comm) error { return call(c, Options{}, 1001, fast.Sum) },
		"one less":        func(c *fast.Comm) error { return call(c, Options{}, 999, fast.Sum) },
		"none":            func(c *fast.Comm) error { return call(c, Options{}, 0, fast.Sum) },
		"a share of them": func(c *fast.Comm) error { return call(c, Options{}, 256, fast.Sum) },
		"label":           func(c *fast.Comm) error { return call(c, Options{}, 1000, fast.Sum, fast.WithLabel("x")) },
		"not quantized":   func(c *fast.Comm) error { return fast.AllReduce(ctx, c, make([]float32, 1000), fast.Sum) },
	} {
		for rank := range 3 {
			all := fasttest.Goroutines[*fast.Comm](t, 3, []fast.InitOption(nil)...)
			for r, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
				if c.Rank() == rank {
					return odd(c)
				}
				return call(c, Options{}, 1000, fast.Sum)
			}) {
				if !errors.As(err, new(*fast.MismatchError)) || !slices.Contains(fast.Culprits(err), rank) && r != rank {
					t.Errorf("%s of rank %d: rank %d: %v", name, rank, r, err)
				}
			}
			fasttest.CloseAll(t, all)
		}
	}
}

// TestBetween: if a rank's context ends after the first of the two calls, the others learn of it.
func TestBetween(t *testing.T) {
	all := fasttest.Goroutines[*fast.Comm](t, 3, []fast.InitOption(nil)...)
	life, end := context.WithCancel(t.Context())
	for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
		q, err := New(c, Options{})
		if err != nil {
			return err
		}
		ctx := t.Context()
		if c.Rank() == 1 {
			ctx = life
			changed := *q.format // which quantizes sums between the calls
			right, blocks := changed.round, 0
			changed.round = func(codes []byte, x []float32, by float32) {
				if blocks++; blocks == 3 { // after those for both other ranks
					end()
				}
				right(codes, x, by)
			}
			q.format = &changed
		}
		return AllReduce(ctx, q, make([]float32, 3*DefaultBlock), fast.Sum)
	}) {
		if !errors.Is(err, fasttest.Unless(rank == 1, fast.ErrAborted, context.Canceled)) {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	fasttest.CloseAll(t, all)
}

// TestDeath: when a rank dies, the call ends on all others, with an error that names it.
func TestDeath(t *testing.T) {
	const size = 4
	for victim := range size {
		job := inproc.NewJob(size)
		all := fasttest.Begin(t, size, func(rank int) (*fast.Comm, error) {
			c, err := access.Fast.Goroutine(job.Plane(rank), size, []fast.InitOption(nil))
			return c.(*fast.Comm), err
		})
		life, end := context.WithCancel(t.Context())
		var rounds atomic.Int64
		for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
			q, err := New(c, Options{})
			if err != nil {
				return err
			}
			ctx := fasttest.Unless(c.Rank() == victim, t.Context(), life)
			for {
				if err := AllReduce(ctx, q, make([]float32, 4099), fast.Sum); err != nil {
					return err
				}
				if c.Rank() == victim && rounds.Add(1) == 3 {
					go func() {
						job.Plane(victim).End(fast.ErrDied)
						end()
					}()
				}
			}
		}) {
			var peer *fast.PeerError
			if rank != victim && (!errors.As(err, &peer) || peer.Rank != victim || !errors.Is(err, fast.ErrDied)) {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
		fasttest.CloseAll(t, all)
	}
}
