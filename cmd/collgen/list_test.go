package main

import (
	"strings"
	"testing"
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
	for pattern, want := range map[string]int{"reduce": 3, "reduce/": 3, "reduce/chain": 1, "reduces": 5, "redu": 8} {
		found, err := builtIn("").match(pattern)
		if err != nil || len(found) != want {
			t.Errorf("%s: %d of %q, %v, want %d", pattern, len(found), namesOf(found), err, want)
		}
	}
}
