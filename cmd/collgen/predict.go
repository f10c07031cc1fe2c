package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/cost/simulate"
)

// costing is what a cost is asked for.
type costing struct {
	ranks, perHost      int
	alpha, beta, gamma  float64
	nearAlpha, nearBeta float64
	file                string // of a machine
}

// usualCosting has the default prices: round numbers for a cluster with one rank on each host, where a message takes
// 5 µs, a link carries 10 GB/s in each direction, and a core reduces 20 GB/s. They were not fitted to any machine;
// docs/cost.md has prices that were.
var usualCosting = costing{ranks: 64, perHost: 1, alpha: 5e-6, beta: 1e-10, gamma: 5e-11}

// prediction is how long an algorithm takes on the machine.
type prediction struct {
	Algorithm string             `json:"algorithm"`
	Depth     int                `json:"depth"`
	Seconds   float64            `json:"seconds"`
	Bandwidth float64            `json:"algbw"` // bytes of the larger buffer of a rank, in 10⁹ per second
	Parts     map[string]float64 `json:"parts"` // seconds on the critical path
	Messages  int                `json:"messages"`
	Bytes     int                `json:"bytes"` // in all messages
	Busiest   string             `json:"busiest"`
	Busy      float64            `json:"busy"` // seconds
}

// pieces are the depths that are tried of algorithms which have one.
var pieces = []int{1, 4, 16}

// costCommand is collgen cost.
type costCommand struct {
	*call
	costing
	bytes, root, depth int // bytes of a block
}

func prepareCost(base *call) runner {
	c := &costCommand{call: base}
	c.packageFlags()
	c.flags.IntVar(&c.costing.ranks, "n", usualCosting.ranks, "`number` of ranks")
	c.flags.IntVar(&c.bytes, "bytes", 1<<20, "`bytes` in a block")
	c.flags.IntVar(&c.root, "root", 0, "`rank` of the root")
	c.flags.IntVar(&c.depth, "depth", 0, "`number` of pieces of a pipelined algorithm; 0: 1, 4 and 16")
	c.flags.Float64Var(&c.costing.alpha, "alpha", usualCosting.alpha, "`seconds` that a message takes between hosts")
	c.flags.Float64Var(&c.costing.beta, "beta", usualCosting.beta,
		"`seconds` that a byte takes on a link, which is a host's in each direction")
	c.flags.Float64Var(&c.costing.gamma, "gamma", usualCosting.gamma, "`seconds` that it takes to reduce a byte")
	c.flags.IntVar(&c.costing.perHost, "ranks-per-host", usualCosting.perHost,
		"`number` of ranks on each host, which share its link")
	c.flags.Float64Var(&c.costing.nearAlpha, "near-alpha", 0, "`seconds` that a message takes between two ranks of a host")
	c.flags.Float64Var(&c.costing.nearBeta, "near-beta", 0, "`seconds` that a byte takes in the memory of a host, which "+
		"its ranks share")
	c.flags.StringVar(&c.costing.file, "machine", "",
		"take the machine from the JSON in `file` (docs/cost.md), with those of the numbers above that are on the "+
			"command line")
	return c
}

