package fast_test

import (
	"testing"

	"github.com/collgen/collgen/fast"
)

// TestStateNames: each state has a name, and what is none has a number.
func TestStateNames(t *testing.T) {
	for s, want := range map[fast.State]string{
		fast.Healthy: "Healthy", fast.Failed: "Failed", fast.Revoked: "Revoked", fast.Aborted: "Aborted", fast.Closed: "Closed",
		fast.Closed + 1: "State(5)",
	} {
		if got := s.String(); got != want {
			t.Errorf("state %d is called %q, want %q", uint8(s), got, want)
		}
	}
}
