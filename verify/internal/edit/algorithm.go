// Package edit plants bugs: it changes algorithms and schedules in one place.
package edit

import (
	"reflect"
	"slices"

	"github.com/collgen/collgen/gen"
)

// rewrite puts what change makes of each node in the node's place, innermost first.
func rewrite(nodes []gen.Node, change func(gen.Node) []gen.Node) []gen.Node {
	var edited []gen.Node
	for _, n := range nodes {
		switch x := n.(type) {
		case gen.For:
			x.Body = rewrite(x.Body, change)
			n = x
		case gen.If:
			x.Then, x.Else = rewrite(x.Then, change), rewrite(x.Else, change)
			n = x
		case gen.Fold:
			x.Body = rewrite(x.Body, change)
			n = x
		case gen.Step:
			n = gen.Step(rewrite(x, change))
		}
		edited = append(edited, change(n)...)
	}
	return edited
}

// Nth changes the k-th node of type T, in source order, from 0 on. There has to be one.
func Nth[T gen.Node](k int, change func(T) []gen.Node) func(*gen.Algorithm) {
	return func(a *gen.Algorithm) {
		seen := 0
		a.Body = rewrite(a.Body, func(n gen.Node) []gen.Node {
			x, ok := n.(T)
			if !ok {
				return []gen.Node{n}
			}
			if seen++; seen != k+1 {
				return []gen.Node{n}
			}
			return change(x)
		})
		if seen <= k {
			panic("there are not so many " + reflect.TypeFor[T]().Name())
		}
	}
}

// Set changes a field or two of the k-th node of type T.
func Set[T gen.Node](k int, change func(*T)) func(*gen.Algorithm) {
	return Nth(k, func(x T) []gen.Node {
		change(&x)
		return []gen.Node{x}
	})
}

// Drop removes the k-th node of type T.
func Drop[T gen.Node](k int) func(*gen.Algorithm) {
	return Nth(k, func(T) []gen.Node { return nil })
}

// Let gives the k-th variable of that name another value.
func Let(name string, k int, change func(*gen.Let)) func(*gen.Algorithm) {
	return func(a *gen.Algorithm) {
		seen := 0
		a.Body = rewrite(a.Body, func(n gen.Node) []gen.Node {
			if x, ok := n.(gen.Let); ok && x.Name == name {
				if seen++; seen == k+1 {
					change(&x)
				}
				return []gen.Node{x}
			}
			return []gen.Node{n}
		})
		if seen <= k {
			panic("there are not so many variables " + name)
		}
	}
}

// All makes several changes.
func All(changes ...func(*gen.Algorithm)) func(*gen.Algorithm) {
	return func(a *gen.Algorithm) {
		for _, c := range changes {
			c(a)
		}
	}
}

// Clone returns a copy of s that shares nothing that an edit might change.
func Clone(s *gen.Schedule) *gen.Schedule {
	t := *s
	t.Ranks = slices.Clone(s.Ranks)
	for r := range t.Ranks {
		p := &t.Ranks[r]
		p.Instrs = slices.Clone(p.Instrs)
		var after []int // of all instructions
		var srcs []gen.Place
		for i := range p.Instrs {
			after, srcs = append(after, p.Instrs[i].After...), append(srcs, p.Instrs[i].Srcs...)
		}
		for i := range p.Instrs {
			in := &p.Instrs[i]
			in.After, after = cut(after, len(in.After))
			in.Srcs, srcs = cut(srcs, len(in.Srcs))
		}
	}
	return &t
}

// cut returns the first n elements, to which nothing can be appended in place, and the others.
func cut[E any](list []E, n int) (first, others []E) { return list[:n:n], list[n:] }
