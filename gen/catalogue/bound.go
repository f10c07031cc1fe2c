package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Bound is what no algorithm for a primitive can go below, in each of its parts, in the model of Time.
type Bound struct {
	gen.Cost
	Chunks spec.Expr // into how many chunks Cost cuts a block
}

// boundSource is where the bounds are proved, those of all-gather and all-to-all for several ports in the second one.
const boundSource = vandegeijn + "; " + bruck

// bounds are those that bound has registered, by the primitive's name.
var bounds = map[string]Bound{}

// bound registers the lower bound for p. Each primitive's file calls it, if one is known.
//
// Whoever has to hear of size-1 others, or tell them, can double their number with each message. What a rank has to
// receive or send fixes Beta; and the work of the reduction, spread evenly, Gamma.
func bound(p spec.Primitive, b Bound) Bound {
	bounds[p.Name] = b
	return b
}

// LowerBound returns the bound for p and the page that proves it, if one is known.
func LowerBound(p spec.Primitive) (b Bound, source string, ok bool) {
	b, ok = bounds[p.Name]
	return b, boundSource, ok
}
