package gen

import "github.com/collgen/collgen/spec"

// Bound is what no algorithm for a primitive can go below, in each of its parts, in the model of Time.
type Bound struct {
	Cost
	Chunks spec.Expr // into how many chunks Cost cuts a block
}

// boundSource is where the bounds are proved, those of all-gather and all-to-all for several ports in the second one.
const boundSource = vandegeijn + "; Bruck, Ho, Kipnis, Upfal, Weathersby: Efficient algorithms for all-to-all " +
	"communications in multiport message-passing systems, TPDS 8(11), 1997"

// bounds are the lower bounds, by the primitive's name. Whoever has to hear of size-1 others, or tell them, can
// double their number with each message. What a rank has to receive or send fixes Beta; and the work of the reduction,
// spread evenly, Gamma.
var bounds = map[string]Bound{
	"Broadcast":     {Cost{ceilLog2(size), one, zero}, one},
	"Scatter":       {Cost{ceilLog2(size), sub(size, one), zero}, one},
	"Gather":        {Cost{ceilLog2(size), sub(size, one), zero}, one},
	"Reduce":        {Cost{ceilLog2(size), size, sub(size, one)}, size},
	"AllGather":     {Cost{ceilLog2(size), sub(size, one), zero}, one},
	"ReduceScatter": {Cost{ceilLog2(size), sub(size, one), sub(size, one)}, one},
	"AllReduce":     {Cost{ceilLog2(size), mul(two, sub(size, one)), sub(size, one)}, size},
	"AllToAll":      {Cost{ceilLog2(size), sub(size, one), zero}, one},
	"Barrier":       {Cost{ceilLog2(size), zero, zero}, one},
	"Send":          {Cost{one, one, zero}, one},
}

// LowerBound is the bound for p and the page that proves it. There is none for primitives that are not this module's.
func LowerBound(p spec.Primitive) (b Bound, source string, ok bool) {
	b, ok = bounds[p.Name]
	return b, boundSource, ok
}
