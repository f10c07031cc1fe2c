package catalogue

import (
	"testing"

	"github.com/collgen/collgen/gen"
)

// TestFits: all that the catalogue works out fits an int.
func TestFits(t *testing.T) {
	for _, a := range Algorithms() {
		if err := gen.Fits(a); err != nil {
			t.Error(err)
		}
	}
}
