package tcp

import (
	"testing"
	"time"
)

// TestPatience: each rank waits as long as all that share its processor need to be served, and not forever.
func TestPatience(t *testing.T) {
	for _, test := range []struct {
		ranks, processors int
		want              time.Duration
	}{{0, 2, patience}, {1, 2, patience}, {2, 2, patience}, {3, 2, 2 * patience}, {8, 2, 4 * patience}, {1000, 2, mostPatience}} {
		if got := patienceFor(test.ranks, test.processors); got != test.want {
			t.Errorf("%d ranks on %d processors: %v, want %v", test.ranks, test.processors, got, test.want)
		}
	}
}
