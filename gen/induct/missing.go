package induct

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// missing says which invariant there is none of: that of the loop n, which stands at the end of a path.
func missing(n gen.For, at path) string {
	names := []string{spec.Rank.Name, spec.Size.Name}
	for _, l := range append(at[:len(at):len(at)], leading(n.Body)...) {
		switch n := l.node.(type) {
		case gen.Let:
			names = append(names, n.Name)
		case gen.For:
			names = append(names, n.Var)
		}
	}
	what := "which ranks this rank has heard of"
	if changed := writtenIn(n); len(changed) > 0 {
		what = "which cells of " + strings.Join(changed, ", ") + " hold what"
	}
	return fmt.Sprintf("its Hints have no invariant of the loop over %s, which has to say %s before each turn, "+
		"over %s and %s",
		n.Var, what, strings.Join(names, ", "), n.Var)
}

// WithoutTurns returns the variables of the loops inside a's steps of which h has no Turns. They are taken to go to all
// ranks, or to all others.
func WithoutTurns(a *gen.Algorithm, h gen.Hints) (vars []string) {
	anyNode(gen.If{Then: a.Body}, func(n gen.Node) bool {
		if step, ok := n.(gen.Step); ok {
			anyNode(gen.If{Then: step}, func(n gen.Node) bool {
				if loop, ok := n.(gen.For); ok {
					vars = append(vars, loop.Var)
				}
				return false
			})
		}
		return false
	})
	return vars[min(len(h.Turns), len(vars)):]
}

// writtenIn returns the buffers that the actions in a node write.
func writtenIn(n gen.Node) (names []string) {
	anyNode(n, func(n gen.Node) bool {
		if name := string(written(n).Buf); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return false
	})
	return names
}

// needs notes that o has to know what cell of buf is on the rank of f, which is v.
func (f *frame) needs(buf spec.Buf, cell expr, v value) {
	f.c.o.needs = append(f.c.o.needs, need{buf, cell, f.rank(), v.known})
}

// Unknown says of which cells o has to know something, and nothing is known, for values of its variables.
func (o *Obligation) Unknown(env spec.Env) (cells []string) {
	env = bind(env, o.all)
	for _, n := range o.needs {
		known, err := n.known.Eval(env)
		if err != nil || known != 0 {
			continue
		}
		cell, _ := n.cell.Eval(env)
		rank, _ := n.rank.Eval(env)
		cells = append(cells, fmt.Sprintf("cell %d of %s on rank %d", cell, n.buf, rank))
	}
	return cells
}
