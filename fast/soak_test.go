package fast

import (
	"os"
	"testing"
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
