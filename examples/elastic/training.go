package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/scalar"
)

// Samples are points of a plane with some noise, which gradient descent has to find.
const (
	samples = 1000
	inputs  = 8
	steps   = 60
	rate    = 0.3
)

// training is one rank's part.
type training struct {
	c        *fast.Comm
	out      io.Writer
	rank     int // in the beginning
	step     int // the next one
	weights  []float64
	previous []float64 // those before the last step
	diesAt   int
}

func newTraining(c *fast.Comm, out io.Writer) *training {
	return &training{c: c, out: out, rank: c.Rank(), weights: make([]float64, inputs), previous: make([]float64, inputs),
		diesAt: steps}
}

// run makes all steps, and closes the last communicator. It returns false if this rank dies before.
func (t *training) run(ctx context.Context) (over bool, err error) {
	defer func() { err = errors.Join(err, t.c.Close()) }()
	for t.step < steps {
		if t.step == t.diesAt {
			return false, nil
		}
		lo, hi := fast.Shard(samples, t.c.Rank(), t.c.Size())
		sum := gradient(t.weights, lo, hi)
		if err := fast.AllReduce(ctx, t.c, sum, fast.Sum); err != nil {
			if err := t.goBack(ctx, err); err != nil {
				return false, err
			}
			continue
		}
		t.move(sum)
	}
	return true, nil
}

// move makes a step along the gradient.
func (t *training) move(sum []float64) {
	copy(t.previous, t.weights)
	for i, g := range sum {
		t.weights[i] -= rate / samples * g
	}
	t.step++
}

// goBack continues with the ranks that are left, from the last step that all of them have made. A rank that has made
// one more has come that far because all others had begun it. So nobody is more than one step ahead.
func (t *training) goBack(ctx context.Context, cause error) error {
	for {
		left, err := t.c.Shrink(ctx)
		if err != nil {
			return fmt.Errorf("%w, after %w", err, cause)
		}
		_ = t.c.Close() // its error is that of the call
		if t.c = left; t.rank == 0 {
			fmt.Fprintf(t.out, "step %d: ranks %v have failed, %d go on\n", t.step, fast.Culprits(cause), left.Size())
		}
		last, err := scalar.Min(ctx, left, t.step)
		switch {
		case err != nil:
			cause = err // another rank has failed meanwhile
			continue
		case t.step > last:
			t.step = last
			copy(t.weights, t.previous)
		}
		return nil
	}
}

// gradient returns the derivative of the sum of half the squared errors of some samples.
func gradient(weights []float64, lo, hi int) []float64 {
	sum := make([]float64, inputs)
	for i := lo; i < hi; i++ {
		r := rand.New(rand.NewPCG(uint64(i), 0))
		x, y := make([]float64, inputs), 0.1*r.NormFloat64()
		for j := range x {
			x[j] = r.NormFloat64()
			y += float64(j) * x[j]
		}
		for j, w := range weights {
			y -= w * x[j]
		}
		for j := range x {
			sum[j] -= y * x[j]
		}
	}
	return sum
}

// alone returns what one rank gets.
func alone() []float64 {
	t := &training{weights: make([]float64, inputs), previous: make([]float64, inputs)}
	for t.step < steps {
		t.move(gradient(t.weights, 0, samples))
	}
	return slices.Clone(t.weights)
}

func difference(a, b []float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}
