package spec_test

import (
	"encoding"
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestTexts: what writes itself as its name is read back, and nothing else is read.
func TestTexts(t *testing.T) {
	t.Run("order", texts([]spec.Order{spec.AnyTree, spec.SameTree, spec.RankOrdered}))
	t.Run("type", texts(spec.Types()))
	t.Run("op", texts(spec.Ops()))
}

// TestNamesOutOfRange: what is no order or kind, be it the first that is none, has a name all the same.
func TestNamesOutOfRange(t *testing.T) {
	for got, want := range map[string]string{
		(spec.RankOrdered + 1).String(): "order(3)", spec.Order(9).String(): "order(9)",
		(spec.Unchanged + 1).String(): "kind(5)", spec.ValueKind(9).String(): "kind(9)",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func texts[T interface {
	comparable
	encoding.TextMarshaler
}, P interface {
	*T
	encoding.TextUnmarshaler
}](all []T) func(*testing.T) {
	return func(t *testing.T) {
		for _, x := range all {
			text, err := x.MarshalText()
			if err != nil {
				t.Fatal(err)
			}
			var back T
			if err := P(&back).UnmarshalText(text); err != nil || back != x {
				t.Errorf("%s is read as %v, %v", text, back, err)
			}
		}
		var none T
		for _, text := range []string{"", "disorder", "type(0)", "op(0)"} {
			if err := P(&none).UnmarshalText([]byte(text)); err == nil {
				t.Errorf("%q is read as %v", text, none)
			}
		}
	}
}
