package verify_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/collgen/collgen/fast"
)

// perform makes a process's part of a program on comms, one for each division. The results are by the calls' numbers.
func perform(ctx context.Context, comms []*fast.Comm, p *processProgram) map[int]rankResult {
	ended := make([][]*running, len(comms))
	if p.Batch {
		ended[0] = performTogether(ctx, comms, p)
	} else {
		var performs sync.WaitGroup
		for division := range comms {
			performs.Go(func() { ended[division] = performIn(ctx, division, comms, p) })
		}
		performs.Wait()
	}
	results := map[int]rankResult{}
	for _, r := range slices.Concat(ended...) {
		for i, b := range r.buffers {
			results[r.step.Parts[i].Number] = b.result(r.err)
			b.release()
		}
	}
	return results
}

// performTogether starts all steps in one batch of all communicators.
func performTogether(ctx context.Context, comms []*fast.Comm, p *processProgram) (all []*running) {
	others := slices.DeleteFunc(slices.Clone(comms[1:]), func(c *fast.Comm) bool { return c == nil })
	_ = comms[0].Batch(func() error {
		for i := range p.Steps {
			all = append(all, begin(ctx, comms, &p.Steps[i]))
		}
		return nil
	}, others...)
	return end(ctx, all, p.Backwards)
}

// performIn makes the steps of one communicator.
func performIn(ctx context.Context, division int, comms []*fast.Comm, p *processProgram) (all []*running) {
	for i := range p.Steps {
		if p.Steps[i].Division == division {
			all = append(all, begin(ctx, comms, &p.Steps[i]))
		}
	}
	return end(ctx, all, p.Backwards)
}

// running is a step that has begun.
type running struct {
	step    *step
	buffers []rankBuffers // of its parts
	handle  *fast.Handle  // nil: it was not started
	err     error
}

func begin(ctx context.Context, comms []*fast.Comm, s *step) *running {
	r := &running{step: s}
	for i := range s.Parts {
		x := &s.Parts[i].Call
		r.buffers = append(r.buffers, elements[x.Type].arrange(ctx, comms[s.Division], x))
	}
	var receive rankBuffers
	if len(r.buffers) > 1 {
		receive = r.buffers[1]
	}
	time.Sleep(s.Parts[0].Call.Delay)
	r.handle, r.err = r.buffers[0].invoke(ctx, s.Form != blocking, receive)
	if s.Form == waited {
		r.err = r.handle.Wait(ctx)
	}
	return r
}

// end waits for what was started.
func end(ctx context.Context, all []*running, backwards bool) []*running {
	if backwards {
		slices.Reverse(all)
	}
	for _, r := range all {
		if r.handle != nil {
			r.err = r.handle.Wait(ctx)
		}
	}
	return all
}
