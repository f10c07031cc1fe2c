package simulate

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/collgen/collgen/gen"
)

// Result is how long it took.
type Result struct {
	How      Method  // how this came out
	Block    int     // bytes in a block, as played
	Time     Time    // until the last rank was done, of all calls together
	Mean     Time    // until a rank was done, on the average over all ranks
	Parts    Parts   // what Time went to, along the chain of what waited for what
	Messages int     // that were sent
	Bytes    int     // in all messages
	Busiest  Usage   // what was busy for the longest time
	usage    []Usage // of everything
}

// Play returns how long c takes on m. It fails for a call or a machine that cannot be, for a schedule that cannot end,
// and when ctx ends.
func Play(ctx context.Context, m *Machine, c Call) (Result, error) {
	if err := m.Validate(); err != nil {
		return Result{}, fmt.Errorf("the machine: %w", err)
	}
	return play(ctx, m, c, stepsOf(&c))
}

// stepsOf returns the programs of the ranks of c.
func stepsOf(c *Call) func(rank int) program {
	return func(rank int) program { return gen.Steps(c.Algorithm, c.Params, rank) }
}

// maxRanks is how many ranks there may be: each has a stack, and of most algorithms thousands of messages.
const maxRanks = 1 << 16

func play(ctx context.Context, m *Machine, c Call, programs func(rank int) program) (Result, error) {
	chunks, err := c.chunks()
	if err != nil {
		return Result{}, err
	}
	w, err := newWorld(m, c, chunks, everyRank(c.Size), programs)
	if err != nil {
		return Result{}, err
	}
	return w.play(ctx, programs)
}

// chunks returns how many chunks a block of c has. It fails for a call that cannot be.
func (c *Call) chunks() (int, error) {
	chunks, err := gen.ChunksOf(c.Algorithm, c.Params)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s: %w", c.Algorithm.FullName(), err)
	case c.Size < 1 || c.Size > maxRanks:
		return 0, fmt.Errorf("%d ranks, want 1 to %d", c.Size, maxRanks)
	case c.Block < 0 || c.Block > maxBuffer/c.Blocks():
		return 0, fmt.Errorf("buffers of %d blocks of %d bytes, want 0 to %d bytes", c.Blocks(), c.Block, maxBuffer)
	}
	return chunks, nil
}

// play lets everything happen, from the start of the programs on.
func (w *world) play(ctx context.Context, programs func(rank int) program) (Result, error) {
	defer w.close()
	if err := w.start(programs); err != nil {
		return Result{}, err
	}
	if err := w.turn(ctx); err != nil {
		return Result{}, err
	}
	return w.result()
}

// result returns what came out, after everything that could happen.
func (w *world) result() (Result, error) {
	times := w.call.Size / len(w.ranks)
	r := Result{Block: w.call.Block, Messages: times * w.sent, Bytes: times * w.bytes, usage: w.usages()}
	sum := 0.0
	for i := range w.ranks {
		k := &w.ranks[i]
		if !k.done {
			return r, fmt.Errorf("%s cannot end: rank %d waits forever in its step %d", w.call.Algorithm.FullName(), i, k.step)
		}
		if end := k.begun; i == 0 || end.at > r.Time {
			r.Time, r.Parts = end.at, end.parts
		}
		sum += float64(k.begun.at)
	}
	r.Mean = Time(sum / float64(len(w.ranks)))
	if r.Time >= horizon {
		return r, errors.New("it takes longer than 26 days")
	}
	r.findBusiest()
	if times > 1 {
		r.How = Folded
	}
	return r, nil
}

func (r *Result) findBusiest() {
	for _, u := range r.usage {
		if u.Busy > r.Busiest.Busy {
			r.Busiest = u
		}
	}
}

// newWorld returns the world before it begins.
func newWorld(m *Machine, c Call, chunks int, f folding, programs func(rank int) program) (*world, error) {
	onHost := m.onHost(c.Size)
	w := &world{m: m, call: c, cuts: gen.Cuts{Block: c.Block, Chunks: chunks}, calling: ofSeconds(m.Call),
		switching: ofSeconds(m.Switch), spin: ofSeconds(m.Spin), onHost: onHost, fold: f,
		ranks: make([]rank, f.period), hosts: make([]host, (f.period-1)/onHost+1), open: map[pair]line{},
		rings: map[pair]*ring{}}
	bytes, err := w.footprint(programs, onHost)
	if err != nil {
		return nil, err
	}
	w.near, w.far, w.copy, w.reduce = m.Near.tariff(bytes), m.Far.tariff(bytes), m.Copy.At(bytes), m.Reduce.At(bytes)
	for i := range w.ranks {
		w.ranks[i] = rank{host: int32(i / onHost)}
	}
	w.addCores(onHost)
	w.addLinks()
	return w, nil
}

// onHost returns how many of so many ranks are on the first host.
func (m *Machine) onHost(size int) int {
	if m.RanksPerHost == 0 {
		return size
	}
	return min(m.RanksPerHost, size)
}

// turn lets everything happen.
func (w *world) turn(ctx context.Context) error {
	for n := 1; len(w.agenda.heap) > 0; n++ {
		e := w.agenda.next()
		w.now = e.at
		if err := w.happen(e); err != nil {
			return err
		}
		if err := w.settle(); err != nil {
			return err
		}
		if n%4096 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if w.call.Progress != nil {
				w.call.Progress(w.received, w.now)
			}
		}
	}
	return nil
}

// happen lets e happen.
func (w *world) happen(e event) error {
	switch e.kind {
	case workDone:
		return w.finished(e.of)
	case atLink:
		w.cross(e.of)
	case arrived:
		w.arrive(e.of)
	case spun:
		return w.yield(e.of)
	case left:
		return w.leave(e.of)
	}
	return nil
}

// usages returns how long everything was busy.
func (w *world) usages() []Usage {
	var all []Usage
	for i := range w.cores {
		c := &w.cores[i]
		all = append(all, Usage{fmt.Sprintf("core %d of host %d", i-int(w.hosts[c.host].first), c.host), c.busy})
	}
	for i := range w.links {
		all = append(all, Usage{w.nameOf(i), w.links[i].busy})
	}
	return all
}

// start has all ranks begin.
func (w *world) start(programs func(rank int) program) error {
	for i := range w.ranks {
		k := &w.ranks[i]
		k.programs = func() (func() ([]gen.Instr, error, bool), func()) { return iter.Pull2(programs(i)) }
		k.next, k.stop = k.programs()
		k.calls, k.calling = max(0, w.call.Repeat-1), true
	}
	for i := range w.ranks {
		if err := w.begin(int32(i), moment{}); err != nil {
			return err
		}
	}
	return w.settle()
}

// close ends the programs.
func (w *world) close() {
	for i := range w.ranks {
		if stop := w.ranks[i].stop; stop != nil {
			stop()
		}
	}
}
