package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// This file finds promises that are well-formed, and worth nothing.

// fewRanks have calls that say too little: of two ranks, each is the other's neighbour on both sides.
const fewRanks = 2

// vacuous checks that calls of more than a few ranks are taken, that every clause holds somewhere, that Pre says
// nothing but what every rank can know of itself, and that Post cannot be kept by ranks that do not talk to each other.
func (v *validator) vacuous() {
	many, err := v.takesMany()
	if err != nil {
		v.fault("%v", err)
		return
	}
	if !many {
		v.fault("every call of more than %d ranks is refused, of those of %s", fewRanks, triedWords)
		return
	}
	for i, c := range v.p.Pre {
		v.speaks(c, fmt.Sprintf("Pre[%d]", i))
		v.ownInput(c, fmt.Sprintf("Pre[%d]", i))
	}
	for i, c := range v.p.Post {
		v.speaks(c, fmt.Sprintf("Post[%d]", i))
	}
	if len(v.faults) == 0 {
		v.saysSomething()
	}
}

func (v *validator) takesMany() (bool, error) {
	for c, err := range v.p.taken() {
		if err != nil || c.Size > fewRanks {
			return err == nil, err
		}
	}
	return false, nil
}

// speaks checks that c is about a block, or a rank, of some call.
func (v *validator) speaks(c Clause, at string) {
	for _, err := range v.p.places(c) {
		if err != nil {
			v.fault("%s: %v", at, err)
		}
		return
	}
	what := "no block of " + string(c.Buf)
	if c.Value.Kind == Entered {
		what = "no ranks"
	}
	if c.Where.IsAbsent() {
		v.fault("%s says nothing: it is about %s in any call of %s", at, what, triedWords)
		return
	}
	v.fault("%s says nothing: where %v, it is about %s in any call of %s", at, c.Where, what, triedWords)
}

// ownInput checks that c gives each rank its own input: what is in other ranks' memory no rank can check when it is
// called.
func (v *validator) ownInput(c Clause, at string) {
	for env, err := range v.p.places(c) {
		if err != nil {
			v.fault("%s: %v", at, err)
			return
		}
		rank, _ := Rank.Eval(env)
		block, _ := Block.Eval(env)
		isOf, err1 := c.Value.Rank.Eval(env)
		is, err2 := c.Value.Block.Eval(env)
		if err := cmp.Or(err1, err2); err != nil {
			v.fault("%s: %v", at, err)
			return
		}
		if isOf != rank || is != block {
			size, _ := Size.Eval(env)
			v.fault("%s says that, of %d ranks, block %d of rank %d is block %d of rank %d: no rank can check that in a call, "+
				"so a precondition gives every rank its own input, with Rank: spec.Rank and Block: spec.Block", at, size, block,
				rank, is, isOf)
			return
		}
	}
}

// saysSomething checks, for each number of ranks but a few, that some call promises something of out, and that it takes
// a message to keep what some call promises.
func (v *validator) saysSomething() {
	all := map[int]*said{}
	for c, err := range v.p.taken() {
		if err != nil {
			v.fault("%v", err)
			return
		}
		if c.Size <= fewRanks {
			continue
		}
		s := all[c.Size]
		if s == nil {
			s = new(said)
			all[c.Size] = s
		}
		if err := s.add(v.p, c); err != nil {
			v.fault("the call %+v: %v", c, err)
			return
		}
	}
	for _, size := range slices.Sorted(maps.Keys(all)) {
		switch s := all[size]; {
		case s.hasOut && !s.saysOut:
			v.fault("Post promises nothing about out: with %d ranks, all of it is undefined on every rank", size)
			return
		case !s.takesMessage:
			v.fault("Post needs no message: with %d ranks, every block is one of its own rank, unchanged or undefined", size)
			return
		}
	}
}

// said is what the calls of one number of ranks promise.
type said struct{ hasOut, saysOut, takesMessage bool }

// add adds a call, unless enough is known.
func (s *said) add(p Primitive, c Call) error {
	if s.takesMessage && s.saysOut {
		return nil
	}
	e, err := Expect(p, c)
	if err != nil {
		return err
	}
	for rank := range e.Ranks {
		r := &e.Ranks[rank]
		s.hasOut = s.hasOut || len(r.Out) > 0
		s.saysOut = s.saysOut || r.saysOut()
		s.takesMessage = s.takesMessage || r.takesMessage(rank)
	}
	return nil
}

// saysOut reports whether something is promised of a block of out.
func (r *RankExpectation) saysOut() bool {
	for _, c := range r.Out {
		if c.Kind != Undefined {
			return true
		}
	}
	return false
}

// takesMessage reports whether the rank gets something from another one: a block, or the news that it has come.
func (r *RankExpectation) takesMessage(rank int) bool {
	for _, blocks := range [][]Content{r.In, r.Out} {
		for _, c := range blocks {
			for _, t := range c.Terms {
				if t.Rank != rank {
					return true
				}
			}
		}
	}
	for _, q := range r.Entered {
		if q != rank {
			return true
		}
	}
	return false
}
