package emit

import (
	"strings"
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestLimits: calls are refused beyond what was proved of every pair, and at every depth from 1 on.
func TestLimits(t *testing.T) {
	sizes := []int{1, 2, 4, 8, 16}
	for _, x := range []struct {
		p             Proof
		sizes, depths int
		words         string
	}{
		{Proof{}, 0, 0, "0 ranks"},
		{Proof{Sizes: sizes, Depths: []int{1}}, 16, 0, "16 ranks"},
		{Proof{Sizes: sizes, Depths: []int{1}, Sampled: 9}, 8, 0, "8 ranks"},
		{Proof{Sizes: sizes, Depths: []int{1, 2, 3, 7}}, 16, 3, "16 ranks or depth 3"},
		{Proof{Sizes: sizes, Depths: []int{1, 2}, Deeper: []int{3, 4}, Few: 8}, 16, 2, "16 ranks or depth 2"},
		{Proof{Sizes: sizes, Depths: []int{2, 3}}, 16, 0, "16 ranks"},
	} {
		if sizes, depths := x.p.UpTo(); sizes != x.sizes || depths != x.depths || x.p.Limits() != x.words {
			t.Errorf("%+v: %d, %d, %s", x.p, sizes, depths, x.p.Limits())
		}
	}
	deeper := Proof{Sizes: sizes, Depths: []int{1, 2}, Deeper: []int{3, 4, 5}, Few: 8}.words(spec.AllReduce)
	if !strings.Contains(deeper, "depths 1, 2 (up to size 8 also 3..5)") || !strings.Contains(deeper, "Calls beyond 16 ranks or depth 2 are refused") {
		t.Error(deeper)
	}
}
