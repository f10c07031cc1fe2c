package spec

import (
	"iter"
	"slices"
)

// This file lists the calls for which a promise has to say something.

// triedSizes are those that are tried, which triedWords lists.
var triedSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 32, 64}

const triedWords = "1 to 16, 32 or 64 ranks"

// allRoots is the size up to which every root and peer is tried; beyond, these are the first, the middle and the last rank.
const allRoots = 16

// taken are the calls that p does not refuse, of the sizes that are tried.
func (p Primitive) taken() iter.Seq[Call] {
	return func(yield func(Call) bool) {
		for _, size := range triedSizes {
			for _, root := range p.tried(ParamRoot, size) {
				for _, peer := range p.tried(ParamPeer, size) {
					c := Call{Size: size, Root: root, Peer: peer}
					if !p.refuses(c) && !yield(c) {
						return
					}
				}
			}
		}
	}
}

// tried are the values of a parameter of p that are tried on size ranks; just 0 if p does not have it.
func (p Primitive) tried(x Param, size int) []int {
	switch {
	case !slices.Contains(p.Params, x):
		return []int{0}
	case size > allRoots:
		return []int{0, size / 2, size - 1}
	}
	all := make([]int, size)
	for i := range all {
		all[i] = i
	}
	return all
}

func (p Primitive) refuses(c Call) bool {
	x := &expecter{p: p, c: c}
	for rank := range c.Size {
		if x.refuse(rank) != nil {
			return true
		}
	}
	return false
}

// places are the environments of the blocks that c is about, in calls that p takes; of an Entered clause, of the ranks that
// have to wait for some rank.
func (p Primitive) places(c Clause) iter.Seq[Env] {
	return func(yield func(Env) bool) {
		for call := range p.taken() {
			for rank := range call.Size {
				for env := range p.placesOf(c, call, rank) {
					if !yield(env) {
						return
					}
				}
			}
		}
	}
}

func (p Primitive) placesOf(c Clause, call Call, rank int) iter.Seq[Env] {
	return func(yield func(Env) bool) {
		env, over, cond := call.Env(rank), Block.Name, c.Where.OrElse(Int(1))
		n, _ := p.buffer(c.Buf).Len(env)
		if c.Value.Kind == Entered {
			over, cond, n = Q.Name, And(cond, c.Value.Where.OrElse(Int(1))), call.Size
		}
		for i := range n {
			env := env.With(over, i)
			holds, err := cond.Eval(env)
			if err == nil && holds != 0 && !yield(env) {
				return
			}
		}
	}
}
