package quantized

import (
	"errors"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/fasttest"
)

// TestAllocations: a repeated call allocates nothing, whatever the format and the lengths are that have been before.
func TestAllocations(t *testing.T) {
	const runs = 20
	for _, o := range allOptions {
		all := fasttest.Goroutines[*fast.Comm](t, 3, []fast.InitOption(nil)...)
		fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error {
			q, err := New(c, o)
			if err != nil {
				return err
			}
			long, short := make([]float32, 1009), make([]float32, 17)
			once := func() {
				err = errors.Join(err, AllReduce(t.Context(), q, long, fast.Avg, fast.WithLabel("gradient")),
					AllReduce(t.Context(), q, short, fast.Sum))
			}
			if c.Rank() > 0 {
				for range 1 + runs {
					once()
				}
				return err
			}
			if n := testing.AllocsPerRun(runs, once); n != 0 {
				t.Errorf("%v: %v allocations on all ranks", o, n)
			}
			return err
		}))
		fasttest.CloseAll(t, all)
	}
}
