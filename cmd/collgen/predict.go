package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/cost/simulate"
	"github.com/collgen/collgen/internal/figures"
	"github.com/collgen/collgen/spec"
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

// pieces are the depths that are tried of algorithms which have one.
var pieces = []int{1, 4, 16}

// costCommand is collgen cost.
type costCommand struct {
	*call
	costing
	blocks      blockList
	algorithms  string // of the primitive, these alone
	plot        string // a file
	root, depth int
}

func prepareCost(base *call) runner {
	c := &costCommand{call: base}
	c.packageFlags()
	c.flags.IntVar(&c.costing.ranks, "n", usualCosting.ranks, "`number` of ranks")
	c.blocks = blockList{1 << 20}
	c.flags.Var(&c.blocks, "bytes", "`bytes` in a block: 1048576, or sizes such as 8,64K,1M, or 8..1M, each twice the "+
		"one before, or 8..1M:4, four times")
	c.flags.StringVar(&c.algorithms, "algorithms", "", "of a primitive, those of these `names` alone: ring,tree")
	c.flags.StringVar(&c.plot, "plot", "", "draw the time over the bytes in a block into `file`, as SVG")
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
	if c.costing.ranks < 1 {
		return usageError{fmt.Errorf("-n %d: want at least 1 rank", c.costing.ranks)}
	}
	if c.plot != "" && !strings.EqualFold(filepath.Ext(c.plot), ".svg") {
		return usageError{fmt.Errorf("-plot %s: want a name that ends with .svg", c.plot)}
	}
	if n := c.costing.ranks; c.root < 0 || c.root >= n || c.depth < 0 {
		return usageError{fmt.Errorf("root %d of %d ranks, depth %d: there is no such call", c.root, n, c.depth)}
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
	if found, err = c.named(found); err != nil {
		return err
	}
	var f forecast
	for _, a := range found {
		if err := c.predict(ctx, &m, &a.Algorithm, &f); err != nil {
			return err
		}
	}
	f.finish()
	if c.plot != "" {
		if err := c.draw(&f); err != nil {
			return err
		}
	}
	if c.json {
		return writeJSON(c.stdout, f)
	}
	c.writeForecast(&f)
	return nil
}

// named returns those of found that the flag names; all if it does not.
func (c *costCommand) named(found []*algorithm) (some []*algorithm, err error) {
	if c.algorithms == "" {
		return found, nil
	}
	for name := range strings.SplitSeq(c.algorithms, ",") {
		i := slices.IndexFunc(found, func(a *algorithm) bool { return a.Name == name })
		if i < 0 {
			return nil, usageError{fmt.Errorf("%s has no algorithm %q", c.args[0], name)}
		}
		some = append(some, found[i])
	}
	return some, nil
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

// predict plays a with every block, at every depth that is asked for, unless it does not serve so many ranks.
func (c *costCommand) predict(ctx context.Context, m *simulate.Machine, a *gen.Algorithm, f *forecast) error {
	depths, local, n := []int{1}, 0, c.costing.ranks
	if a.HasLocal() {
		local = min(cmp.Or(m.RanksPerHost, n), n)
	}
	proved := a
	a = lifted(a, n)
	switch {
	case !a.Serves(n, local):
		return nil
	case c.depth > 0:
		depths = []int{c.depth}
	case a.HasDepth():
		depths = pieces
	}
	for _, depth := range depths {
		for _, block := range c.blocks {
			params := gen.Params{Size: n, Root: c.root, Peer: min(1, n-1), Depth: depth, Local: local}
			played := simulate.Call{Algorithm: a, Params: params, Block: block, InPlace: true}
			played.Progress = func(messages int, now simulate.Time) {
				c.progress.Update("%s, depth %d, %v: %d messages, %v", a.FullName(), depth, figures.Size(block), messages,
					now.Duration())
			}
			r, err := simulate.Predict(ctx, m, played)
			var refused *simulate.LimitError
			switch {
			case errors.As(err, &refused):
				f.Refused = append(f.Refused, refusal{a.FullName(), depth, block, refused.Why})
			case err != nil:
				return err
			default:
				f.Predictions = append(f.Predictions, newPrediction(&played, &r, a == proved))
			}
		}
	}
	return nil
}

// lifted returns a without the condition that there are at most so many ranks, where that excludes n: what is not
// proved can be simulated all the same.
func lifted(a *gen.Algorithm, n int) *gen.Algorithm {
	most, ok := a.MostRanks()
	if !ok || n <= most {
		return a
	}
	unlimited := *a
	unlimited.Requires.Size = withoutMost(a.Requires.Size)
	return &unlimited
}

// withoutMost returns e with 1 in place of each condition size <= n.
func withoutMost(e spec.Expr) spec.Expr {
	switch {
	case e.Kind == spec.LeExpr && e.Args[0].Name == spec.Size.Name && e.Args[1].Kind == spec.Const:
		return spec.Int(1)
	case e.Kind == spec.AndExpr:
		return spec.And(withoutMost(e.Args[0]), withoutMost(e.Args[1]))
	}
	return e
}
