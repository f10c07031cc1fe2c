package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/collgen/collgen/fast"
)

// TestExperts: tokens come back from their experts, in their order, also if an expert gets none.
func TestExperts(t *testing.T) {
	for _, size := range []int{1, 2, 3, 5} {
		for _, idle := range []bool{false, true} {
			t.Run(fmt.Sprint(size, " idle ", idle), func(t *testing.T) {
				err := fast.Run(t.Context(), size, func(ctx context.Context, c *fast.Comm) error {
					m := newMixture(c)
					if idle { // all tokens have the score 0 for all experts, of which the first is taken
						for e := range m.router {
							clear(m.router[e])
						}
					}
					x := m.tokens(7)
					y, loads, err := m.forward(ctx, x)
					if err != nil {
						return err
					}
					total := int64(0)
					for _, n := range loads {
						total += n
					}
					if wrong := m.check(x, y); wrong > 0 || total != int64(50*size+5*size*(size-1)) || idle && loads[0] != total {
						return fmt.Errorf("rank %d: %d tokens are wrong, loads %v", c.Rank(), wrong, loads)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestCheck: what goes to the wrong expert is found.
func TestCheck(t *testing.T) {
	err := fast.Run(t.Context(), 2, func(_ context.Context, c *fast.Comm) error {
		m := newMixture(c)
		x := m.tokens(1)
		y := append([]float32{}, x...)
		for i := 0; i < len(y); i += width {
			apply(1-m.route(y[i:i+width]), y[i:i+width])
		}
		if wrong := m.check(x, y); wrong != len(x)/width {
			return fmt.Errorf("%d tokens of %d are found", wrong, len(x)/width)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
