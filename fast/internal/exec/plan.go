package exec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
)

// This file chooses the algorithm and the depth of a call. Apart from the bytes of a block, rules only depend on what
// all calls of a collective on a communicator have in common. So the first call determines the applicable rules, and
// the others search these for the first that allows their bytes.

// Planner chooses algorithms for the calls on one communicator.
type Planner struct {
	size    int
	Carrier string                               // the transport, as rules name it
	PerHost int                                  // number of ranks on the host that has the most; 0: all
	Local   int                                  // ranks on each host, see selection.Call; 0: hosts are not like that
	Tuning  func(k *Collective) []selection.Rule // the rules before the built-in ones; nil: none
	// Reproducible says that all calls have the option of this name.
	Reproducible bool
	Plans        []*plan // of the collectives that were called
	latest       *plan
}

// plan is the part of a selection table that applies to the calls of one collective on one communicator.
type plan struct {
	k     *Collective
	size  int
	local int
	// All calls have the option Reproducible.
	reproducible bool
	table        []selection.Rule
	Tuned        int                   // how many of these come from a Tuning
	Calls        [kinds]selection.Call // what rules see of calls
	Steps        [kinds][]planStep     // for these
	named        []planStep            // of each algorithm, if a call asks for it by name
}

// planStep is the algorithm for calls whose blocks have more bytes than the previous step allows.
type planStep struct {
	maxBytes, pieceBytes int
	deepest              int // the largest depth for which it was proved with this number of ranks; 0: not proved
	Algorithm            *Algorithm
}

// Plan returns the algorithm and the depth for a call whose blocks have count elements of type t and that many bytes. T
// is 0 if it is not known; then elements are taken for floats.
func (pl *Planner) Plan(k *Collective, count, bytes int, op spec.Op, t spec.Type, opts []Option) (a *Algorithm,
	depth int, err error) {
	p := pl.latest
	if p == nil || p.k != k {
		p = pl.planFor(k)
	}
	return p.Choose(count, bytes, op, t, opts)
}

// kind is what rules see of the op of a call.
type kind uint8

const (
	ordered   kind = iota // it is not commutative
	commuting             // it is, or the call has none
	atOnce                // it is a reproducible sum
	kinds
)

// kindOf returns the kind of calls with op, on elements of type t, and these options, where all have the option
// Reproducible or not. It makes no difference to integers. T is 0 if it is not known.
func kindOf(op spec.Op, t spec.Type, opts []Option, reproducible bool) kind {
	switch {
	case (op == spec.OpSum || op == spec.OpAvg) && (reproducible || has(opts, ReproducibleOption)) &&
		(t == 0 || kernel.ExactFor(t) != nil):
		return atOnce
	case op == 0 || op.Commutative():
		return commuting
	}
	return ordered
}

// Choose is Plan for a call of p's collective.
func (p *plan) Choose(count, bytes int, op spec.Op, t spec.Type, opts []Option) (a *Algorithm, depth int, err error) {
	var s *planStep
	unproved, is := false, kindOf(op, t, opts, p.reproducible)
	for i := range opts {
		switch o := &opts[i]; o.Kind {
		case AlgorithmOption:
			if s, err = p.algorithm(o.Name); err != nil {
				return nil, 0, err
			}
		case DepthOption:
			if depth = o.Depth; depth < 1 {
				return nil, 0, wire.Refuse(p.k.Name, "depth is %d, want at least 1", depth)
			}
		case UnprovedOption:
			unproved = true
		}
	}
	switch {
	case s == nil:
		if s = p.step(bytes, is); s == nil {
			return nil, 0, wire.Refuse(p.k.Name, "no algorithm serves %s%d ranks", among(op, is), p.size)
		}
	case !s.Algorithm.carries(p.size, p.local, is):
		var elsewhere string
		if s.Algorithm.Local {
			elsewhere = "; package fast/hosts serves all hosts"
		}
		return nil, 0, wire.Refuse(p.k.Name, "algorithm %q does not serve %s%s%s", s.Algorithm.Name, among(op, is),
			selection.Ranks(p.size, p.local, s.Algorithm.Local), elsewhere)
	}
	deepest := s.deepest
	if unproved {
		deepest = maxInt
	}
	if deepest < max(1, depth) {
		return nil, 0, p.notProved(s, is, depth, opts)
	}
	if depth == 0 && s.pieceBytes > 0 && bytes > 0 {
		depth = min((bytes-1)/s.pieceBytes+1, deepest)
	}
	return s.Algorithm, max(1, min(depth, count)), nil
}

// among returns what precedes the ranks of a call with op in words: "op sum among ", or "" if there is none.
func among(op spec.Op, is kind) string {
	if op == 0 {
		return ""
	}
	if op.Declared() {
		if !op.Commutative() {
			return fmt.Sprintf("op %s, which is not commutative, among ", op)
		}
		return fmt.Sprintf("op %s among ", op)
	}
	return fmt.Sprintf("op %s among ", wire.OpWords(is.mark(op)))
}

// Explain returns which rule applies to calls with op, these options and blocks of that many bytes, and why earlier
// ones do not.
func (p *plan) Explain(op spec.Op, bytes int, opts []Option) selection.Choice {
	return selection.Explain(p.table, p.k.Selectable(), p.Calls[kindOf(op, 0, opts, p.reproducible)], bytes)
}

// step returns the step for blocks of that many bytes, or nil.
func (p *plan) step(bytes int, is kind) *planStep {
	steps := p.Steps[is]
	for i := range steps {
		if s := &steps[i]; bytes <= s.maxBytes {
			return s
		}
	}
	return nil
}

