package gen

import (
	"errors"
	"fmt"
	"iter"
)

// Steps returns what one rank does in the Schedule that [Instantiate] makes, step by step: its instructions, of which
// After and AfterSend count from the first one of the step. It is for schedules that are too large to be held: each
// step is in the memory of the one before. After an error, which is like those of Instantiate, nothing follows.
func Steps(a *Algorithm, p Params, rank int) iter.Seq2[[]Instr, error] {
	return func(yield func([]Instr, error) bool) {
		err := p.validate(a)
		if err == nil && (rank < 0 || rank >= p.Size) {
			err = fmt.Errorf("%s: there is no rank %d of %d", a.FullName(), rank, p.Size)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		s := &Schedule{Params: p, Primitive: a.Primitive, Ranks: make([]Program, 1)}
		b := &builder{a: a, s: s, rank: rank, prog: &s.Ranks[0], env: p.Env(rank), ready: -1,
			each: func(step []Instr) bool { return yield(step, nil) }}
		if err = b.make(); err != nil && err != errEnough {
			yield(nil, err)
		}
	}
}

// errEnough says that nobody wants further steps.
var errEnough = errors.New("enough")

// deliver hands out the current step instead of keeping it.
func (b *builder) deliver() error {
	if !b.each(b.instrs) {
		return errEnough
	}
	if cap(b.instrs) > largeStep {
		b.instrs, b.places, b.after = nil, slab[Place]{}, slab[int]{}
	}
	b.instrs, b.ready = b.instrs[:0], -1
	return nil
}

// largeStep is how many instructions may keep memory for the step that follows.
const largeStep = 64
