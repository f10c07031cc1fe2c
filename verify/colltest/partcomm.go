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
		err := guarded(func() error {
			return r.w.(Splitter).Split(ctx, r.rank, r.comm(comm), s.Colors[r.rank], s.Keys[r.rank])
		})
		if err != nil {
			r.report(Problem{Kind: Erred, Rank: r.rank, Text: fmt.Sprintf("error: split into communicator %d: %v", comm, err)})
			return false
		}
	}
	r.does[r.rank].Store(call)
	return true
}

// splitFor makes the communicator of a trial, if it is made in between and this is the rank's first trial on it.
func (r *part) splitFor(ctx context.Context, i int) bool {
	comm := r.trials[i].step.Comm
	if comm == 0 || !r.c.Comms[comm-1].Between || r.has[comm] {
		return true
	}
	r.has[comm] = true
	return r.split(ctx, []int{comm})
}

// comm returns the number by which the world knows a communicator of the case: cases do not share any.
func (r *part) comm(number int) int {
	if number == 0 {
		return 0
	}
	return r.comms + number
}

// free frees some communicators of the case.
func (r *part) free(ctx context.Context, comms []int) bool {
	return r.freeing(func() (err error) {
		for _, comm := range comms {
			if r.c.Comms[comm-1].Colors[r.rank] >= 0 {
				err = errors.Join(err, guarded(func() error { return r.w.(Splitter).Free(ctx, r.rank, r.comm(comm)) }))
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
