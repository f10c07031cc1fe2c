package verify_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/neighbor"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// TestConform: package fast does what the specifications say, by the tests that any implementation can be put to. The
// other tests of this package know more: the algorithms, the bits of their sums, and other ways to make calls.
func TestConform(t *testing.T) {
	colltest.Run(t, conform{[]int{1, 2, 3, 4, 5, 6, 7, 8}, spec.Types(), fast.Run})
}

// conform is fast as colltest takes it: ranks of those sizes, which run starts as fast.Run does, and those types.
type conform struct {
	sizes []int
	types []spec.Type
	run   func(ctx context.Context, size int, rank func(ctx context.Context, c *fast.Comm) error,
		opts ...fast.InitOption) error
}

func (f conform) Capabilities() colltest.Capabilities {
	can := colltest.All("fast", f.sizes...)
	can.Types = f.types
	for i := range can.Primitives {
		p := &can.Primitives[i]
		p.Uneven = p.Primitive.IsUneven() || p.Primitive.Name == colltest.NeighborAllToAll.Name
		p.Displaced = p.Uneven
	}
	return can
}

func (f conform) Start(_ context.Context, size int) (colltest.World, error) {
	w := &conformWorld{over: make(chan error, 1)}
	for range size {
		w.ranks = append(w.ranks, &conformRank{make(chan func()), map[int]*fast.Comm{}, map[int]*neighbor.Graph{}})
	}
	go func() {
		w.over <- f.run(context.Background(), size, func(ctx context.Context, c *fast.Comm) error {
			r := w.ranks[c.Rank()]
			err := r.use(ctx, 0, c)
			for f := range r.do {
				f()
			}
			return err
		})
	}()
	return w, nil
}

// conformWorld is ranks that run has started.
type conformWorld struct {
	ranks []*conformRank
	over  chan error
}

func (w *conformWorld) Close() error {
	for _, r := range w.ranks {
		close(r.do)
	}
	return <-w.over
}

func (w *conformWorld) Call(ctx context.Context, rank int, c *colltest.Call) error {
	return w.ranks[rank].on(func(r *conformRank) error {
		_, err := r.invoke(ctx, c, false)
		return err
	})
}

// Start starts calls, several of them as a batch.
func (w *conformWorld) Start(ctx context.Context, rank int, calls ...*colltest.Call) (waits []colltest.Wait) {
	r := w.ranks[rank]
	all := func(r *conformRank) error {
		for _, c := range calls {
			h, err := r.invoke(ctx, c, true)
			waits = append(waits, func(ctx context.Context) error {
				return r.on(func(*conformRank) error {
					if err != nil {
						return err
					}
					return h.Wait(ctx)
				})
			})
		}
		return nil
	}
	_ = r.on(func(r *conformRank) error {
		if len(calls) == 1 {
			return all(r)
		}
		var others []*fast.Comm
		for number, c := range r.comms {
			if number > 0 {
				others = append(others, c)
			}
		}
		return r.comms[0].Batch(func() error { return all(r) }, others...)
	})
	return waits
}

// Prepare prepares a call.
func (w *conformWorld) Prepare(ctx context.Context, rank int, c *colltest.Call) (p colltest.Prepared, err error) {
	r := w.ranks[rank]
	err = r.on(func(r *conformRank) error {
		if strings.HasPrefix(c.Primitive, "Neighbor") || c.Tag > 0 {
			return colltest.ErrCannot
		}
		prepared, err := r.comms[c.Comm].Prepare(func(opt fast.Option) error {
			x := ofConform(c)
			x.options = []fast.Option{opt}
			_, err := elements[c.Type].over(r.comms[c.Comm], x).invoke(ctx, false, nil)
			return err
		})
		p = conformPrepared{prepared, r}
		return err
	})
	return p, err
}

// conformPrepared is a call that was prepared.
type conformPrepared struct {
	*fast.Persistent
	r *conformRank
}

func (p conformPrepared) Start(ctx context.Context) colltest.Wait {
	err := p.r.on(func(*conformRank) error { return p.Persistent.Start(ctx) })
	return func(ctx context.Context) error {
		return p.r.on(func(*conformRank) error {
			if err != nil {
				return err
			}
			return p.Wait(ctx)
		})
	}
}

func (p conformPrepared) Close() error { return nil }

// Split makes a communicator.
func (w *conformWorld) Split(ctx context.Context, rank, comm, color, key int) error {
	return w.ranks[rank].on(func(r *conformRank) (err error) {
		c, err := r.comms[0].Split(ctx, color, key)
		if err != nil || c == nil {
			return err
		}
		return r.use(ctx, comm, c)
	})
}

// Free closes a communicator.
func (w *conformWorld) Free(_ context.Context, rank, comm int) error {
	return w.ranks[rank].on(func(r *conformRank) error {
		c := r.comms[comm]
		delete(r.comms, comm)
		delete(r.rings, comm)
		return c.Close()
	})
}

// conformRank is a rank that does what comes through a channel.
type conformRank struct {
	do    chan func()
	comms map[int]*fast.Comm // by number
	rings map[int]*neighbor.Graph
}

// use gives a communicator its number, and makes the ring of its ranks.
func (r *conformRank) use(ctx context.Context, number int, c *fast.Comm) error {
	ring, err := neighbor.NewGrid(ctx, c, []int{c.Size()}, []bool{true})
	if err != nil {
		return err
	}
	r.comms[number], r.rings[number] = c, ring.Graph
	return nil
}

// on has the rank call f.
func (r *conformRank) on(f func(r *conformRank) error) error {
	over := make(chan error, 1)
	r.do <- func() { over <- f(r) }
	return <-over
}

// composed is colltest.Compose, as a user of fast declares it.
var composed = func() fast.Op {
	op, err := fast.NewOp("composition", false, func(dst, a, b []uint64) {
		for i := range dst {
			dst[i] = colltest.Composed(a[i], b[i])
		}
	})
	if err != nil {
		panic(err)
	}
	return op
}()

// ofConform returns the call c with an op of fast.
func ofConform(c *colltest.Call) *rankCall {
	x := &rankCall{Call: *c}
	if x.Op == colltest.Compose {
		x.Op = composed
	}
	return x
}

// handle is a call that was started.
type handle interface {
	Wait(ctx context.Context) error
}

// invoke makes the call by the selection table, or starts it. A message with a tag is one of package message.
func (r *conformRank) invoke(ctx context.Context, c *colltest.Call, start bool) (handle, error) {
	b := elements[c.Type].over(r.comms[c.Comm], ofConform(c))
	switch {
	case c.Tag > 0:
		return b.message(ctx, start)
	case strings.HasPrefix(c.Primitive, "Neighbor"):
		return b.exchange(ctx, r.rings[c.Comm], start)
	}
	h, err := b.invoke(ctx, start, nil)
	switch {
	case err != nil:
		return nil, err
	case start != (h != nil):
		return nil, errors.New("a call has no handle, or a blocking call has one")
	}
	return h, nil
}
