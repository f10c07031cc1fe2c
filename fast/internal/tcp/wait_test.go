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
	}{{0, 2, basePatience}, {1, 2, basePatience}, {2, 2, basePatience}, {3, 2, 2 * basePatience}, {8, 2, 4 * basePatience},
		{1000, 2, maxPatience}} {
		if got := patienceFor(test.ranks, test.processors); got != test.want {
			t.Errorf("%d ranks on %d processors: %v, want %v", test.ranks, test.processors, got, test.want)
		}
	}
}
