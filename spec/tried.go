package spec

import (
	"errors"
	"iter"
	"slices"
)

// This file lists the calls for which a promise has to say something.

// triedSizes are those that are tried, which triedWords lists.
var triedSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 32, 64}

const triedWords = "1 to 16, 32 or 64 ranks"

// allRoots is the size up to which every root and peer is tried; beyond, these are the first, the middle and the last
// rank.
const allRoots = 16

// taken returns the calls that p does not refuse, of the sizes that are tried.
// With an error, of an expression that has no value in a call, they end.
func (p Primitive) taken() iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		for _, size := range triedSizes {
			roots := upTo(0, size)
			if size > allRoots {
				roots = []int{0, size / 2, size - 1}
			}
			for c := range p.calls(size, roots) {
				refused, err := p.refuses(c)
				if !refused && !yield(c, err) || err != nil {
					return
				}
			}
		}
	}
}

// CallsAround returns calls of p on size ranks, with each of them and two more on either side as root and peer.
func (p Primitive) CallsAround(size int) iter.Seq[Call] { return p.calls(size, upTo(-2, size+2)) }

// calls returns those of size ranks with each of ranks as root and as peer, where p has these parameters; otherwise
// they are 0.
func (p Primitive) calls(size int, ranks []int) iter.Seq[Call] {
	values := func(x Param) []int {
		if slices.Contains(p.Params, x) {
			return ranks
		}
		return []int{0}
	}
	return func(yield func(Call) bool) {
		for _, root := range values(ParamRoot) {
			for _, peer := range values(ParamPeer) {
				if !yield(Call{Size: size, Root: root, Peer: peer}) {
					return
				}
			}
		}
	}
}

// upTo returns the numbers from first to before end.
func upTo(first, end int) []int {
	all := make([]int, end-first)
	for i := range all {
		all[i] = first + i
	}
	return all
}

// refuses reports whether some rank refuses c.
func (p Primitive) refuses(c Call) (bool, error) {
	x := &expecter{p: p, c: c}
	for rank := range c.Size {
		err := x.refuse(rank)
		var refused *RefusedError
		if err != nil {
			isRefused := errors.As(err, &refused)
			if isRefused {
				err = nil
			}
			return isRefused, err
		}
	}
	return false, nil
}

// places returns the environments of the blocks that c is about, in calls that p takes; of an Entered clause, of the
// ranks that have to wait for some rank. With an error, as of taken, they end.
func (p Primitive) places(c Clause) iter.Seq2[Env, error] {
	return func(yield func(Env, error) bool) {
		for call, err := range p.taken() {
			if err != nil {
				yield(nil, err)
				return
			}
			for rank := range call.Size {
				for env, err := range p.placesOf(c, call, rank) {
					if !yield(env, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

func (p Primitive) placesOf(c Clause, call Call, rank int) iter.Seq2[Env, error] {
	return func(yield func(Env, error) bool) {
		env, over, cond := call.Env(rank), Block.Name, c.Where.OrElse(Int(1))
		n, err := call.Size, error(nil)
		if c.Value.Kind == Entered {
			over, cond = Q.Name, And(cond, c.Value.Where.OrElse(Int(1)))
		} else if n, err = p.buffer(c.Buf).Len(env); err != nil {
			yield(nil, err)
			return
		}
		for i := range n {
			env := env.With(over, i)
			holds, err := cond.Eval(env)
			if (err != nil || holds != 0) && !yield(env, err) || err != nil {
				return
			}
		}
	}
}
