package remote

import (
	"errors"
	"testing"

	"github.com/collgen/collgen/verify/colltest"
)

// TestAble: who has begun a call cannot say any more that it cannot make it.
func TestAble(t *testing.T) {
	for answer, ok := range map[string]bool{"started": true, "cannot do it": false, "error no": false, "done": false} {
		err := able(word("started"))(answer)
		if (err == nil) != ok || errors.Is(err, colltest.ErrCannot) {
			t.Errorf("%q: %v", answer, err)
		}
	}
	if err := word("started")("cannot do it"); !errors.Is(err, colltest.ErrCannot) {
		t.Error(err)
	}
}
