package verify_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// TestCatalogue proves every algorithm for every size up to 33, with all roots and a few depths, out of place and in
// place. It shows on standard error how far it is. Sizes up to 64 are proved by make check-generate, with the form of
// the algorithm that is generated, and by make prove.
func TestCatalogue(t *testing.T) {
	to := 33
	if testing.Short() || raceDetector {
		to = 17
		t.Logf("with -short or -race only sizes up to %d", to)
	}
	start := time.Now()
	for _, a := range catalogue.Algorithms() {
		t.Run(a.FullName(), func(t *testing.T) {
			s, err := verify.Algorithm(t.Context(), &a, verify.Options{To: to, Progress: progress(a.FullName(), start)})
			if err != nil {
				t.Fatal(err)
			}
			if s.Folds && s.Order < a.Primitive.Order || !s.Folds && s.Order != spec.AnyTree {
				t.Errorf("the order %v, for a primitive that promises %v", s.Order, a.Primitive.Order)
			}
			t.Logf("%d schedules, channels of %d, %d slots, %v", s.Schedules, s.Capacity, s.Scratch, s.Order)
		})
	}
}

// progress shows at most one line a second, and one at the end.
func progress(name string, start time.Time) func(done, total int) {
	last := time.Now()
	return func(done, total int) {
		if now := time.Now(); done == total || now.Sub(last) > time.Second {
			last = now
			fmt.Fprintf(os.Stderr, "%6.1fs %-30s %6d of %d schedules proved\n", now.Sub(start).Seconds(), name, done, total)
		}
	}
}
