package main

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/collgen/collgen/fast"
)

// A batch has so many microbatches of one input, which is so wide.
const microbatches, width = 12, 16

// stage is one rank's layer: y = tanh(weights × x). The loss is half of the sum of the squares of the last layer's y.
type stage struct {
	rank, size        int
	weights, gradient []float64   // width rows of width
	xs, ys            [][]float64 // of the microbatches whose backward pass has not come
	mostKept          int
	sends             []*fast.Handle
}

// newStage draws the layer of a rank.
func newStage(rank, size int) *stage {
	return &stage{rank: rank, size: size, weights: draw(width*width, uint64(rank), 1),
		gradient: make([]float64, width*width)}
}

// draw returns n numbers that are determined by their seeds.
func draw(n int, seed, kind uint64) []float64 {
	r, x := rand.New(rand.NewPCG(seed, kind)), make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64() / math.Sqrt(width)
	}
	return x
}

// input returns the first layer's input of a microbatch.
func input(microbatch int) []float64 { return draw(width, uint64(microbatch), 2) }

// batch makes the passes of all microbatches, so that gradient has the derivative by the weights.
func (s *stage) batch(ctx context.Context, c *fast.Comm) error {
	ahead := min(s.size-1-s.rank, microbatches)
	for i := range ahead {
		if err := s.forward(ctx, c, i); err != nil {
			return err
		}
	}
	for i := range microbatches {
		if next := i + ahead; next < microbatches {
			if err := s.forward(ctx, c, next); err != nil {
				return err
			}
		}
		if err := s.backward(ctx, c); err != nil {
			return err
		}
	}
	for _, h := range s.sends {
		if err := h.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// forward computes the output of a microbatch, and starts to send it to the rank of the next layer.
func (s *stage) forward(ctx context.Context, c *fast.Comm, microbatch int) error {
	x := input(microbatch)
	if s.rank > 0 {
		if err := fast.Recv(ctx, c, x, s.rank-1); err != nil {
			return err
		}
	}
	y := s.apply(x)
	s.xs, s.ys = append(s.xs, x), append(s.ys, y)
	s.mostKept = max(s.mostKept, len(s.xs))
	if s.rank < s.size-1 {
		s.sends = append(s.sends, fast.StartSend(ctx, c, y, s.rank+1))
	}
	return nil
}

// backward gets the derivative of the loss by the oldest output, and starts to send that by its input to the rank of
// the layer before.
func (s *stage) backward(ctx context.Context, c *fast.Comm) error {
	x, y := s.xs[0], s.ys[0]
	s.xs, s.ys = s.xs[1:], s.ys[1:]
	dy := make([]float64, width)
	if s.rank == s.size-1 {
		copy(dy, y) // of the loss itself
	} else if err := fast.Recv(ctx, c, dy, s.rank+1); err != nil {
		return err
	}
	dx := s.differentiate(x, y, dy)
	if s.rank > 0 {
		s.sends = append(s.sends, fast.StartSend(ctx, c, dx, s.rank-1))
	}
	return nil
}

// apply returns the layer's output.
func (s *stage) apply(x []float64) []float64 {
	y := make([]float64, width)
	for i := range y {
		for j, v := range x {
			y[i] += s.weights[i*width+j] * v
		}
		y[i] = math.Tanh(y[i])
	}
	return y
}

// differentiate adds to gradient what dy makes of it, and returns the derivative by x.
func (s *stage) differentiate(x, y, dy []float64) []float64 {
	dx := make([]float64, width)
	for i := range y {
		d := dy[i] * (1 - y[i]*y[i])
		for j, v := range x {
			s.gradient[i*width+j] += d * v
			dx[j] += d * s.weights[i*width+j]
		}
	}
	return dx
}

// alone returns the gradients of all layers, computed without other ranks.
func alone(layers int) (gradients [][]float64) {
	var all []*stage
	for rank := range layers {
		all = append(all, newStage(rank, layers))
	}
	for i := range microbatches {
		values := [][]float64{input(i)}
		for k, s := range all {
			values = append(values, s.apply(values[k]))
		}
		d := values[layers]
		for k := layers - 1; k >= 0; k-- {
			d = all[k].differentiate(values[k], values[k+1], d)
		}
	}
	for _, s := range all {
		gradients = append(gradients, s.gradient)
	}
	return gradients
}

func difference(a, b []float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}
