package commtest

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestParam: members of an algorithm with a parameter are asked for by name, and ranks that ask for different ones are
// told.
func TestParam(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), fasttest.Generous)
			defer cancel()
			all := w.Comms(t, 5)
			defer fasttest.CloseAll(t, all)
			barrier := func(odd string) []error {
				return fasttest.OnAll(all, func(c *fast.Comm) error {
					name := "k-dissemination-4"
					if c.Rank() == 2 {
						name = odd
					}
					return fast.Barrier(ctx, c, fast.WithAlgorithm(name))
				})
			}
			if err := errors.Join(barrier("k-dissemination-4")...); err != nil {
				t.Fatal(err)
			}
			err := fast.Barrier(ctx, all[0], fast.WithAlgorithm("k-dissemination-5"))
			if !errors.Is(err, fast.ErrInvalidArgument) || !strings.Contains(err.Error(),
				"there are direct, dissemination, k-dissemination-4, k-dissemination-8") {
				t.Errorf("of a value that is not declared: %v", err)
			}
			if err := errors.Join(barrier("k-dissemination-4")...); err != nil {
				t.Fatalf("after an argument that was refused: %v", err)
			}
			errs := barrier("k-dissemination-8")
			var mismatch *fast.MismatchError
			if !errors.As(errors.Join(errs...), &mismatch) || mismatch.Field != "algorithm" ||
				!strings.Contains(mismatch.Error(), "k-dissemination-4") || !strings.Contains(mismatch.Error(),
				"k-dissemination-8") {
				t.Errorf("of two values: %v", errs)
			}
		})
	}
}
