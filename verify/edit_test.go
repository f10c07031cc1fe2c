package verify_test

import (
	"reflect"
	"slices"

	"github.com/collgen/collgen/gen"
)

// edit puts what change makes of each node in the node's place, innermost first.
func edit(nodes []gen.Node, change func(gen.Node) []gen.Node) []gen.Node {
	var edited []gen.Node
	for _, n := range nodes {
		switch x := n.(type) {
		case gen.For:
			x.Body = edit(x.Body, change)
			n = x
		case gen.If:
			x.Then, x.Else = edit(x.Then, change), edit(x.Else, change)
			n = x
		case gen.Step:
			n = gen.Step(edit(x, change))
		}
		edited = append(edited, change(n)...)
	}
	return edited
}

// nth changes the k-th node of type T, in source order, from 0 on. There has to be one.
func nth[T gen.Node](k int, change func(T) []gen.Node) func(*gen.Algorithm) {
	return func(a *gen.Algorithm) {
		seen := 0
		a.Body = edit(a.Body, func(n gen.Node) []gen.Node {
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

// set changes a field or two of the k-th node of type T.
func set[T gen.Node](k int, change func(*T)) func(*gen.Algorithm) {
	return nth(k, func(x T) []gen.Node {
		change(&x)
		return []gen.Node{x}
	})
}

// drop removes the k-th node of type T.
func drop[T gen.Node](k int) func(*gen.Algorithm) {
	return nth(k, func(T) []gen.Node { return nil })
}

// let gives the k-th variable of that name another value.
func let(name string, k int, change func(*gen.Let)) func(*gen.Algorithm) {
	return func(a *gen.Algorithm) {
		seen := 0
		a.Body = edit(a.Body, func(n gen.Node) []gen.Node {
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

// all makes several changes.
func all(changes ...func(*gen.Algorithm)) func(*gen.Algorithm) {
	return func(a *gen.Algorithm) {
		for _, c := range changes {
			c(a)
		}
	}
}

// clone is a copy of s that shares nothing that an edit might change.
func clone(s *gen.Schedule) *gen.Schedule {
	t := *s
	t.Ranks = slices.Clone(s.Ranks)
	for r := range t.Ranks {
		p := &t.Ranks[r]
		p.Instrs = slices.Clone(p.Instrs)
		for i := range p.Instrs {
			p.Instrs[i].After, p.Instrs[i].Srcs = slices.Clone(p.Instrs[i].After), slices.Clone(p.Instrs[i].Srcs)
		}
	}
	return &t
}
