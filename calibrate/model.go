package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/collgen/collgen/gen/simulate"
	"github.com/collgen/collgen/internal/figures"
)

// model is this machine over one transport, with what was found of it.
type model struct {
	transport string
	machine   simulate.Machine
	knobs     []simulate.Knob
	misfit    float64
	agree     int // cells in which measurements agree with themselves, of both
	both      int
	results   []result
}

// result is a cell, what was predicted for it, and over what it took.
type result struct {
	measured
	algorithm        string
	predicted, ratio float64
}

// newModel returns a machine before it is fitted: what is known of a transport from its source, and numbers to begin
// with. A byte gets a price at each of some sizes. What a core copies and reduces within a rank costs as much as on
// prior; nil: it is looked for.
func newModel(transport string, sizes []int, prior *simulate.Machine) *model {
	x := &model{transport: transport}
	m := &x.machine
	m.Name, m.Cores, m.Copy = transport, runtime.NumCPU(), make(simulate.Rate, len(sizes))
	alpha, overhead, price := 1e-7, 6e-8, 3e-11
	if transport == "shm" {
		m.Segment, m.Ring, m.Near.Share, m.Near.Lend = 128<<10, 8, true, 128<<10 // its slots
	} else {
		m.Segment = 256 << 10 // of a system call
		alpha, overhead, price = 5e-7, 3e-6, 1e-10
	}
	if prior != nil {
		m.Copy = prior.Copy
	}
	m.Reduce = m.Copy // the same memory, whatever is set
	x.add("alpha", alpha, func(is float64) { m.Near.Alpha = is })
	x.add("overhead", overhead, func(is float64) { m.Near.Overhead = is })
	x.add("call", 1e-7, func(is float64) { m.Call = is })
	x.add("switch", 2e-6, func(is float64) { m.Switch = is })
	x.add("spin", 4e-6, func(is float64) { m.Spin = is })
	x.addRates(price, sizes, prior == nil)
	return x
}

func (x *model) add(name string, is float64, set func(float64)) {
	set(is)
	x.knobs = append(x.knobs, simulate.Knob{Name: name, Is: is, Set: set})
}

// addRates looks for what a byte costs that goes from rank to rank, at each of some sizes. In shared memory, within, it
// is what a core copies and reduces, which memory decides alike: slots are reduced where they lie. Over sockets, what
// is reduced is received before.
func (x *model) addRates(price float64, sizes []int, within bool) {
	m := &x.machine
	n := len(sizes)
	m.Near.Put, m.Near.Take, m.Near.Fold = make(simulate.Rate, n), make(simulate.Rate, n), make(simulate.Rate, n)
	for i, bytes := range sizes {
		x.add("byte, "+figures.Size(bytes), price, func(is float64) {
			p := simulate.Point{Bytes: bytes, Price: is}
			m.Near.Put[i], m.Near.Take[i], m.Near.Fold[i] = p, p, p
			if within {
				m.Copy[i] = p
			} else {
				m.Near.Fold[i].Price += m.Reduce[i].Price
			}
		})
	}
}

// compare fits x to the samples that are for that, and predicts the others.
func (x *model) compare(ctx context.Context, all []sample) (*model, error) {
	var trials []simulate.Trial
	for _, c := range gather(all, x.transport, true) {
		call, err := c.call()
		if err != nil {
			return nil, err
		}
		trials = append(trials, simulate.Trial{Call: call, Seconds: c.median * 1e-6})
	}
	x.agree, x.both = noise(all, x.transport)
	err := simulate.Fit(ctx, &x.machine, x.knobs, trials, func(misfit float64) { x.misfit = misfit })
	if err != nil {
		return nil, fmt.Errorf("the fit: %w", err)
	}
	for _, c := range gather(all, x.transport, false) {
		call, err := c.call()
		if err != nil {
			return nil, err
		}
		t := simulate.Trial{Call: call, Seconds: c.median * 1e-6}
		ratio, err := t.Ratio(ctx, &x.machine)
		if err != nil {
			return nil, err
		}
		x.results = append(x.results, result{c, call.Algorithm.Name, c.median * ratio, ratio})
	}
	return x, nil
}

// tolerance is by how much a prediction may be off.
const tolerance = .25

func within(ratio float64) bool { return ratio >= 1-tolerance && ratio <= 1+tolerance }

func (r *result) holds() bool { return within(r.ratio) }

// amongRounds reports whether it is off by no more than the rounds among themselves.
func (r *result) amongRounds() bool { return r.predicted >= r.least && r.predicted <= r.most }
