package golang

import (
	"fmt"
	"testing"

	"github.com/collgen/collgen/spec"
)

// TestRefusalFormat: what callers read is what the author has written, regardless of its meaning to fmt, and the
// values.
func TestRefusalFormat(t *testing.T) {
	for _, reason := range []string{"too many", "more than 50% of it", "100%", "%d", "%%", "a%!s(MISSING)"} {
		e := spec.ArgError{When: spec.Gt(spec.Size, spec.Int(50)), Reason: reason}
		if got, want := fmt.Sprintf(refusalFormat(e), 51), reason+": size is 51"; got != want {
			t.Errorf("%q becomes %q, want %q", reason, got, want)
		}
		e.When = spec.Eq(spec.Int(1), spec.Int(1))
		if got := fmt.Sprintf(refusalFormat(e), []any{}...); got != reason {
			t.Errorf("%q without a value becomes %q", reason, got)
		}
	}
}
