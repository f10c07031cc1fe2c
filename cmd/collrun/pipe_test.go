//go:build unix && !aix && !solaris

package main

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// TestExpiredPipe is still open for writing.
func TestExpiredPipe(t *testing.T) {
	const written = 10000
	for _, bound := range []int{100, written, maxPipe} {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		defer out.Close()
		if _, err := io.WriteString(out, strings.Repeat("x", written)); err != nil {
			t.Fatal(err)
		}
		if err := in.SetReadDeadline(time.Now()); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(&pipe{in, bound})
		if err != nil || len(got) != min(bound, written) {
			t.Errorf("bound %d: %d bytes, %v", bound, len(got), err)
		}
	}
}
