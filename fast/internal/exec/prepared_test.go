package exec

import "testing"

// TestDescribesLocal: ranks compare how many of them are on each host.
func TestDescribesLocal(t *testing.T) {
	f := Form{Collective: new(Collective), Algorithm: new(Algorithm), Local: 3}
	if got := f.Describe().Local; got != 3 {
		t.Errorf("a call with 3 ranks on each host says %d", got)
	}
}
