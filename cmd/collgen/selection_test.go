package main

import (
	"testing"

	"github.com/collgen/collgen/gen"
)

// TestChoices compares what explain says with the selection that it is made from.
func TestChoices(t *testing.T) {
	s := catalogue("")
	for _, p := range s.primitives {
		var algorithms []gen.Algorithm
		for _, a := range s.of(p) {
			algorithms = append(algorithms, a.Algorithm)
		}
		for size := 1; size <= 20; size++ {
			from := 0
			choices := s.choices(p, size)
			for _, c := range choices {
				for _, bytes := range []int{c.From, c.To} {
					i := gen.Select(s.rules(p), algorithms, size, bytes, true)
					if i != c.Line-1 && (bytes == c.From || c.To != 0) {
						t.Errorf("%s among %d, %d bytes: line %d, want %d", p.Name, size, bytes, c.Line, i+1)
					}
				}
				if c.From != from {
					t.Errorf("%s among %d: from %d, want %d", p.Name, size, c.From, from)
				}
				from = c.To + 1
			}
			if len(choices) == 0 || choices[len(choices)-1].To != 0 {
				t.Errorf("%s among %d: nothing is chosen for large blocks", p.Name, size)
			}
		}
	}
}

// TestReasons has rules of all kinds in words.
func TestReasons(t *testing.T) {
	for _, test := range []struct {
		rule gen.Rule
		want string
	}{
		{gen.Rule{}, "line 1: all calls that no line before is for"},
		{gen.Rule{MinSize: 2, MaxSize: 8}, "line 1: 2 to 8 ranks"},
		{gen.Rule{MinSize: 3, MaxBytes: 9}, "line 1: at least 3 ranks, at most 9 bytes"},
		{gen.Rule{MaxSize: 8, PieceBytes: 4}, "line 1: at most 8 ranks; in pieces of 4 bytes"},
	} {
		if got := (choice{Line: 1, Rule: test.rule}).reason(); got != test.want {
			t.Errorf("%+v is %q, want %q", test.rule, got, test.want)
		}
	}
}
