package main

import (
	"math"
	"math/rand/v2"
)

// The network: pixels, one hidden layer of rectified sums, and the probabilities of the ten digits by softmax.
const (
	inputs     = 64
	hidden     = 32
	classes    = 10
	parameters = hidden*(inputs+1) + classes*(hidden+1)
)

// layer is a view of a part of the parameters, or of a gradient, which has the same shape.
type layer struct {
	in, out int
	weights []float32 // out rows of in
	bias    []float32 // out
}

// layers are the two layers of the network whose parameters are p.
func layers(p []float32) (first, second layer) {
	const n = hidden * (inputs + 1)
	return newLayer(inputs, hidden, p[:n]), newLayer(hidden, classes, p[n:])
}

func newLayer(in, out int, p []float32) layer {
	return layer{in, out, p[:in*out], p[in*out:][:out]}
}

// initialize draws weights of a size that keeps sums at the size of their operands. Biases stay 0.
func initialize(p []float32, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	first, second := layers(p)
	for _, l := range []layer{first, second} {
		scale := math.Sqrt(2 / float64(l.in))
		for i := range l.weights {
			l.weights[i] = float32(r.NormFloat64() * scale)
		}
	}
}

// forward sets y to weights × x + bias.
func (l layer) forward(y, x []float32) {
	for o := range y {
		sum := l.bias[o]
		row := l.weights[o*l.in:][:l.in]
		for i, v := range x {
			sum += row[i] * v
		}
		y[o] = sum
	}
}

// backward adds to grad what dy, the derivative by l's output, makes of the derivative by l's parameters, and to dx, if
// there is one, what it makes of the derivative by l's input x.
func (l layer) backward(grad layer, dy, x, dx []float32) {
	for o, d := range dy {
		grad.bias[o] += d
		row := grad.weights[o*l.in:][:l.in]
		for i, v := range x {
			row[i] += d * v
		}
		for i, w := range l.weights[o*l.in:][:len(dx)] {
			dx[i] += d * w
		}
	}
}

// score is what the network makes of some images.
type score struct {
	loss    float64 // sum of the cross entropies
	correct int     // images whose digit is the most probable one
}

// evaluate scores the images. If there is a grad, it adds the derivative of the loss by p to it.
func evaluate(p, grad []float32, images []image) score {
	first, second := layers(p)
	var s score
	var h [hidden]float32
	var y [classes]float32
	for i := range images {
		im := &images[i]
		first.forward(h[:], im.pixels[:])
		for j := range h {
			h[j] = max(h[j], 0)
		}
		second.forward(y[:], h[:])
		s.add(&y, im.digit)
		if grad != nil {
			differentiate(p, grad, im, &h, &y)
		}
	}
	return s
}

// add turns the outputs y into probabilities, and adds what they say about an image of the digit.
func (s *score) add(y *[classes]float32, digit int) {
	best := 0
	for c := range y {
		if y[c] > y[best] {
			best = c
		}
	}
	highest, sum := y[best], float32(0)
	for c := range y {
		y[c] = float32(math.Exp(float64(y[c] - highest)))
		sum += y[c]
	}
	for c := range y {
		y[c] /= sum
	}
	s.loss -= math.Log(max(float64(y[digit]), math.SmallestNonzeroFloat32))
	if best == digit {
		s.correct++
	}
}

// differentiate adds to grad the derivative of the image's loss, given its hidden layer h and its probabilities y.
func differentiate(p, grad []float32, im *image, h *[hidden]float32, y *[classes]float32) {
	first, second := layers(p)
	gradFirst, gradSecond := layers(grad)
	y[im.digit]-- // now the derivative by the outputs
	var dh [hidden]float32
	second.backward(gradSecond, y[:], h[:], dh[:])
	for j := range dh {
		if h[j] == 0 {
			dh[j] = 0
		}
	}
	first.backward(gradFirst, dh[:], im.pixels[:], nil)
}
