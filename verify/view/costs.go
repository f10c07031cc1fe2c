package view

import (
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/cost"
	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/spec"
)

// Costs says what algorithms of one primitive cost, for numbers of ranks and depths.
type Costs struct {
	Sizes      []int           `json:"sizes"`
	Depths     []int           `json:"depths"`
	Size       int             `json:"size"`   // of the call that the page shows
	Depth      int             `json:"depth"`  // the same
	Blocks     string          `json:"blocks"` // what a block is
	This       string          `json:"this"`   // the algorithm that the page shows
	Algorithms []AlgorithmCost `json:"algorithms"`
	Bound      *AlgorithmCost  `json:"bound,omitempty"` // what none can go below; nil: nothing is known
	Source     string          `json:"source,omitempty"`
}

// AlgorithmCost is the cost of one algorithm on its critical path: as formulas, where it declares any, and as numbers.
type AlgorithmCost struct {
	Name     string `json:"name"`
	Doc      string `json:"doc,omitempty"`
	Alpha    string `json:"alpha,omitempty"`  // messages
	Beta     string `json:"beta,omitempty"`   // chunks on the wire
	Gamma    string `json:"gamma,omitempty"`  // chunks reduced
	Chunks   string `json:"chunks,omitempty"` // of a block
	HasDepth bool   `json:"hasDepth,omitempty"`
	// by depth, one where it makes no difference, and size: the four numbers, or none where it does not serve the size or
	// nobody knows
	Rows [][][]int `json:"rows"`
}

// The numbers of ranks and depths for which costs are worked out.
var (
	costSizes = []int{2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 96, 128, 192, 256, 384, 512,
		768, 1024}
	costDepths = []int{1, 2, 4, 8, 16, 32, 64, 128, 256}
)

// measured is the largest size for which the cost of an algorithm without formulas is measured.
const measured = 16

// NewCosts returns the costs of algorithms, for a page that shows a call of this one. A bound of absent parts is none.
func NewCosts(this *gen.Algorithm, p gen.Params, others []gen.Algorithm, bound gen.Cost, chunks spec.Expr,
	source string) *Costs {
	c := &Costs{Sizes: costSizes, Depths: costDepths, Size: p.Size, Depth: p.Depth, This: this.FullName(),
		Blocks: blockWords(this.Primitive), Algorithms: []AlgorithmCost{}}
	for i := range others {
		switch a := &others[i]; {
		case !a.HasLocal():
			c.Algorithms = append(c.Algorithms, costOf(a, 0))
		case a.FullName() == c.This:
			c.Algorithms = append(c.Algorithms, costOf(a, p.Local))
		}
	}
	if !bound.Alpha.IsAbsent() {
		b := gen.Algorithm{Cost: bound, Chunks: chunks, Primitive: this.Primitive}
		x := costOf(&b, 0)
		x.Name = "lower bound"
		c.Bound, c.Source = &x, source
	}
	return c
}

// blockWords says what one block of a call is.
func blockWords(p spec.Primitive) string {
	one := func(b spec.Buffer) bool { return b.Blocks.Kind == spec.Const && b.Blocks.N == 1 }
	switch {
	case one(p.In) && one(p.Out):
		return "the buffer of a rank"
	case one(p.In):
		return "what each rank contributes"
	case one(p.Out):
		return "what each rank gets"
	}
	return "what one rank has for one other"
}

// costOf returns what a costs with local ranks on each host; 0: it does not ask for hosts.
func costOf(a *gen.Algorithm, local int) AlgorithmCost {
	f := text.CostOf(a)
	x := AlgorithmCost{Name: a.FullName(), Doc: a.Doc, Alpha: f.Alpha, Beta: f.Beta, Gamma: f.Gamma, Chunks: f.Chunks,
		HasDepth: a.HasDepth()}
	depths := costDepths
	if !x.HasDepth {
		depths = depths[:1]
	}
	for _, depth := range depths {
		rows := make([][]int, len(costSizes))
		for i, n := range costSizes {
			if rows[i] = []int{}; a.Serves(n, local) {
				rows[i] = numbersOf(a, gen.Params{Size: n, Peer: min(1, n-1), Depth: depth, Local: local})
			}
		}
		x.Rows = append(x.Rows, rows)
	}
	return x
}

// numbersOf returns the four numbers of a call, as declared or, of few ranks, as measured; none if nobody knows.
func numbersOf(a *gen.Algorithm, p gen.Params) []int {
	chunks, err := gen.ChunksOf(a, p)
	if err != nil {
		return []int{}
	}
	if alpha, beta, gamma, err := a.Cost.Eval(p); err == nil {
		return []int{alpha, beta, gamma, chunks}
	}
	if p.Size > measured || p.Depth > measured {
		return []int{}
	}
	s, err := gen.Instantiate(a, p)
	if err != nil {
		return []int{}
	}
	m, err := cost.Measure(s)
	if err != nil {
		return []int{}
	}
	return []int{m.Alpha, m.Beta, m.Gamma, chunks}
}
