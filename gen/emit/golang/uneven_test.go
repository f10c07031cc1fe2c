package golang

import (
	"errors"
	"testing"

	"github.com/collgen/collgen/gen/catalogue"
)

// TestUnevenRefused: of algorithms of uneven blocks there is no Go, be it with even blocks.
func TestUnevenRefused(t *testing.T) {
	for _, a := range catalogue.Uneven() {
		if err := Validate(&a); !errors.Is(err, errUneven) {
			t.Errorf("%s: %v", a.FullName(), err)
		}
		if _, err := File(theirs, Collective{Primitive: a.Primitive, Algorithms: []Proved{{Algorithm: a}}}); !errors.Is(err, errUneven) {
			t.Errorf("the file of %s: %v", a.FullName(), err)
		}
	}
}