// run runs collgen cost.
func (c *costCommand) run(ctx context.Context) error {
	if len(c.args) == 0 {
		return usageError{errors.New("want a primitive, or the name of one algorithm")}
	}
	if n := c.costing.ranks; n < 1 || c.root < 0 || c.root >= n || c.bytes < 0 || c.depth < 0 {
		return usageError{fmt.Errorf("root %d of %d ranks, %d bytes, depth %d: there is no such call", c.root, n, c.bytes,
			c.depth)}
	}
	m, err := c.costing.machine(c.isSet)
	if err != nil {
		return err
	}
	s, err := c.shown(ctx)
	if err != nil {
		return err
	}
	found, err := s.match(c.args[0])
	if err != nil {
		return err
	}
	var all []prediction
	for _, a := range found {
		more, err := c.predict(ctx, &m, &a.Algorithm)
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	slices.SortStableFunc(all, func(x, y prediction) int { return cmp.Compare(x.Seconds, y.Seconds) })
	if c.json {
		return writeJSON(c.stdout, all)
	}
	c.writePredictions(all)
	return nil
}

// machine returns the one that the flags describe, of which some are set.
func (x *costing) machine(set func(flag string) bool) (simulate.Machine, error) {
	m := simulate.Flat(x.alpha, x.beta, x.gamma)
	m.RanksPerHost, m.Near.Alpha, m.Near.Link = x.perHost, x.nearAlpha, x.nearBeta
	m.Near.Fold = m.Far.Fold
	if x.file == "" {
		return m, nil
	}
	f, err := os.Open(x.file)
	if err != nil {
		return m, err
	}
	defer f.Close()
	if err := simulate.Decode(f, &m); err != nil {
		return m, fmt.Errorf("%s: %w", x.file, err)
	}
	x.override(&m, set)
	return m, nil
}

// override puts the numbers that are set into a machine.
func (x *costing) override(m *simulate.Machine, set func(flag string) bool) {
	for flag, number := range map[string]struct {
		is *float64
		to float64
	}{
		"alpha": {&m.Far.Alpha, x.alpha}, "beta": {&m.Far.Link, x.beta},
		"near-alpha": {&m.Near.Alpha, x.nearAlpha}, "near-beta": {&m.Near.Link, x.nearBeta},
	} {
		if set(flag) {
			*number.is = number.to
		}
	}
	if set("gamma") {
		m.Far.Fold, m.Near.Fold, m.Reduce = simulate.Constant(x.gamma), simulate.Constant(x.gamma), simulate.Constant(x.gamma)
	}
	if set("ranks-per-host") {
		m.RanksPerHost = x.perHost
	}
}

// predict plays a, at every depth that is asked for, unless it does not serve so many ranks.
func (c *costCommand) predict(ctx context.Context, m *simulate.Machine, a *gen.Algorithm) ([]prediction, error) {
	depths, local := []int{1}, 0
	if a.HasLocal() {
		local = min(cmp.Or(m.RanksPerHost, c.costing.ranks), c.costing.ranks)
	}
	switch {
	case !a.Serves(c.costing.ranks, local):
		return nil, nil
	case c.depth > 0:
		depths = []int{c.depth}
	case a.HasDepth():
		depths = pieces
	}
	var all []prediction
	for _, depth := range depths {
		params := gen.Params{Size: c.costing.ranks, Root: c.root, Peer: min(1, c.costing.ranks-1), Depth: depth, Local: local}
		played := simulate.Call{Algorithm: a, Params: params, Block: c.bytes, InPlace: true}
		played.Progress = func(messages int, now simulate.Time) {
			c.progress.Update("%s, depth %d: %d messages, %v", a.FullName(), depth, messages, now.Duration())
		}
		r, err := simulate.Play(ctx, m, played)
		if err != nil {
			return nil, err
		}
		all = append(all, newPrediction(&played, &r))
	}
	return all, nil
}

func newPrediction(c *simulate.Call, r *simulate.Result) prediction {
	p := prediction{Algorithm: c.Algorithm.FullName(), Depth: c.Depth, Seconds: r.Time.Seconds(),
		Parts:    map[string]float64{},
		Messages: r.Messages, Bytes: r.Bytes, Busiest: r.Busiest.What, Busy: r.Busiest.Busy.Seconds()}
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

func (c *costCommand) writePredictions(all []prediction) {
	fmt.Fprintf(c.stdout, "%d ranks, blocks of %d bytes, on an imagined machine.\n\n", c.costing.ranks, c.bytes)
	t := newTable(c.stdout)
	t.row("algorithm", "depth", "µs", "GB/s", "messages", "of the time", "busiest")
	for _, p := range all {
		t.row(p.Algorithm, p.Depth, fmt.Sprintf("%.4g", p.Seconds*1e6), fmt.Sprintf("%.3g", p.Bandwidth), p.Messages,
			p.shares(),
			p.busiest())
	}
	t.flush()
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