// algorithm returns the step of calls that ask for the algorithm of that name.
func (p *plan) algorithm(name string) (*planStep, error) {
	i := p.k.algorithm(name)
	if i < 0 {
		return nil, wire.Refuse(p.k.Name, "no algorithm is called %q; there are %s", name, strings.Join(p.k.Names(), ", "))
	}
	return &p.named[i], nil
}

// planFor returns the plan for calls of k, and makes it for the first call.
func (pl *Planner) planFor(k *Collective) *plan {
	i := slices.IndexFunc(pl.Plans, func(p *plan) bool { return p.k == k })
	if i < 0 {
		i = len(pl.Plans)
		pl.Plans = append(pl.Plans, pl.NewPlan(k))
	}
	pl.latest = pl.Plans[i]
	return pl.latest
}

// NewPlan returns a new plan: the rules that can apply to calls of k.
func (pl *Planner) NewPlan(k *Collective) *plan {
	var rules []selection.Rule
	if pl.Tuning != nil {
		rules = pl.Tuning(k)
	}
	p := &plan{k: k, size: pl.size, local: pl.Local, reproducible: pl.Reproducible,
		table: append(slices.Clone(rules), k.table()...), Tuned: len(rules)}
	for i := range k.Algorithms {
		a := &k.Algorithms[i]
		p.named = append(p.named, planStep{maxInt, pl.pieceOf(p.table, a.Name), a.Deepest(pl.size), a})
	}
	algorithms := k.Selectable()
	for i := range p.Steps {
		call := pl.SelectionOf(kind(i) != ordered)
		call.AtOnce = kind(i) == atOnce
		// If no algorithm was proved for this number of ranks, calls with Unproved get an unproved one, and all others
		// are refused.
		call.Unproved = !slices.ContainsFunc(algorithms, func(a selection.Algorithm) bool { return a.Carries(call) })
		p.Calls[i] = call
		for _, s := range selection.Steps(p.table, algorithms, call) {
			r := &p.table[s.Rule]
			a := &k.Algorithms[k.algorithm(r.Algorithm)]
			p.Steps[i] = append(p.Steps[i], planStep{s.MaxBytes, r.PieceBytes, a.Deepest(pl.size), a})
		}
	}
	return p
}

// pieceOf returns PieceBytes of the first rule for that algorithm and the communicator's transport, or 0.
func (pl *Planner) pieceOf(table []selection.Rule, algorithm string) int {
	for _, r := range table {
		if r.Algorithm == algorithm && (r.Transport == "" || r.Transport == pl.Carrier) {
			return r.PieceBytes
		}
	}
	return 0
}

// SelectionOf returns what rules see of calls on the planner's communicator.
func (pl *Planner) SelectionOf(commutative bool) selection.Call {
	return selection.Call{Transport: pl.Carrier, Size: pl.size, PerHost: pl.PerHost, Local: pl.Local,
		Commutative: commutative}
}

// table returns the built-in rules in order: those of k and then, for calls that none of them matches, one for each
// algorithm as listed.
func (k *Collective) table() []selection.Rule {
	table := slices.Clone(k.Rules)
	for _, a := range k.Algorithms {
		table = append(table, selection.Rule{Algorithm: a.Name})
	}
	return table
}

// Selectable returns what package selection needs to know of the algorithms.
func (k *Collective) Selectable() []selection.Algorithm {
	list := make([]selection.Algorithm, len(k.Algorithms))
	for i, a := range k.Algorithms {
		list[i] = selection.Algorithm{Name: a.Name, Serves: a.Serves, Commutative: a.Commutative, Pipelined: a.Pipelined,
			Local: a.Local, AtOnce: a.AtOnce}
		if !a.Proved.Every {
			list[i].Proved = a.Proved.Covers
		}
	}
	return list
}

// Carries reports whether a can carry out a call with op among size ranks, local of them on each host.
func (a *Algorithm) Carries(size, local int, op spec.Op) bool {
	return a.carries(size, local, kindOf(op, 0, nil, false))
}

func (a *Algorithm) carries(size, local int, is kind) bool {
	return (local > 0 || !a.Local) && (a.Serves == nil || a.Serves(size, local)) && (!a.Commutative || is != ordered) &&
		(a.AtOnce || is != atOnce)
}

// mark returns op as ranks compare it: 0 if it was declared.
func (is kind) mark(op spec.Op) uint32 {
	switch {
	case is == atOnce:
		return uint32(op) | wire.Reproducible
	case op.Declared():
		return 0
	}
	return uint32(op)
}

// notProved returns the error of a call that would get s, which is not proved for it. Depth is 0 unless the call asks
// for one.
func (p *plan) notProved(s *planStep, is kind, depth int, opts []Option) error {
	const more = `; "collgen prove -write" proves every number of ranks and every depth, "collgen gen -n" more ranks, and ` +
		"the option Unproved lets the call run as it is"
	switch {
	case s.deepest > 0:
		return wire.Refuse(p.k.Name, "algorithm %q is proved for %v, not for depth %d"+more, s.Algorithm.Name,
			s.Algorithm.Proved, depth)
	case AsksFor(opts):
		return wire.Refuse(p.k.Name, "algorithm %q is proved for %v, not for %d ranks"+more, s.Algorithm.Name,
			s.Algorithm.Proved, p.size)
	}
	var all []string
	for _, a := range p.k.Algorithms {
		if a.carries(p.size, p.local, is) {
			words := fmt.Sprintf("%q is, for %v", a.Name, a.Proved)
			if a.Proved == (Proved{}) {
				words = fmt.Sprintf("%q is for none", a.Name)
			}
			all = append(all, words)
		}
	}
	return wire.Refuse(p.k.Name, "no algorithm is proved for %d ranks: %s"+more, p.size, strings.Join(all, ", "))
}
