package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/cost"
	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/gen/emit/tla"
	"github.com/collgen/collgen/selection"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// explanation is what explain says of an algorithm and one call of it.
type explanation struct {
	entry
	Promise  spec.Description `json:"promise"`
	Program  string           `json:"program"`
	Schedule *gen.Schedule    `json:"schedule"`
	Cost     declaredParts    `json:"cost"`     // as far as it is declared
	Measured cost.Measurement `json:"measured"` // of the schedule
	Bound    *bound           `json:"bound,omitempty"`
}

// bound is what no algorithm can go below.
type bound struct {
	parts
	Chunks int    `json:"chunks"` // in a block, where beta and gamma count
	Source string `json:"source"`
}

// explainCommand is collgen explain.
type explainCommand struct {
	*call
	sizes     sizeRange
	root      int
	peer      int
	depth     int
	tla       bool   // write the schedule's modules of TLA+
	bytes     int    // of a block
	tune      string // the file of a table of rules; "": none
	transport string // "": every one
	perHost   int    // ranks on one host; 0: all
}

func prepareExplain(c *call) runner {
	x := &explainCommand{call: c, sizes: sizeRange{4, 4}}
	c.packageFlags()
	c.tuneFlag(&x.tune)
	c.flags.IntVar(&x.root, "root", 0, "`rank` of the root")
	c.flags.IntVar(&x.peer, "peer", 1, "`rank` of the receiver")
	c.flags.IntVar(&x.depth, "depth", 2, "`number` of pieces of a pipelined algorithm")
	c.flags.Var(&x.sizes, "n", "`number` of ranks")
	c.flags.Var(&x.sizes, "size", "`number` of ranks, as -n")
	c.flags.BoolVar(&x.tla, "tla", false, "write the schedule and its promise as modules of TLA+, which "+
		"tlaplus/models/Exec.tla runs")
	c.flags.IntVar(&x.bytes, "bytes", 0, "of a primitive: why a call with so many `bytes` in a block gets its algorithm")
	c.flags.StringVar(&x.transport, "transport", "", "of a primitive: over this `transport` alone: "+strings.Join(
		selection.Transports, ", "))
	c.flags.IntVar(&x.perHost, "ranks-per-host", 0, "the `number` of ranks on each host, or, of a primitive, on the "+
		"host that has the most; 0: all")
	return x
}

// run runs collgen explain.
func (c *explainCommand) run(ctx context.Context) error {
	if len(c.args) == 0 || c.sizes.from != c.sizes.to {
		return usageError{fmt.Errorf("want the name of one algorithm, and one number of ranks")}
	}
	s, err := c.shown(ctx)
	if err == nil {
		err = s.tune(c.tune)
	}
	if err != nil {
		return err
	}
	if p, ok := s.primitive(c.args[0]); ok {
		return c.explainPrimitive(ctx, s, p)
	}
	found, err := s.match(c.args[0])
	if err != nil {
		return err
	}
	if len(found) > 1 {
		return usageError{fmt.Errorf("want one algorithm: %s", strings.Join(namesOf(found), ", "))}
	}
	e, err := c.explain(ctx, s, found[0])
	if err != nil {
		return err
	}
	switch {
	case c.json:
		return writeJSON(c.stdout, e)
	case c.tla:
		schedule, collSpec, err := tla.Modules(e.Schedule, false)
		fmt.Fprintf(c.stdout, "%s\n%s", schedule, collSpec)
		return err
	}
	fmt.Fprintf(c.stdout, "%s.\n\n", s.title())
	e.write(c)
	return nil
}

// explain proves the algorithm for one size and shows one of the schedules.
func (c *explainCommand) explain(ctx context.Context, s *source, a *algorithm) (*explanation, error) {
	j := &job{source: s, options: verify.Options{From: c.sizes.from, To: c.sizes.to, Depths: []int{c.depth}},
		progress: c.progress}
	j.algorithms = []*algorithm{a}
	if err := validate(ctx, j); err != nil {
		return nil, err
	}
	if local := c.localOf(a); !a.Serves(c.sizes.from, local) {
		return nil, fmt.Errorf("%s does not serve %s: it requires %s", a.FullName(), selection.Ranks(c.sizes.from, local,
			a.HasLocal()), text.Requirements(a.Requires))
	}
	schedule, err := c.schedule(a)
	if err != nil {
		return nil, err
	}
	for _, pass := range []func(context.Context, *job) error{prove, recallEmitted} {
		if err := pass(ctx, j); err != nil {
			return nil, err
		}
	}
	e := &explanation{entry: entryOf(a), Promise: spec.Describe(a.Primitive), Program: a.Text(), Schedule: schedule}
	if e.Measured, err = cost.Measure(schedule); err != nil {
		return nil, err
	}
	if e.Cost, err = declared(a.Cost, schedule.Params); err != nil {
		return nil, err
	}
	e.Bound, err = boundOf(a.Primitive, schedule.Params)
	return e, err
}

