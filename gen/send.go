package gen

import "github.com/collgen/collgen/spec"

var _ = bound(spec.Send, Bound{
	Cost:   Cost{Alpha: one, Beta: one, Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.Send, Rule{Algorithm: "direct"})
