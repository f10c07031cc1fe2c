package colltest

import (
	"context"
	"errors"
	"fmt"
)

// around returns the communicators that are made before the first call and freed after the last one.
func (r *part) around() (comms []int) {
	for i := range r.c.Comms {
		if !r.c.Comms[i].Between {
			comms = append(comms, i+1)
		}
	}
	return comms
}

// split makes some communicators of the case.
func (r *part) split(ctx context.Context, comms []int) bool {
	r.does[r.rank].Store(split)
	for _, comm := range comms {
		s := &r.c.Comms[comm-1]
		r.numbers[comm] = r.comms + 1 + len(r.numbers)
		err := guarded(func() error {
			return r.w.(Splitter).Split(ctx, r.rank, r.numbers[comm], s.Colors[r.rank], s.Keys[r.rank])
		})
		if err != nil {
			r.report(Problem{Kind: Erred, Rank: r.rank, Text: fmt.Sprintf("error: split into communicator %d: %v", comm, err)})
			return false
		}
	}
	r.does[r.rank].Store(call)
	return true
}

// splitFor makes the communicator of a trial, unless it was made before.
func (r *part) splitFor(ctx context.Context, i int) bool {
	comm := r.trials[i].step.Comm
	if comm == 0 || r.numbers[comm] > 0 {
		return true
	}
	return r.split(ctx, []int{comm})
}

// free frees some communicators of the case.
func (r *part) free(ctx context.Context, comms []int) bool {
	return r.freeing(func() (err error) {
		for _, comm := range comms {
			if r.c.Comms[comm-1].Colors[r.rank] >= 0 {
				err = errors.Join(err, guarded(func() error { return r.w.(Splitter).Free(ctx, r.rank, r.numbers[comm]) }))
			}
		}
		return err
	})
}

// freeing has f free something, and reports whether that was without an error.
func (r *part) freeing(f func() error) bool {
	r.does[r.rank].Store(free)
	if err := guarded(f); err != nil {
		r.report(Problem{Kind: Erred, Rank: r.rank, Text: "error: when the calls were over: " + err.Error()})
		return false
	}
	r.does[r.rank].Store(call)
	return true
}
