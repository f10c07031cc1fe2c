package fast

import (
	"os"
	"testing"
	"time"
)

// The promise is that all other ranks of a host know of a death within 100 ms. The tests leave a busy machine some more.
const (
	promise = 100 * time.Millisecond
	noise   = 400 * time.Millisecond
)

// tries is how often a test that depends on chance tries: few times under -short, more in the tests, and very often under
// `make soak`, which sets COLLGEN_SOAK.
func tries(t *testing.T, usual, soak int) int {
	t.Helper()
	n := usual
	switch {
	case os.Getenv("COLLGEN_SOAK") != "":
		n = soak
	case testing.Short():
		n = max(1, usual/10)
	}
	t.Logf("%d tries", n)
	return n
}
