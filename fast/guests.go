package fast

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/agree"
)

// receive waits for the processes that this rank has invited, if any, and tells all processes of the job who they are.
func (w *growing) receive(ctx context.Context) error {
	w.c.agreements.mu.Lock()
	w.newcomers = slices.Clone(w.c.agreements.invited)
	w.c.agreements.mu.Unlock()
	if len(w.newcomers) > 0 {
		w.call = agree.Invite
	}
	for i, newcomer := range w.newcomers {
		card, err := w.plane.Await(ctx, newcomer)
		if err != nil {
			return w.missed(ctx, i, err)
		}
		announce(w.plane, newcomer, slices.Max(w.newcomers), card)
	}
	return nil
}

// missed is the error of the i-th newcomer, which did not come because of err. One that is down will never come.
func (w *growing) missed(ctx context.Context, i int, err error) error {
	rank := w.c.size + i // that it was to get
	if ctx.Err() != nil {
		return &TimeoutError{Waiting: []int{rank}, Err: context.Cause(ctx)}
	}
	w.c.agreements.dismiss(w.newcomers[i : i+1])
	return &PeerError{Rank: rank, Err: err}
}
