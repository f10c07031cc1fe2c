package gen

import (
	"slices"
	"testing"

	"github.com/collgen/collgen/spec"
)

// calls are all calls of a with size ranks: every root and peer that its primitive allows, and, if it has a depth, a few.
func calls(a *Algorithm, size int) []Params {
	var all []Params
	peers := func(param spec.Param) int {
		if slices.Contains(a.Primitive.Params, param) {
			return size
		}
		return 1
	}
	for r := range peers(spec.ParamRoot) {
		for p := range peers(spec.ParamPeer) {
			for _, d := range []int{1, 2, 5} {
				all = append(all, Params{Size: size, Root: r, Peer: p, Depth: d})
			}
		}
	}
	return slices.DeleteFunc(all, func(p Params) bool {
		return slices.ContainsFunc(a.Primitive.Errors, func(e spec.ArgError) bool {
			v, err := e.When.Eval(p.Env(0))
			return err != nil || v != 0
		})
	})
}

func TestCatalogueInstantiates(t *testing.T) {
	for _, a := range Catalogue() {
		t.Run(a.FullName(), func(t *testing.T) {
			for size := 1; size <= 64; size++ {
				for _, p := range calls(&a, size) {
					if _, err := Instantiate(&a, p); err != nil {
						t.Fatalf("%+v: %v", p, err)
					}
				}
			}
		})
	}
}
