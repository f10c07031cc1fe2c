package simulate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Call is what is played: so many calls of one collective, one behind the other, on all ranks from the same moment on.
type Call struct {
	Algorithm *gen.Algorithm
	gen.Params
	Block   int  // bytes in a block
	InPlace bool // In and Out are the same memory where they may be: nothing is copied from one to the other
	Repeat  int  // 0 is 1

	// Progress hears now and then how many messages have arrived, and what time it is there; nil: nobody.
	Progress func(messages int, now Time)
}

// Result is how long it took.
type Result struct {
	Time     Time    // until the last rank was done, of all calls together
	Mean     Time    // until a rank was done, on the average over all ranks
	Parts    Parts   // what Time went to, along the chain of what waited for what
	Messages int     // that were sent
	Bytes    int     // in all messages
	Busiest  Usage   // what was busy for the longest time
	usage    []Usage // of everything
}

// Usage is how long something was busy.
type Usage struct {
	What string // "core 0 of host 3"
	Busy Time
}

// Play returns how long c takes on m. It fails for a call or a machine that cannot be, for a schedule that cannot end,
// and when ctx ends.
func Play(ctx context.Context, m *Machine, c Call) (Result, error) {
	if err := m.Validate(); err != nil {
		return Result{}, fmt.Errorf("the machine: %w", err)
	}
	return play(ctx, m, c, func(rank int) program { return gen.Steps(c.Algorithm, c.Params, rank) })
}

// program is what one rank does, step by step.
type program = iter.Seq2[[]gen.Instr, error]

// maxRanks is how many ranks there may be: each has a stack, and of most algorithms thousands of messages.
const maxRanks = 1 << 16

func play(ctx context.Context, m *Machine, c Call, programs func(rank int) program) (Result, error) {
	chunks, err := gen.ChunksOf(c.Algorithm, c.Params)
	switch {
	case err != nil:
		return Result{}, fmt.Errorf("%s: %w", c.Algorithm.FullName(), err)
	case c.Size < 1 || c.Size > maxRanks:
		return Result{}, fmt.Errorf("%d ranks, want 1 to %d", c.Size, maxRanks)
	case c.Block < 0 || c.Block > maxBuffer/c.Blocks():
		return Result{}, fmt.Errorf("buffers of %d blocks of %d bytes, want 0 to %d bytes", c.Blocks(), c.Block, maxBuffer)
	}
	w, err := newWorld(m, c, chunks, programs)
	if err != nil {
		return Result{}, err
	}
	defer w.close()
	if err := w.start(programs); err != nil {
		return Result{}, err
	}
	if err := w.turn(ctx); err != nil {
		return Result{}, err
	}
	return w.result()
}

// maxBuffer is the longest buffer of a rank, in bytes: what all messages together have is then still a number.
const maxBuffer = min(1<<38, math.MaxInt)

// Blocks returns how many blocks the larger of a rank's two buffers has, at least 1.
func (c *Call) Blocks() int {
	blocks := 1
	for _, b := range []spec.Buffer{c.Algorithm.Primitive.In, c.Algorithm.Primitive.Out} {
		if n, err := b.Blocks.OrElse(spec.Int(0)).Eval(c.Env(c.Root)); err == nil {
			blocks = max(blocks, n)
		}
	}
	return blocks
}

// result returns what came out, after everything that could happen.
func (w *world) result() (Result, error) {
	r := Result{Messages: w.sent, Bytes: w.bytes, usage: w.usages()}
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
	for _, u := range r.usage {
		if u.Busy > r.Busiest.Busy {
			r.Busiest = u
		}
	}
	return r, nil
}
