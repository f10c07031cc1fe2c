package main

import (
	"context"
	"io"
	"math"
	"testing"

	"github.com/collgen/collgen/fast"
)

const epochs = 30

// trained returns the outcome of a training on n ranks in this process. It fails the test unless the ranks' parameters
// are the same.
func trained(t *testing.T, n int, how settings) outcome {
	t.Helper()
	outcomes := make([]outcome, n)
	err := fast.Run(t.Context(), n, func(ctx context.Context, c *fast.Comm) (err error) {
		outcomes[c.Rank()], err = train(ctx, c, how, io.Discard)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank, o := range outcomes {
		if o.digest != outcomes[0].digest {
			t.Errorf("rank %d of %d has other parameters than rank 0", rank, n)
		}
	}
	return outcomes[0]
}

func TestManyRanksLearnWhatOneLearns(t *testing.T) {
	one, four := trained(t, 1, settings{epochs: epochs}).accuracy, trained(t, 4, settings{epochs: epochs}).accuracy
	if one < 0.95 || four < 0.95 || math.Abs(four-one) > 0.01 {
		t.Errorf("accuracy of one rank is %.4f, and of 4 %.4f", one, four)
	}
}

// TestStepIsTheSame compares the parameters after the first epoch: they differ by the rounding of the sums alone, of
// which there has not been much yet.
func TestStepIsTheSame(t *testing.T) {
	params := make(map[int][]float32)
	for _, n := range []int{1, 3, 4} { // 3 ranks have unequal shares
		err := fast.Run(t.Context(), n, func(ctx context.Context, c *fast.Comm) error {
			tr, err := newTrainer(ctx, c, settings{})
			if err == nil {
				_, err = tr.epoch(ctx)
			}
			if c.Rank() == 0 {
				params[n] = tr.params
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, one := range params[1] {
		for _, n := range []int{3, 4} {
			if many := params[n][i]; math.Abs(float64(many-one)) > 1e-4 {
				t.Errorf("parameter %d is %g of %d ranks and %g of one", i, many, n, one)
			}
		}
	}
}

// TestDigestNoticesOneBit changes one bit on one rank.
func TestDigestNoticesOneBit(t *testing.T) {
	err := fast.Run(t.Context(), 4, func(ctx context.Context, c *fast.Comm) error {
		tr, err := newTrainer(ctx, c, settings{})
		if err != nil {
			return err
		}
		if c.Rank() == 2 {
			tr.params[7] = math.Float32frombits(math.Float32bits(tr.params[7]) ^ 1)
		}
		if _, err := tr.digest(ctx); err == nil {
			t.Errorf("rank %d noticed nothing", c.Rank())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
