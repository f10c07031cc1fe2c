package golang

import (
	"errors"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// TestUnevenRefused: no Go is generated where a rank could not say how long blocks are.
func TestUnevenRefused(t *testing.T) {
	for what, change := range map[string]func(a *gen.Algorithm){
		"two blocks": func(a *gen.Algorithm) { a.Primitive.Out.Blocks = spec.Int(2) },
		"as long as that of another rank": func(a *gen.Algorithm) {
			a.Primitive.In.Counts = []spec.Expr{spec.Sub(spec.Size,
				spec.Rank)}
		},
		"one block, as long as the first":   func(a *gen.Algorithm) { a.Primitive.In.Counts = []spec.Expr{spec.Block} },
		"a buffer of even blocks":           func(a *gen.Algorithm) { a.Primitive.In.Counts = nil },
		"all blocks of in are those of out": func(a *gen.Algorithm) { a.Primitive.In = a.Primitive.Out },
		"slots that not every rank can cut": func(a *gen.Algorithm) {
			a.Primitive.Out.On = spec.Eq(spec.Rank,
				spec.Int(0))
			a.Scratch = spec.Size
		},
	} {
		a := catalogue.AllGatherVRing
		change(&a)
		if err := Validate(&a); !errors.Is(err, errUneven) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, a := range catalogue.Algorithms() {
		if err := Validate(&a); err != nil {
			t.Errorf("%s: %v", a.FullName(), err)
		}
	}
}
