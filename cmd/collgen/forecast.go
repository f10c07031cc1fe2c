package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen/cost/simulate"
	"github.com/collgen/collgen/internal/figures"
)

// forecast is what collgen cost has found out.
type forecast struct {
	Predictions []prediction `json:"predictions"` // by block; of one block, the fastest first
	Fastest     []fastest    `json:"fastest"`     // by block
	Refused     []refusal    `json:"refused,omitempty"`
}

// prediction is how long an algorithm takes on the machine.
type prediction struct {
	Algorithm string             `json:"algorithm"`
	Depth     int                `json:"depth"`
	Block     int                `json:"block"` // bytes
	Seconds   float64            `json:"seconds"`
	Bandwidth float64            `json:"algbw"` // bytes of the larger buffer of a rank, in 10⁹ per second
	Parts     map[string]float64 `json:"parts"` // seconds on the critical path
	Messages  int                `json:"messages"`
	Bytes     int                `json:"bytes"` // in all messages
	Busiest   string             `json:"busiest"`
	Busy      float64            `json:"busy"`             // seconds
	How       string             `json:"how"`              // full, folded or steady
	Played    int                `json:"played,omitempty"` // bytes of the longer block that was played instead
	Unproved  bool               `json:"unproved,omitempty"`
}

// fastest is the blocks with which one algorithm is the fastest: from one of those asked for to another one.
type fastest struct {
	From      int    `json:"from"`
	To        int    `json:"to"`
	Algorithm string `json:"algorithm"`
}

// refusal is a call that was not simulated.
type refusal struct {
	Algorithm string `json:"algorithm"`
	Depth     int    `json:"depth"`
	Block     int    `json:"block"`
	Why       string `json:"why"`
}

func newPrediction(c *simulate.Call, r *simulate.Result, proved bool) prediction {
	p := prediction{Algorithm: c.Algorithm.FullName(), Depth: c.Depth, Block: c.Block, Seconds: r.Time.Seconds(),
		Parts: map[string]float64{}, Messages: r.Messages, Bytes: r.Bytes, Busiest: r.Busiest.What,
		Busy: r.Busiest.Busy.Seconds(), How: r.How.String(), Unproved: !proved}
	if r.Block != c.Block {
		p.Played = r.Block
	}
	if r.Time > 0 {
		p.Bandwidth = float64(c.Blocks()) * float64(c.Block) / p.Seconds / 1e9
	}
	for part, time := range r.Parts {
		if time > 0 {
			p.Parts[simulate.Part(part).String()] = time.Seconds()
		}
	}
	return p
}

// finish sorts the predictions and finds the fastest ones.
func (f *forecast) finish() {
	slices.SortStableFunc(f.Predictions, func(x, y prediction) int {
		return cmp.Or(cmp.Compare(x.Block, y.Block), cmp.Compare(x.Seconds, y.Seconds))
	})
	for i := range f.Predictions {
		p := &f.Predictions[i]
		last := len(f.Fastest) - 1
		switch {
		case i > 0 && f.Predictions[i-1].Block == p.Block:
		case last >= 0 && f.Fastest[last].Algorithm == p.Algorithm:
			f.Fastest[last].To = p.Block
		default:
			f.Fastest = append(f.Fastest, fastest{p.Block, p.Block, p.Algorithm})
		}
	}
}

func (c *costCommand) writeForecast(f *forecast) {
	n := c.costing.ranks
	for _, block := range c.blocks {
		fmt.Fprintf(c.stdout, "%d ranks, blocks of %d bytes, on an imagined machine.\n\n", n, block)
		t := newTable(c.stdout)
		t.row("algorithm", "depth", "µs", "GB/s", "messages", "of the time", "busiest", "simulated")
		for _, p := range f.Predictions {
			if p.Block == block {
				t.row(p.Algorithm, p.Depth, fmt.Sprintf("%.4g", p.Seconds*1e6), fmt.Sprintf("%.3g", p.Bandwidth), p.Messages,
					p.shares(), p.busiest(), p.simulated())
			}
		}
		t.flush()
		if len(c.blocks) > 1 {
			fmt.Fprintln(c.stdout)
		}
	}
	c.writeFastest(f)
	for _, r := range f.Refused {
		fmt.Fprintf(c.stdout, "%s, depth %d, %d bytes, was not simulated: %s.\n", r.Algorithm, r.Depth, r.Block, r.Why)
	}
}

func (c *costCommand) writeFastest(f *forecast) {
	if len(c.blocks) == 1 {
		return
	}
	t := newTable(c.stdout)
	t.row("blocks", "fastest")
	for _, x := range f.Fastest {
		t.row(fmt.Sprintf("%v..%v", figures.Size(x.From), figures.Size(x.To)), x.Algorithm)
	}
	t.flush()
}

// simulated says what was simulated of it.
func (p *prediction) simulated() string {
	words := map[string]string{"full": "all", "folded": "one host or rack", "steady": "first steps, extrapolated"}[p.How]
	if p.Played > 0 {
		words += fmt.Sprintf(", %d bytes", p.Played)
	}
	if p.Unproved {
		words += ", unproved"
	}
	return words
}

func (p *prediction) busiest() string {
	if p.Busy == 0 {
		return "-"
	}
	return fmt.Sprintf("%s, %.0f%%", p.Busiest, 100*p.Busy/p.Seconds)
}

// shares says what the time went to, the most first.
func (p *prediction) shares() string {
	var names, words []string
	for name := range p.Parts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(p.Parts[y], p.Parts[x]), cmp.Compare(x, y)) })
	for _, name := range names {
		words = append(words, fmt.Sprintf("%s %.0f%%", name, 100*p.Parts[name]/p.Seconds))
	}
	return strings.Join(words, ", ")
}
