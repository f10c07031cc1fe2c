package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// Serves reports whether the algorithm's requirements allow size, with local ranks on each host: 0 if they have no such
// number.
func (a *Algorithm) Serves(size, local int) bool {
	return (local >= 1 && local <= size || !a.HasLocal()) && a.allows(size, local)
}

// allows reports whether Requires.Size holds.
func (a *Algorithm) allows(size, local int) bool {
	v, err := a.Requires.Size.OrElse(spec.Int(1)).Eval(Params{Size: size, Local: local}.ofSize())
	return err == nil && v != 0
}

// MostRanks returns the largest size that the algorithm serves, where Requires.Size has the condition size <= n, alone
// or beside others. It is not ok where there is no such condition.
func (a *Algorithm) MostRanks() (n int, ok bool) { return mostRanks(a.Requires.Size) }

func mostRanks(e spec.Expr) (n int, ok bool) {
	switch {
	case e.Kind == spec.LeExpr && e.Args[0].Kind == spec.Variable && e.Args[0].Name == spec.Size.Name &&
		e.Args[1].Kind == spec.Const:
		return e.Args[1].N, true
	case e.Kind != spec.AndExpr:
		return 0, false
	}
	x, hasX := mostRanks(e.Args[0])
	y, hasY := mostRanks(e.Args[1])
	if hasX && hasY {
		return min(x, y), true
	}
	return x + y, hasX || hasY // the one that there is
}

// Calls returns the calls with size ranks that a can serve and that differ for it: every root and peer that its
// primitive has and does not refuse, with every one of depths where a mentions depth, and with depth 1 where it does
// not; with every number of ranks on a host that it serves where a mentions it, and with 0 where it does not.
func (a *Algorithm) Calls(size int, depths ...int) []Params {
	if !a.HasDepth() {
		depths = []int{1}
	}
	var calls []Params
	for _, local := range a.Locals(size) {
		for root := range a.values(spec.ParamRoot, size) {
			for peer := range a.values(spec.ParamPeer, size) {
				for _, depth := range depths {
					calls = append(calls, Params{size, root, peer, depth, local})
				}
			}
		}
	}
	return slices.DeleteFunc(calls, a.refuses)
}

// Locals returns the numbers of ranks on a host with which a serves size ranks and that differ for it: just 0 where a
// does not mention them.
func (a *Algorithm) Locals(size int) (list []int) {
	if a.HasLocal() {
		for n := range size {
			list = append(list, n+1)
		}
	} else {
		list = []int{0}
	}
	return slices.DeleteFunc(list, func(n int) bool { return !a.allows(size, n) })
}

// HasDepth reports whether the depth of a call makes a difference to a.
func (a *Algorithm) HasDepth() bool { return a.mentions(spec.Depth) }

// HasLocal reports whether the number of ranks on each host makes a difference to a.
func (a *Algorithm) HasLocal() bool { return a.mentions(spec.Local) }

func (a *Algorithm) mentions(x spec.Expr) bool {
	return hasVariable(&a.Chunks, x.Name) || hasVariable(&a.Scratch, x.Name) || hasVariable(&a.Requires.Size, x.Name) ||
		haveVariable(a.Body, x.Name)
}

// values returns how many values a parameter that names a rank has.
func (a *Algorithm) values(p spec.Param, size int) int {
	if slices.Contains(a.Primitive.Params, p) {
		return size
	}
	return 1
}

// refuses reports whether p is an argument error.
func (a *Algorithm) refuses(p Params) bool {
	return slices.ContainsFunc(a.Primitive.Errors, func(e spec.ArgError) bool {
		wrong, err := e.When.Eval(p.Env(0))
		return err != nil || wrong != 0
	})
}
