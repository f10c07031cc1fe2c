package simulate

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
)

// run is equal steps one behind the other.
type run struct {
	step        []gen.Instr // of rank 0
	times, kept int         // how many there are, and are played
	sent, bytes int         // messages of a rank in one step
}

// runsOf returns the program of rank 0, which all ranks have, without steps that have nothing to do.
func runsOf(c *Call, chunks int) ([]run, error) {
	x := &reader{world: world{call: *c, cuts: gen.Cuts{Block: c.Block, Chunks: chunks}}}
	plus := everyRank(c.Size)
	var runs []run
	var last []int
	for step, err := range gen.Steps(c.Algorithm, c.Params, 0) {
		if err != nil {
			return nil, err
		}
		numbers := x.step(&plus, 0, step)
		switch {
		case len(numbers) == 0:
		case slices.Equal(numbers, last):
			runs[len(runs)-1].times++
		default:
			runs = append(runs, x.run(step))
			last = append(last[:0], numbers...)
		}
	}
	return runs, nil
}

// run returns a run of one step.
func (x *reader) run(step []gen.Instr) run {
	r := run{step: slices.Clone(step), times: 1}
	for i := range r.step {
		in := &r.step[i]
		in.Srcs = slices.Clone(in.Srcs)
		if n, ok := x.message(in); ok && in.Kind == gen.SendInstr {
			r.sent++
			r.bytes += n
		}
	}
	return r
}

// sendsTo returns to whom rank 0 sends in a step.
func (r *run) sendsTo() (peers []int) {
	for i := range r.step {
		if r.step[i].Kind == gen.SendInstr {
			peers = append(peers, r.step[i].Peer)
		}
	}
	return peers
}

// steady plays some steps of each run, and notes when they began.
type steady struct {
	*world
	runs  []run
	at    [][]Time // of each rank, step by step
	first []note   // of rank 0, step by step
}

// note is what was known when rank 0 began a step.
type note struct {
	parts Parts
	busy  []Time // cores, then links
}

// playSame plays c, all of whose ranks do the same. If it is not steady in the end, it plays more steps.
func playSame(ctx context.Context, m *Machine, c Call, chunks int) (Result, error) {
	runs, err := runsOf(&c, chunks)
	if err != nil {
		return Result{}, err
	}
	f := everyRank(c.Size)
	if fs := foldings(m, c.Size); fs != nil {
		f = fs[0]
	}
	lap := f.period * max(1, c.Depth) // what is passed on from rank to rank has come to where it began, a period further
	for kept := 4*lap + 64; ; kept *= 2 {
		work := 0
		for i := range runs {
			runs[i].keep(kept, lap)
			work += runs[i].kept * (1 + runs[i].sent) * f.period
		}
		if work > most {
			return Result{}, &LimitError{fmt.Sprintf("what the first steps take has not repeated, and with more there are "+
				"%d steps and messages; up to %d are played", work, most)}
		}
		if r, ok, err := playKept(ctx, m, c, chunks, f, runs); ok || err != nil {
			return r, err
		}
	}
}

// keep has about n steps played, and whole laps left out.
func (r *run) keep(n, lap int) {
	r.kept = r.times
	if n < r.times {
		r.kept = n + (r.times-n)%lap
	}
}

// playKept plays the steps of runs that are kept. It reports whether what they took repeats, so that the result has the
// others as well.
func playKept(ctx context.Context, m *Machine, c Call, chunks int, f folding, runs []run) (Result, bool, error) {
	s := &steady{runs: runs}
	programs := func(rank int) program { return s.program(rank, c.Size) }
	w, err := newWorld(m, c, chunks, f, programs)
	if err != nil {
		return Result{}, false, err
	}
	s.world, s.at = w, make([][]Time, f.period)
	if slices.ContainsFunc(runs, func(r run) bool { return r.kept < r.times }) {
		w.began = s.note
	}
	r, err := w.play(ctx, programs)
	if err != nil {
		return r, false, err
	}
	ok := s.extrapolate(&r)
	return r, ok, nil
}

// program returns the steps of a rank that are kept.
func (s *steady) program(rank, size int) program {
	return func(yield func([]gen.Instr, error) bool) {
		var step []gen.Instr
		for i := range s.runs {
			r := &s.runs[i]
			step = append(step[:0], r.step...)
			for j := range step {
				step[j].Peer = (step[j].Peer + rank) % size
			}
			for range r.kept {
				if !yield(step, nil) {
					return
				}
			}
		}
	}
}

// note notes that a rank begins a step.
func (s *steady) note(r int32) {
	begun := s.ranks[r].begun
	s.at[r] = append(s.at[r], begun.at)
	if r > 0 {
		return
	}
	n := note{begun.parts, make([]Time, 0, len(s.cores)+len(s.links))}
	for i := range s.cores {
		n.busy = append(n.busy, s.cores[i].busy)
	}
	for i := range s.links {
		n.busy = append(n.busy, s.links[i].busy)
	}
	s.first = append(s.first, n)
}

// extrapolate adds the steps that were left out to a result. It reports false if those before them did not repeat.
func (s *steady) extrapolate(r *Result) bool {
	end := 0
	for i := range s.runs {
		x := &s.runs[i]
		end += x.kept
		left := x.times - x.kept
		if left == 0 {
			continue
		}
		period := s.repeats(end, x.kept, left)
		if period == 0 {
			return false
		}
		s.add(r, &s.first[end-1], &s.first[end-1-period], Time(left/period))
		r.Messages += left * x.sent * s.call.Size
		r.Bytes += left * x.bytes * s.call.Size
		r.How = Steady
	}
	r.findBusiest()
	return true
}

// add adds to a result so many times what happened between two steps.
func (s *steady) add(r *Result, later, earlier *note, times Time) {
	total := Time(0)
	for p := range r.Parts {
		more := times * (later.parts[p] - earlier.parts[p])
		r.Parts[p] += more
		total += more
	}
	r.Time, r.Mean = r.Time+total, r.Mean+total
	for i := range r.usage {
		r.usage[i].Busy += times * (later.busy[i] - earlier.busy[i])
	}
	r.Busiest.Busy = 0
}

// repeats returns the least period after which the steps of all ranks take the same, of the kept ones before end: three
// periods of steps are equal. Steps to be left out come in such periods. 0: there is none.
func (s *steady) repeats(end, kept, left int) int {
	for period := 1; 3*period <= kept; period++ {
		if left%period == 0 && s.equal(end, period) {
			return period
		}
	}
	return 0
}

func (s *steady) equal(end, period int) bool {
	want := s.at[0][end-1] - s.at[0][end-1-period]
	for _, at := range s.at {
		for k := end - 1; k >= end-2*period; k-- {
			if at[k]-at[k-period] != want {
				return false
			}
		}
	}
	return true
}
