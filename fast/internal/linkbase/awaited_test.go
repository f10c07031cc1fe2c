package linkbase

import (
	"slices"
	"testing"
)

// TestAwaited: ranks are told in order, of the last set alone, until forget.
func TestAwaited(t *testing.T) {
	var a awaited
	a.forget()
	for _, ranks := range [][]int{{3, 1, 2}, {5}} {
		given := slices.Clone(ranks)
		a.set(ranks)
		told := a.get()
		if !slices.Equal(told, slices.Sorted(slices.Values(given))) || !slices.Equal(ranks, given) {
			t.Errorf("of %v it tells %v, and leaves %v", given, told, ranks)
		}
		told[0] = 99
		if slices.Contains(a.get(), 99) {
			t.Error("what was told can be changed")
		}
	}
	if a.forget(); len(a.get()) != 0 {
		t.Errorf("after forget: %v", a.get())
	}
}
