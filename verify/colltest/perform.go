package colltest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// performance is a list of trials, and how the ranks of a world perform them. What it notes of a trial is by the place
// of the rank in its communicator.
type performance struct {
	c       *Case
	comms   int // communicators that the world had before
	trials  []*trial
	entered [][]atomic.Bool // by trial and place: the rank has begun
	left    [][]atomic.Bool
	after   [][][]byte     // by trial and place: Memory after the call
	cannot  [][]bool       // by trial and place: the rank has left the call out
	refused [][]bool       // by trial and place: the rank has returned an error from a wrong call
	does    []atomic.Int32 // by rank: what it does
	makes   []int          // by trial: the communicator in between whose first call it is

	direct   bool          // calls work on Memory itself
	inTime   bool          // all ranks have returned before the time was over; run sets it when they have
	failed   chan struct{} // closed when there is a problem
	mu       sync.Mutex
	problems []Problem
}

func newPerformance(c *Case, trials []*trial, direct bool) *performance {
	p := &performance{c: c, trials: trials, does: make([]atomic.Int32, c.Size), direct: direct,
		failed: make(chan struct{})}
	p.makes = p.made()
	for _, t := range trials {
		p.entered = append(p.entered, make([]atomic.Bool, len(t.calls)))
		p.left = append(p.left, make([]atomic.Bool, len(t.calls)))
		p.after = append(p.after, make([][]byte, len(t.calls)))
		p.cannot = append(p.cannot, make([]bool, len(t.calls)))
		p.refused = append(p.refused, make([]bool, len(t.calls)))
	}
	return p
}

// grace is the time that a call has to return after its context has ended, and that other ranks have after one has
// failed.
const grace = time.Second

// run makes the calls in w. It returns the problems of calls that failed, or did not end within patience; if there are
// none, it has filled in after. Calls that did not end may go on until the time most is over: then they are stuck.
func (p *performance) run(ctx context.Context, w World, patience, most time.Duration) ([]Problem, *stuck) {
	ctx, cancel := context.WithTimeout(ctx, most)
	over, late := make(chan struct{}), make(<-chan time.Time)
	if most > patience {
		late = time.After(patience)
	}
	var ranks sync.WaitGroup
	units := p.units()
	for rank := range p.c.Size {
		ranks.Go(func() { newPart(p, w, rank).make(ctx, units) })
	}
	go func() {
		ranks.Wait()
		p.inTime = ctx.Err() == nil
		close(over)
	}()
	select {
	case <-late:
		return p.hang(patience), &stuck{p, ctx, cancel, over, most}
	case <-over:
		cancel()
		return p.reported(), nil
	case <-p.failed:
	case <-ctx.Done():
	}
	defer cancel()
	return p.failure(ctx, cancel, over, patience), nil
}

// failure returns the problems of calls of which one has failed, or whose time is over.
func (p *performance) failure(ctx context.Context, cancel func(), over <-chan struct{},
	patience time.Duration) (found []Problem) {
	grace := min(grace, patience)
	if found = p.reported(); ctx.Err() == nil {
		if waitFor(over, grace); ctx.Err() == nil { // the others may hang
			found = p.reported()
		}
		cancel()
		waitFor(over, grace)
		return found
	}
	waitFor(over, grace)
	if found = p.reported(); len(found) > 0 && ctx.Err() != context.DeadlineExceeded {
		return found
	}
	return p.hang(patience)
}

// hang returns the problem that the calls have not ended after a while.
func (p *performance) hang(after time.Duration) []Problem {
	return []Problem{{Kind: Hang, Rank: -1, Text: fmt.Sprintf("%s after %v", p.inside(), after)}}
}

func waitFor(over <-chan struct{}, most time.Duration) {
	select {
	case <-over:
	case <-time.After(most):
	}
}

// absent returns the ranks that the rank at a place must have met, and that have not begun the call.
func (p *performance) absent(i, place int) (absent []int) {
	t := p.trials[i]
	for _, q := range t.x.Ranks[place].Entered {
		if !p.entered[i][q].Load() {
			absent = append(absent, t.members[q])
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
	if ranks := p.ranksThat(split); len(ranks) > 0 {
		return fmt.Sprintf("ranks %v still make their communicators", ranks)
	}
	for i, t := range p.trials {
		var inside, outside []int
		for place, c := range t.calls {
			switch {
			case c == nil || p.left[i][place].Load():
			case p.entered[i][place].Load():
				inside = append(inside, t.members[place])
			default:
				outside = append(outside, t.members[place])
			}
		}
		if len(inside) > 0 {
			slices.Sort(inside)
			slices.Sort(outside)
			what := t.called()
			if p.does[inside[0]].Load() == start {
				what = "the start of " + what
			}
			text := fmt.Sprintf("ranks %v are still in %s", inside, what)
			if len(outside) > 0 {
				text += fmt.Sprintf(", and ranks %v have not come to it", outside)
			}
			return text
		}
	}
	if ranks := p.ranksThat(free); len(ranks) > 0 {
		return fmt.Sprintf("ranks %v still free their communicators and persistent calls", ranks)
	}
	return "no rank is in a call, and yet the calls are not over"
}

// ranksThat returns the ranks that do so.
func (p *performance) ranksThat(do int32) (ranks []int) {
	for rank := range p.does {
		if p.does[rank].Load() == do {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// results returns the problems with the memory that the performance has left.
func (p *performance) results(counts *Counts) (found []Problem) {
	for i, t := range p.trials {
		problems := p.leftOut(i, counts)
		switch {
		case len(problems) > 0 || slices.Contains(p.cannot[i], true):
		case t.step.Wrong != "":
			problems = append(t.accepted(p.refused[i]), t.strays(p.after[i])...)
		default:
			problems = t.problems(p.after[i], counts)
		}
		for _, problem := range problems {
			found = append(found, p.at(i, problem))
		}
	}
	if len(found) == 0 {
		found = p.changes()
	}
	slices.SortStableFunc(found, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Step, b.Step), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Rank, b.Rank))
	})
	return found
}

// leftOut counts a call that the ranks have left out. It is a problem if some of them have not.
func (p *performance) leftOut(i int, counts *Counts) []Problem {
	if !slices.Contains(p.cannot[i], true) {
		return nil
	}
	counts.Cannot++
	for place, cannot := range p.cannot[i] {
		if !cannot && p.trials[i].calls[place] != nil {
			return []Problem{{Kind: Erred, Rank: place, Text: "it has made the call, and other ranks say that they cannot"}}
		}
	}
	return nil
}

// at returns a problem of trial i with the call, and the rank of the world that is at the problem's place.
func (p *performance) at(i int, problem Problem) Problem {
	t := p.trials[i]
	problem.Step, problem.Time = t.of, t.time
	if problem.Rank >= 0 {
		problem.Rank = t.members[problem.Rank]
	}
	return problem
}

// changes returns the calls whose results differ from those of the same call before: late ranks make no difference.
func (p *performance) changes() (found []Problem) {
	first := map[string]int{} // index, by the call
	for i, t := range p.trials {
		name := t.name
		other, known := first[name]
		switch {
		case slices.Contains(p.cannot[i], true) || t.step.Wrong != "":
			continue
		case !known:
			first[name] = i
			continue
		}
		for place := range t.calls {
			if text := t.change(place, p.after[other][place], p.after[i][place]); text != "" {
				found = append(found, p.at(i, Problem{Kind: Disagree, Rank: place, Text: fmt.Sprintf(
					"%s, which was the same, has given other bits: %s", p.trials[other].called(), text)}))
			}
		}
	}
	return found
}
