package induct

import (
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// Obligations returns what has to hold so that a keeps its promise with any number of ranks and any root, peer and
// depth, out of place and, where it may be called so, in place. Its error says what in a, or in the hints, this package
// has no argument for.
func Obligations(a *gen.Algorithm, h gen.Hints) (list []Obligation, err error) {
	defer func() {
		if u, ok := recover().(unsupported); ok {
			err = fmt.Errorf("%s: %w", a.FullName(), u)
		}
	}()
	refuseFolds(a)
	if err := gen.Fits(*a); err != nil {
		return nil, err
	}
	modes := []bool{false}
	if !a.Primitive.InPlace.InBlock.IsAbsent() && !a.Requires.OutOfPlace {
		modes = append(modes, true)
	}
	for _, inPlace := range modes {
		w := &walker{a: a, hints: h, inPlace: inPlace, moments: map[string]*moment{}}
		w.algorithm()
		list = append(list, w.list...)
	}
	return list, nil
}

// refuseFolds refuses an algorithm with a Fold: there is no induction over its turns.
func refuseFolds(a *gen.Algorithm) {
	anyNode(gen.If{Then: a.Body}, func(n gen.Node) bool {
		fold, ok := n.(gen.Fold)
		if !ok {
			return false
		}
		var names []string
		for _, x := range fold.State {
			names = append(names, x.Name)
		}
		panic(unsupported{fmt.Sprintf("it has a fold over %s, which works out %s, and there is no proof for every number "+
			"of ranks with a fold", fold.Var, strings.Join(names, ", "))})
	})
}

func (w *walker) algorithm() {
	w.once("chunks", "a block has a chunk, and there is no negative number of slots", -1, func(c *context) {
		f := c.frame(w.anyRank(c), "")
		c.want(Part{"the number of chunks has a value", f.hasValue(w.a.Chunks)}, Part{"the number of slots has a value",
			f.hasValue(w.a.Scratch)},
			Part{"a chunk", le(one, f.chunks())}, Part{"no negative number of slots", le(zero, f.length(spec.Scratch))})
	})
	end := w.body(w.a.Body, nil, "", initial, map[string]expr{})
	if w.loop < len(w.hints.Loops) {
		panic(unsupported{fmt.Sprintf("there are invariants of %d loops, and only %d loops", len(w.hints.Loops), w.loop)})
	}
	if w.inner < len(w.hints.Turns) {
		panic(unsupported{fmt.Sprintf("there are turns of %d loops inside of steps, and only %d such loops",
			len(w.hints.Turns), w.inner)})
	}
	w.post(end)
	w.messages()
	w.trees()
	for _, f := range w.later {
		f()
	}
}
