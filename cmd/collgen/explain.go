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
	"github.com/collgen/collgen/gen/plan"
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
	oneCall
	tla       bool   // write the schedule's modules of TLA+
	plan      bool   // write the schedule as a plan file
	bytes     int    // of a block
	tune      string // the file of a table of rules; "": none
	transport string // "": every one
}

func prepareExplain(c *call) runner {
	x := &explainCommand{oneCall: oneCall{call: c}}
	c.packageFlags()
	c.tuneFlag(&x.tune)
	x.callFlags("the `number` of ranks on each host, or, of a primitive, on the host that has the most; 0: all")
	c.flags.BoolVar(&x.tla, "tla", false, "write the schedule and its promise as modules of TLA+, which "+
		"tlaplus/models/Exec.tla runs")
	c.flags.BoolVar(&x.plan, "plan", false, "write the schedule as a plan file, which collgen view -plan shows")
	c.flags.IntVar(&x.bytes, "bytes", 0, "of a primitive: why a call with so many `bytes` in a block gets its algorithm")
	c.flags.StringVar(&x.transport, "transport", "", "of a primitive: over this `transport` alone: "+strings.Join(
		selection.Transports, ", "))
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
	a, err := c.algorithm(s)
	if err != nil {
		return err
	}
	e, err := c.explain(ctx, s, a)
	if err != nil {
		return err
	}
	switch {
	case c.json:
		return writeJSON(c.stdout, e)
	case c.plan:
		return plan.Encode(c.stdout, e.Schedule)
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
