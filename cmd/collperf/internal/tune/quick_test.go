package tune

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/fast"
)

// TestPromising: what is slow on one rank is dropped on both, what is nearly as fast as the best stays, and when one
// rank has had enough, both end.
func TestPromising(t *testing.T) {
	took := [2][]bench.Times{
		{{3, 1, 2}, {2.5, 2.4, 2.6}, {1, 1, 1}, {9, 9, 9}},
		{{2, 2, 2}, {2, 2, 2}, {4, 1, 4}, {1, 1, 1}},
	}
	for _, tc := range []struct {
		spent [2]time.Duration
		want  []int
	}{{want: []int{0, 1}}, {spent: [2]time.Duration{1: time.Hour}}} {
		err := fast.Run(t.Context(), 2, func(ctx context.Context, c *fast.Comm) error {
			s := &session{comm: c}
			left, err := s.promising(ctx, []int{0, 1, 2}, took[c.Rank()], tc.spent[c.Rank()])
			if err == nil && !slices.Equal(left, tc.want) {
				err = errors.New("it drops the wrong ones")
			}
			return err
		})
		if err != nil {
			t.Errorf("%v: %v", tc, err)
		}
	}
}
