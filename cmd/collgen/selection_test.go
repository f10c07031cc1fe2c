package main

import (
	"math"
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/selection"
)

// TestChoices compares what explain says with the selection that it is made from.
func TestChoices(t *testing.T) {
	s := catalogue("")
	for _, p := range s.primitives {
		for size := 1; size <= 20; size++ {
			next := map[string]int{}
			for _, x := range s.choices(p, over(selection.Transports, size, 0)) {
				for _, transport := range x.Transports {
					if x.From != next[transport] {
						t.Errorf("%s among %d over %s: from %d, want %d", p.Name, size, transport, x.From, next[transport])
					}
					last := x.To
					if x.To == 0 {
						last = math.MaxInt - 1
					}
					next[transport] = last + 1
					c := selection.Call{Transport: transport, Size: size, Commutative: true}
					for _, bytes := range []int{x.From, last} {
						if i := gen.Select(s.rules(p), s.declared(p), c, bytes); i != x.Line-1 {
							t.Errorf("%s among %d over %s, %d bytes: line %d, want %d", p.Name, size, transport, bytes, x.Line, i+1)
						}
					}
				}
			}
			for _, transport := range selection.Transports {
				if next[transport] != math.MaxInt {
					t.Errorf("%s among %d over %s: nothing is chosen for large blocks", p.Name, size, transport)
				}
			}
		}
	}
}

// TestCalls compares what explain says of one call with the selection.
func TestCalls(t *testing.T) {
	s := catalogue("")
	for _, p := range s.primitives {
		for _, bytes := range []int{0, 8, 4096, 4097, 1 << 20} {
			calls := s.each(p, over(selection.Transports, 4, 0), bytes)
			for _, x := range calls {
				c := selection.Call{Transport: x.Transport, Size: 4, Commutative: true}
				if i := gen.Select(s.rules(p), s.declared(p), c, bytes); i != x.Line-1 || len(x.Passed) != i {
					t.Errorf("%s, %d bytes: %+v, want rule %d", p.Name, bytes, x, i+1)
				}
			}
			if len(calls) != len(selection.Transports) || !slices.IsSortedFunc(calls, func(a, b chosenCall) int {
				return slices.Index(selection.Transports, a.Transport) - slices.Index(selection.Transports, b.Transport)
			}) {
				t.Errorf("%s: %+v", p.Name, calls)
			}
		}
	}
}
