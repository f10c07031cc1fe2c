package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/scalar"
)

// width is how many numbers a token has.
const width = 16

// mixture is one rank's part of a mixture of experts.
type mixture struct {
	c        *fast.Comm
	router   [][]float32 // by expert: the token's score is their product
	received []float32   // is used again
}

func newMixture(c *fast.Comm) *mixture {
	m := &mixture{c: c}
	for e := range c.Size() {
		m.router = append(m.router, draw(width, uint64(e), 1))
	}
	return m
}

// draw returns n numbers that are determined by their seeds.
func draw(n int, seed, kind uint64) []float32 {
	r, x := rand.New(rand.NewPCG(seed, kind)), make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// tokens returns this rank's tokens of a step: no two ranks have as many.
func (m *mixture) tokens(step uint64) []float32 {
	return draw((50+10*m.c.Rank())*width, step, 100+uint64(m.c.Rank()))
}

// route returns the expert with the highest score for a token.
func (m *mixture) route(token []float32) (expert int) {
	best := float32(0)
	for e, weights := range m.router {
		score := float32(0)
		for i, x := range token {
			score += x * weights[i]
		}
		if e == 0 || score > best {
			expert, best = e, score
		}
	}
	return expert
}

// apply replaces a token by what an expert makes of it.
func apply(expert int, token []float32) {
	for i := range token {
		token[i] = max(token[i], 0) * float32(expert+1)
	}
}

// forward returns what the experts make of the tokens x, in their order, and how many tokens each expert has got.
func (m *mixture) forward(ctx context.Context, x []float32) (y []float32, loads []int64, err error) {
	n := len(x) / width
	experts := make([]int, n)
	order := make([]int, n) // of tokens: by expert
	sent := fast.Blocks{Counts: make([]int, m.c.Size())}
	for i := range n {
		order[i], experts[i] = i, m.route(x[i*width:][:width])
		sent.Counts[experts[i]] += width
	}
	slices.SortStableFunc(order, func(a, b int) int { return experts[a] - experts[b] })
	out := make([]float32, 0, len(x))
	for _, i := range order {
		out = append(out, x[i*width:][:width]...)
	}
	var came fast.Blocks
	if m.received, came, err = fast.AllToAllVAppend(ctx, m.c, m.received[:0], out, sent); err != nil {
		return nil, nil, err
	}
	for token := range slices.Chunk(m.received, width) {
		apply(m.c.Rank(), token)
	}
	if err = fast.AllToAllV(ctx, m.c, out, sent, m.received, came); err != nil {
		return nil, nil, err
	}
	y = make([]float32, len(x))
	for at, i := range order {
		copy(y[i*width:][:width], out[at*width:])
	}
	loads, err = scalar.AllGather(ctx, m.c, int64(len(m.received)/width))
	return y, loads, err
}

// check returns how many of the tokens x have another result than y.
func (m *mixture) check(x, y []float32) (wrong int) {
	for i := 0; i < len(x); i += width {
		want := slices.Clone(x[i : i+width])
		if apply(m.route(want), want); !slices.Equal(want, y[i:i+width]) {
			wrong++
		}
	}
	return wrong
}
