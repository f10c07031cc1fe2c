package smtproof

import (
	"context"
	"slices"

	"github.com/collgen/collgen/gen/induct"
	"github.com/collgen/collgen/spec"
)

// Search tries all values up to a size, and depths up to 3, and returns the first for which o does not hold; nil if
// there are none, or ctx is done.
func Search(ctx context.Context, o *induct.Obligation, largest int) spec.Env {
	for size := 1; size <= largest; size++ {
		if env := searchFrom(ctx, o, 0, nil, nil, size); env != nil {
			return env
		}
	}
	return nil
}

// searchFrom assigns values to the names from the i-th on. bound has the values of all earlier names, free those of
// variables.
func searchFrom(ctx context.Context, o *induct.Obligation, i int, bound, free spec.Env, size int) spec.Env {
	for ; i < len(o.Names) && !o.Names[i].Is.IsAbsent(); i++ {
		v, err := o.Names[i].Is.Eval(bound)
		if err != nil {
			v = 0
		}
		bound = bound.With(o.Names[i].Name, v)
	}
	if i == len(o.Names) {
		if holds, err := o.Holds(free); err == nil && !holds {
			return slices.Clone(free)
		}
		return nil
	}
	n := o.Names[i]
	from, err := n.Min.Eval(bound)
	to := from + 3
	if err == nil && !n.Max.IsAbsent() {
		to, err = n.Max.Eval(bound)
	}
	if n.Name == spec.Size.Name {
		from, to = size, size+1
	}
	if err != nil {
		return nil
	}
	for v := from; v < to && ctx.Err() == nil; v++ {
		next := slices.Clip(bound).With(n.Name, v)
		if env := searchFrom(ctx, o, i+1, next, slices.Clip(free).With(n.Name, v), size); env != nil {
			return env
		}
	}
	return nil
}
