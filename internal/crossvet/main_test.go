package main

import (
	"runtime"
	"testing"
)

// TestVet plants a constant that is too large for an int of 32 bits, and assembly that is wrong on one platform.
func TestVet(t *testing.T) {
	for _, c := range []struct {
		arch, pkg string
		wrong     bool
	}{
		{"amd64", "./testdata/overflow", false},
		{"386", "./testdata/overflow", true},
		{"amd64", "./testdata/frame", false},
		{"arm64", "./testdata/frame", true},
		{"arm64", "./testdata/none", true},
		{"arm64", ".", false},
	} {
		t.Setenv("GOOS", "linux")
		t.Setenv("GOARCH", c.arch)
		if err := vet([]string{c.pkg}); err != nil != c.wrong {
			t.Errorf("%s on %s: %v, which is wrong: %t; the host is %s", c.pkg, c.arch, err, c.wrong, runtime.GOARCH)
		}
	}
}
