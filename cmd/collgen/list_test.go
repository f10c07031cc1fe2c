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
