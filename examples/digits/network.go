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

// layers returns the two layers of the network whose parameters are p.
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

// activations is what an image makes of the network, as far as the gradient needs it.
type activations struct {
	hidden   [hidden]float32
	byOutput [classes]float32 // the derivative of the loss by the outputs
	byHidden [hidden]float32  // and by the sums of the hidden layer
}

// evaluate scores the images. Kept, if not nil, gets the activations of each.
func evaluate(p []float32, images []image, kept []activations) score {
	first, second := layers(p)
	var s score
	var a activations
	for i := range images {
		im := &images[i]
		first.forward(a.hidden[:], im.pixels[:])
		for j := range a.hidden {
			a.hidden[j] = max(a.hidden[j], 0)
		}
		second.forward(a.byOutput[:], a.hidden[:])
		s.add(&a.byOutput, im.digit)
		a.byOutput[im.digit]--
		if kept != nil {
			kept[i] = a
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

// differentiateSecond adds to grad the derivative of the losses by the parameters of the second layer, and finds what
// the first layer needs.
func differentiateSecond(p, grad []float32, kept []activations) {
	_, second := layers(p)
	_, gradSecond := layers(grad)
	for i := range kept {
		a := &kept[i]
		clear(a.byHidden[:])
		second.backward(gradSecond, a.byOutput[:], a.hidden[:], a.byHidden[:])
		for j := range a.hidden {
			if a.hidden[j] == 0 {
				a.byHidden[j] = 0
			}
		}
	}
}

// differentiateFirst adds to grad the derivative of the losses by the parameters of the first layer.
func differentiateFirst(p, grad []float32, images []image, kept []activations) {
	first, _ := layers(p)
	gradFirst, _ := layers(grad)
	for i := range kept {
		first.backward(gradFirst, kept[i].byHidden[:], images[i].pixels[:], nil)
	}
}
