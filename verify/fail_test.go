package verify

import (
	"errors"
	"testing"
)

// TestFirstOfFailures: of several calls that fail, the first one counts, whichever was found first.
func TestFirstOfFailures(t *testing.T) {
	for _, found := range [][]int{{1, 2, 3}, {3, 2, 1}, {2, 3, 1}, {2, 1, 3}} {
		var p proof
		errs := [4]error{1: errors.New("1"), 2: errors.New("2"), 3: errors.New("3")}
		for _, call := range found {
			p.fail(call, errs[call])
		}
		if p.failure != errs[1] {
			t.Errorf("of %v, that of call %v counts", found, p.failure)
		}
	}
}
