package colltest

import (
	"context"
	"slices"
)

// again starts a persistent call, which it prepares if it is the first time.
func (r *part) again(ctx context.Context, i int) bool {
	first := r.trials[i].first
	p, is := r.prepared[first]
	if !is && !r.closeOver(ctx, first) {
		return false
	}
	if !is {
		p.c = r.copied(i)
		err := guarded(func() (err error) {
			p.Prepared, err = r.w.(Preparer).Prepare(ctx, r.rank, p.c)
			return err
		})
		if err != nil {
			return r.leave(ctx, r.enter(ctx, i, p.c), err)
		}
		r.prepared[first] = p
	}
	before := slices.IndexFunc(r.open, func(o opened) bool { return r.trials[o.trial].first == first })
	if before >= 0 && !r.wait(ctx, before) {
		return false
	}
	copy(p.c.Memory, r.trials[i].calls[r.trials[i].place(r.rank)].Memory)
	o := r.enter(ctx, i, p.c)
	err := guarded(func() error {
		o.wait = p.Start(ctx)
		return nil
	})
	if err != nil {
		return r.leave(ctx, o, err)
	}
	r.opens(o)
	return true
}

// closeOver waits for the persistent calls that are made no more, so that they are closed before the next one is
// prepared. This is for those of which ranks do not choose the order, and which they wait for before the end.
func (r *part) closeOver(ctx context.Context, next *trial) bool {
	for i := 0; i < len(r.open) && r.random != nil && r.c.Order%2 == 0; {
		t := r.trials[r.open[i].trial]
		if t.first.last != t || t.step.Mode != Persistent || isMessage(t) || isMessage(next) {
			i++
		} else if !r.wait(ctx, i) {
			return false
		}
	}
	return true
}
