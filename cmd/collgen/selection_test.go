package main

import (
	"math"
	"slices"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/readback"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// TestChoices compares what explain says with the selection that it is made from.
func TestChoices(t *testing.T) {
	s := builtIn("")
	if err := recallEmitted(t.Context(), &job{source: s}); err != nil {
		t.Fatal(err)
	}
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
					c := selection.Call{Transport: transport, Size: size, Local: size, Commutative: true}
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
	s := builtIn("")
	for _, p := range s.primitives {
		for _, bytes := range []int{0, 8, 4096, 4097, 1 << 20} {
			calls := s.each(p, over(selection.Transports, 4, 0), bytes)
			for _, x := range calls {
				c := selection.Call{Transport: x.Transport, Size: 4, Local: 4, Commutative: true}
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

// TestSelectable: what was proved of an algorithm ends where the generated table says, also where only some pairs of
// ranks were taken, and where nothing was generated yet; and what the table has to say is derived by itself.
func TestSelectable(t *testing.T) {
	to := func(n int) (sizes []int) {
		for size := 1; size <= n; size++ {
			sizes = append(sizes, size)
		}
		return sizes
	}
	for _, x := range []struct {
		name   string
		of     gen.Algorithm
		sum    verify.Summary
		proved bool
		most   int
		limits readback.Proved
	}{
		{"all roots", catalogue.BroadcastLinear, verify.Summary{Sizes: to(64), Depths: []int{1}}, true, 64,
			readback.Proved{Sizes: 64}},
		{"some pairs", catalogue.SendDirect, verify.Summary{Sizes: to(64), Depths: []int{1}}, true, 16,
			readback.Proved{Sizes: 16}},
		{"four depths", catalogue.BroadcastChain, verify.Summary{Sizes: to(64), Depths: []int{1, 2, 3, 4}}, true, 64,
			readback.Proved{Sizes: 64, Depths: 4}},
		{"a gap between depths", catalogue.BroadcastChain, verify.Summary{Sizes: to(8), Depths: []int{1, 2, 4}}, true, 8,
			readback.Proved{Sizes: 8, Depths: 2}},
		{"few pairs", catalogue.SendDirect, verify.Summary{Sizes: to(9), Depths: []int{1}}, true, 9,
			readback.Proved{Sizes: 9}},
		{"no sizes", catalogue.BroadcastLinear, verify.Summary{}, true, 0, readback.Proved{}},
		{"not generated", catalogue.BroadcastLinear, verify.Summary{}, false, maxSize, readback.Proved{}},
		{"pairs, not generated", catalogue.SendDirect, verify.Summary{}, false, verify.AllPairs, readback.Proved{}},
	} {
		a := &algorithm{Algorithm: x.of, proof: x.sum, proved: x.proved}
		s := &source{primitives: []spec.Primitive{x.of.Primitive}, algorithms: []*algorithm{a}}
		list := s.selectable(x.of.Primitive)
		if len(list) != 1 || x.most > 0 && !list[0].Proved(x.most) || list[0].Proved(x.most+1) {
			t.Errorf("%s: not proved up to %d ranks: %+v", x.name, x.most, list)
		}
		if got := provedOf(a); got != x.limits {
			t.Errorf("%s: %+v, want %+v", x.name, got, x.limits)
		}
	}
}