// localOf returns how many ranks each host has: if the command line does not say, the fewest more than one that a
// serves.
func (c *explainCommand) localOf(a *algorithm) int {
	if !a.HasLocal() || c.isSet("ranks-per-host") {
		return c.perHost
	}
	for _, n := range a.Locals(c.sizes.from) {
		if n > 1 {
			return n
		}
	}
	return 1
}

// schedule returns what the call of the command line does.
func (c *explainCommand) schedule(a *algorithm) (*gen.Schedule, error) {
	p := gen.Params{Size: c.sizes.from, Root: c.root, Peer: c.peer, Depth: c.depth, Local: c.localOf(a)}
	if !c.isSet("peer") {
		p.Peer = min(p.Peer, p.Size-1) // one rank alone has no other
	}
	switch {
	case p.Root < 0 || p.Root >= p.Size:
		return nil, usageError{fmt.Errorf("root is %d, want a rank of %d", p.Root, p.Size)}
	case p.Peer < 0 || p.Peer >= p.Size:
		return nil, usageError{fmt.Errorf("peer is %d, want a rank of %d", p.Peer, p.Size)}
	case p.Depth < 1:
		return nil, usageError{fmt.Errorf("depth is %d, want at least 1", p.Depth)}
	}
	for _, e := range a.Primitive.Errors {
		if refused, err := e.When.Eval(p.Env(0)); err != nil || refused != 0 {
			return nil, fmt.Errorf("%s of %s: %s", a.FullName(), callWords(a.Primitive, p), e.Reason)
		}
	}
	return gen.Instantiate(&a.Algorithm, p)
}

// boundOf returns the lower bound for a call, if there is one.
func boundOf(p spec.Primitive, call gen.Params) (*bound, error) {
	b, source, ok := catalogue.LowerBound(p)
	if !ok {
		return nil, nil
	}
	numbers, err := eval(b.Cost, call)
	if err != nil {
		return nil, err
	}
	chunks, err := b.Chunks.Eval(call.Env(0))
	return &bound{numbers, chunks, source}, err
}

// write writes e for people.
func (e *explanation) write(c *explainCommand) {
	p := e.Schedule.Params
	fmt.Fprintf(c.stdout, "%s: %s\nSource: %s.\n", e.Name, e.Doc, e.Source)
	if e.Requires != "" {
		fmt.Fprintf(c.stdout, "It requires %s.\n", e.Requires)
	}
	fmt.Fprintf(c.stdout, "\n%s\n%s", e.Schedule.Primitive.Doc, text.Promise(e.Schedule.Primitive))
	fmt.Fprintf(c.stdout, "\nThe program of every rank:\n\n%s", e.Program)
	fmt.Fprintf(c.stdout, "\nThe steps of %s, %d %s to a block:\n\n%s", callWords(e.Schedule.Primitive, p),
		e.Schedule.Chunks,
		plural(e.Schedule.Chunks, "chunk"), text.Table(e.Schedule))
	fmt.Fprintf(c.stdout, "\nProved for this size%s: it ends in every interleaving, %s.\n", orderWords(*e.Proof),
		text.Buffering(e.Proof.Capacity > 0))
	if e.Every != nil {
		fmt.Fprintf(c.stdout, "Proved by induction for every size and depth by %s: every call may get it.\n",
			strings.Join(e.Every.Solvers, " and by "))
	} else {
		fmt.Fprintf(c.stdout, "Not proved by induction: without the option Unproved, calls may get it up to the size and "+
			"depth that collgen gen proves.\n")
	}
	e.writeCost(c)
}

func orderWords(s verify.Summary) string {
	if !s.Folds {
		return ""
	}
	return ", with the order " + s.Order.String()
}

func (e *explanation) writeCost(c *explainCommand) {
	fmt.Fprintf(c.stdout, "\nCost on the critical path, where every rank has one port in each direction:\n\n")
	t := newTable(c.stdout)
	t.row("", "messages", "chunks sent", "chunks reduced", "chunks to a block")
	if e.Alpha+e.Beta+e.Gamma != "" {
		t.row("formula", e.Alpha, e.Beta, e.Gamma, e.Chunks)
		t.row("here", orNothing(e.Cost.Alpha), orNothing(e.Cost.Beta), orNothing(e.Cost.Gamma), e.Schedule.Chunks)
	}
	t.row("measured", e.Measured.Alpha, e.Measured.Beta, e.Measured.Gamma, e.Schedule.Chunks)
	if b := e.Bound; b != nil {
		t.row("lower bound", b.Alpha, b.Beta, b.Gamma, b.Chunks)
	}
	t.flush()
	if e.Bound != nil {
		fmt.Fprintf(c.stdout, "\nThe bound is that of each part by itself: no algorithm need reach all three at once. "+
			"Source: %s.\n", e.Bound.Source)
	}
}
