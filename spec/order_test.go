package spec_test

import (
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestOrderText reads what it writes.
func TestOrderText(t *testing.T) {
	for o := spec.AnyTree; o <= spec.RankOrdered; o++ {
		text, err := o.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back spec.Order
		if err := back.UnmarshalText(text); err != nil || back != o {
			t.Errorf("%s is read as %v, %v", text, back, err)
		}
	}
	if err := new(spec.Order).UnmarshalText([]byte("disorder")); err == nil {
		t.Error("disorder is an order")
	}
}
