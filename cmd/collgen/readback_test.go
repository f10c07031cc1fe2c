package main

import (
	"go/build"
	"os"
	"path/filepath"
	"testing"
)

// TestStandardLibraryIsFound has a collgen that does not know where Go is installed find the standard library.
func TestStandardLibraryIsFound(t *testing.T) {
	known := build.Default.GOROOT
	defer func() { build.Default.GOROOT = known }()
	build.Default.GOROOT = ""
	if err := findStandardLibrary(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(build.Default.GOROOT, "src", "context", "context.go")); err != nil {
		t.Error(err)
	}
}
