package fast

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/wire"
)

// receive waits for the processes that this rank has invited, if any, and tells all processes of the job who they are.
func (w *growing) receive(ctx context.Context) error {
	w.c.agreements.mu.Lock()
	w.newcomers = slices.Clone(w.c.agreements.invited)
	w.c.agreements.mu.Unlock()
	if len(w.newcomers) == 0 {
		return nil
	}
	w.call = agree.Invite
	agent, err := w.c.agent()
	if err != nil {
		return err
	}
	whole, cancel := agent.While(ctx, nil) // without one of the ranks Grow fails, whoever comes
	defer cancel()
	whole, stop := w.c.world.record.patience().watch(whole, "Grow", "comm", w.c.name, "rank", w.c.rank, "size", w.c.size)
	defer stop()
	for i, newcomer := range w.newcomers {
		wire.Awaiting(whole, func() []int { return []int{w.c.size + i} })
		card, err := w.plane.Await(whole, newcomer)
		if err != nil {
			return w.missed(ctx, whole, i, err)
		}
		announce(w.plane, newcomer, slices.Max(w.newcomers), card)
	}
	return nil
}

// missed returns the error of the i-th newcomer, which did not come because of err: the end of ctx, or that of whole,
// when a rank is gone, this one included. A newcomer that is down will never come.
func (w *growing) missed(ctx, whole context.Context, i int, err error) error {
	rank := w.c.size + i // that it was to get
	switch {
	case ctx.Err() != nil:
		return wire.Timeout(ctx, []int{rank})
	case whole.Err() != nil:
		return context.Cause(whole)
	}
	w.c.agreements.dismiss(w.newcomers[i : i+1])
	return &PeerError{Rank: rank, Err: err}
}
