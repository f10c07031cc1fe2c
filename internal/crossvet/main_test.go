package main

import (
	"strings"
	"testing"
)

// TestVet plants mistakes that are such on some platforms alone, one for each check.
func TestVet(t *testing.T) {
	for _, c := range []struct {
		platform, pkg string
		wrong         bool
	}{
		{"linux/amd64", "./testdata/overflow", false},
		{"linux/386", "./testdata/overflow", true},
		{"linux/amd64", "./testdata/frame", true}, // no body
		{"linux/arm64", "./testdata/frame", true},
		{"linux/amd64", "./testdata/opcode", false},
		{"linux/arm64", "./testdata/opcode", true},
		{"linux/arm64", "./testdata/format", false},
		{"darwin/arm64", "./testdata/format", true},
		{"linux/arm64", "./testdata/locked", false},
		{"darwin/arm64", "./testdata/locked", true},
		{"linux/arm64", "./testdata/shifted", false},
		{"linux/386", "./testdata/shifted", true},
		{"linux/arm64", "./testdata/pointer", false},
		{"darwin/arm64", "./testdata/pointer", true},
		{"linux/arm64", "./testdata/none", true},
		{"linux/arm64", ".", false},
	} {
		system, arch, _ := strings.Cut(c.platform, "/")
		t.Setenv("GOOS", system)
		t.Setenv("GOARCH", arch)
		if err := vet([]string{c.pkg}); (err != nil) != c.wrong {
			t.Errorf("%s on %s: %v; it is wrong: %t", c.pkg, c.platform, err, c.wrong)
		}
	}
}
