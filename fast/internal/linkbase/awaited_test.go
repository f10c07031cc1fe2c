package linkbase

import (
	"slices"
	"testing"
)

// TestAwaited: ranks are told in order, of the last set alone, until Clear.
func TestAwaited(t *testing.T) {
	var a Awaited
	a.Clear()
	for _, ranks := range [][]int{{3, 1, 2}, {5}} {
		given := slices.Clone(ranks)
		a.Set(ranks)
		told := a.Ranks()
		if !slices.Equal(told, slices.Sorted(slices.Values(given))) || !slices.Equal(ranks, given) {
			t.Errorf("of %v it tells %v, and leaves %v", given, told, ranks)
		}
		told[0] = 99
		if slices.Contains(a.Ranks(), 99) {
			t.Error("what was told can be changed")
		}
	}
	if a.Clear(); len(a.Ranks()) != 0 {
		t.Errorf("after Clear: %v", a.Ranks())
	}
}
