package colltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// performance is a list of trials, and how the ranks of a world perform them.
type performance struct {
	trials  []*trial
	entered [][]atomic.Bool // by trial and rank: the rank has begun
	left    [][]atomic.Bool
	after   [][][]byte // by trial and rank: Memory after the call
	cannot  [][]bool   // by trial and rank: the rank has left the call out

	direct   bool          // calls work on Memory itself
	failed   chan struct{} // closed when there is a problem
	mu       sync.Mutex
	problems []Problem
}

func newPerformance(trials []*trial, direct bool) *performance {
	p := &performance{trials: trials, direct: direct, failed: make(chan struct{})}
	for _, t := range trials {
		p.entered = append(p.entered, make([]atomic.Bool, len(t.calls)))
		p.left = append(p.left, make([]atomic.Bool, len(t.calls)))
		p.after = append(p.after, make([][]byte, len(t.calls)))
		p.cannot = append(p.cannot, make([]bool, len(t.calls)))
	}
	return p
}

// grace is the time that a call has to return after its context has ended, and that other ranks have after one has
// failed.
const grace = time.Second

// in makes the calls in w. It returns the problems of calls that failed or did not end; if there are none, it has
// filled in after.
func (p *performance) in(ctx context.Context, w World, patience time.Duration) []Problem {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	over := make(chan struct{})
	var ranks sync.WaitGroup
	for rank := range p.trials[0].calls {
		ranks.Go(func() { p.rank(ctx, w, rank) })
	}
	go func() {
		ranks.Wait()
		close(over)
	}()
	grace := min(grace, patience)
	select {
	case <-over:
		return p.reported()
	case <-p.failed:
		if found := p.reported(); ctx.Err() == nil {
			if waitFor(over, grace); ctx.Err() == nil { // the others may hang
				found = p.reported()
			}
			cancel()
			waitFor(over, grace)
			return found
		}
	case <-ctx.Done():
	}
	waitFor(over, grace)
	if found := p.reported(); len(found) > 0 && ctx.Err() != context.DeadlineExceeded {
		return found
	}
	return []Problem{{Kind: Hang, Rank: -1, Text: fmt.Sprintf("%s after %v", p.inside(), patience)}}
}

func waitFor(over <-chan struct{}, most time.Duration) {
	select {
	case <-over:
	case <-time.After(most):
	}
}

// rank makes one rank's part of all trials. It stops after an error, after which the state of the rank is unknown.
func (p *performance) rank(ctx context.Context, w World, rank int) {
	for i, t := range p.trials {
		if t.calls[rank] == nil {
			continue
		}
		if t.step.Delay > 0 && t.step.Late == rank {
			time.Sleep(t.step.Delay)
		}
		c := t.calls[rank].Clone()
		unwatch := func() bool { return false }
		if p.direct && !c.InPlace && len(c.In()) > 0 && t.step.Values.Seed%4 == 0 {
			unwatch = watch(ctx, c.In(), t.calls[rank].In())
		}
		p.entered[i][rank].Store(true)
		err := call(ctx, w, rank, c)
		early := p.absent(i, rank)
		if unwatch() {
			p.report(Problem{Kind: Stray, Step: i, Rank: rank, Text: "its input was changed during the call"})
		}
		p.left[i][rank].Store(err == nil || ctx.Err() == nil) // a rank that ctx had to end was inside
		p.after[i][rank] = bytes.Clone(c.Memory)
		if p.direct && err == nil { // the memory is the caller's again, and nobody may read it or write to it
			for j := range c.Memory {
				c.Memory[j] ^= 0xff
			}
		}
		if errors.Is(err, ErrCannot) {
			p.cannot[i][rank] = true
			continue
		}
		if err != nil {
			p.report(Problem{Kind: Erred, Step: i, Rank: rank, Text: "error: " + err.Error()})
			return
		}
		if len(early) > 0 {
			p.report(Problem{Kind: Early, Step: i, Rank: rank, Text: fmt.Sprintf("it has left before ranks %v had come", early)})
		}
	}
}

// call makes a call, and returns a panic of the implementation as an error.
func call(ctx context.Context, w World, rank int, c *Call) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("panic: %v\n%s", x, debug.Stack())
		}
	}()
	return w.Call(ctx, rank, c)
}

// absent returns the ranks that this rank must have met, and that have not begun the call.
func (p *performance) absent(i, rank int) (absent []int) {
	for _, q := range p.trials[i].x.Ranks[rank].Entered {
		if !p.entered[i][q].Load() {
			absent = append(absent, q)
		}
	}
	return absent
}

func (p *performance) report(problem Problem) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.problems) == 0 {
		close(p.failed)
	}
	p.problems = append(p.problems, problem)
}

func (p *performance) reported() []Problem {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.problems)
}

// inside returns in words which ranks are in which call.
func (p *performance) inside() string {
	for i, t := range p.trials {
		var inside, outside []int
		for rank, c := range t.calls {
			switch {
			case c == nil || p.left[i][rank].Load():
			case p.entered[i][rank].Load():
				inside = append(inside, rank)
			default:
				outside = append(outside, rank)
			}
		}
		if len(inside) > 0 {
			text := fmt.Sprintf("ranks %v are still in call %d", inside, i+1)
			if len(outside) > 0 {
				text += fmt.Sprintf(", and ranks %v have not come to it", outside)
			}
			return text
		}
	}
	return "no rank is in a call, and yet the calls are not over"
}

// results returns the problems with the memory that the performance has left.
func (p *performance) results(counts *Counts) (found []Problem) {
	for i, t := range p.trials {
		problems := p.leftOut(i, counts)
		if len(problems) == 0 && !slices.Contains(p.cannot[i], true) {
			problems = t.problems(p.after[i], counts)
		}
		for _, problem := range problems {
			problem.Step = i
			found = append(found, problem)
		}
	}
	if len(found) == 0 {
		found = p.changes()
	}
	return found
}

// leftOut counts a call that the ranks have left out. It is a problem if some of them have not.
func (p *performance) leftOut(i int, counts *Counts) []Problem {
	if !slices.Contains(p.cannot[i], true) {
		return nil
	}
	counts.Cannot++
	for rank, cannot := range p.cannot[i] {
		if !cannot && p.trials[i].calls[rank] != nil {
			return []Problem{{Kind: Erred, Rank: rank, Text: "it has made the call, and other ranks say that they cannot"}}
		}
	}
	return nil
}

// changes returns the calls whose results differ from those of the same call before: late ranks make no difference.
func (p *performance) changes() (found []Problem) {
	first := map[string]int{} // index, by the call
	for i, t := range p.trials {
		name := t.name
		other, known := first[name]
		switch {
		case slices.Contains(p.cannot[i], true):
			continue
		case !known:
			first[name] = i
			continue
		}
		for rank := range t.calls {
			if text := t.change(rank, p.after[other][rank], p.after[i][rank]); text != "" {
				found = append(found, Problem{Kind: Disagree, Step: i, Rank: rank, Text: fmt.Sprintf(
					"call %d, which was the same, has given other bits: %s", other+1, text)})
			}
		}
	}
	return found
}
