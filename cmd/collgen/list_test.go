package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen/catalogue"
)

func TestShort(t *testing.T) {
	for formula, want := range map[string]string{
		"":                       "-",
		"size - 1":               "size - 1",
		strings.Repeat("é", 50):  strings.Repeat("é", 50),
		strings.Repeat("éa", 26): strings.Repeat("éa", 24) + "é…",
	} {
		if got := short(formula); got != want {
			t.Errorf("%q is %q, want %q", formula, got, want)
		}
	}
}

// TestMatch: a name in full means what is called so, and the beginning of a name all that begins with it.
func TestMatch(t *testing.T) {
	for pattern, begin := range map[string][]string{
		"reduce": {"reduce/"}, "reduce/": {"reduce/"}, "reduce/chain": {"reduce/chain"},
		"reduces": {"reducescatter/", "reducescatterv/"}, "redu": {"reduce/", "reducescatter/", "reducescatterv/"},
	} {
		var want []string
		for _, a := range catalogue.Algorithms() {
			if slices.ContainsFunc(begin, func(b string) bool { return strings.HasPrefix(a.FullName(), b) }) {
				want = append(want, a.FullName())
			}
		}
		slices.Sort(want)
		found, err := builtIn("").match(pattern)
		if names := namesOf(found); err != nil || len(want) == 0 || !slices.Equal(slices.Sorted(slices.Values(names)), want) {
			t.Errorf("%s: %q, %v, want %q", pattern, names, err, want)
		}
	}
}
