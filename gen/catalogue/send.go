package catalogue

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

var _ = bound(spec.Send, Bound{
	Cost:   gen.Cost{Alpha: one, Beta: one, Gamma: zero},
	Chunks: one,
})

var _ = rules(spec.Send, gen.Rule{Algorithm: "direct"})
