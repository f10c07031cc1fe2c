package gen

import (
	"slices"

	"github.com/collgen/collgen/spec"
)

// Serves reports whether the algorithm's requirements allow size.
func (a *Algorithm) Serves(size int) bool {
	v, err := a.Requires.Size.OrElse(spec.Int(1)).Eval(spec.Env{{Name: "size", Value: size}})
	return err == nil && v != 0
}

// Calls returns the calls with size ranks that a can serve and that differ for it: every root and peer that its
// primitive has and does not refuse, with every one of depths where a mentions depth, and with depth 1 where it does
// not.
func (a *Algorithm) Calls(size int, depths ...int) []Params {
	if !a.HasDepth() {
		depths = []int{1}
	}
	if !a.Serves(size) {
		return nil
	}
	var calls []Params
	for root := range a.values(spec.ParamRoot, size) {
		for peer := range a.values(spec.ParamPeer, size) {
			for _, depth := range depths {
				calls = append(calls, Params{Size: size, Root: root, Peer: peer, Depth: depth})
			}
		}
	}
	return slices.DeleteFunc(calls, a.refuses)
}

// HasDepth reports whether the depth of a call makes a difference to a.
func (a *Algorithm) HasDepth() bool {
	used := uses(a.Body...)
	note(used, a.Chunks, a.Scratch)
	return used[spec.Depth.Name]
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
