package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"github.com/collgen/collgen/verify/view"
	"github.com/collgen/collgen/verify/view/picture"
	"github.com/collgen/collgen/verify/view/viewer"
)

// viewCommand is collgen view.
type viewCommand struct {
	oneCall
	inPlace  bool
	refute   bool   // show the first call that is not what is promised
	out      string // the file; "": standard output
	plan     string // the plan file that is meant; "": none
	events   string // the folder with the events of a run; "": none
	which    int    // of its calls, from 1
	svg      bool   // write a moving picture
	all      bool   // write pages of all algorithms that match, and an index
	checker  bool
	verifier *viewer.Checker // that the page gets; nil: none
}

func prepareView(c *call) runner {
	x := &viewCommand{oneCall: oneCall{call: c}}
	c.packageFlags()
	x.callFlags("the `number` of ranks on each host; 0: all")
	c.flags.Var(&x.sizes, "ranks", "`number` of ranks, as -n")
	c.flags.BoolVar(&x.inPlace, "in-place", false, "show the call in place")
	c.flags.BoolVar(&x.refute, "counterexample", false, "prove the algorithm for up to -n ranks, and show the first call "+
		"that breaks a promise")
	c.flags.StringVar(&x.plan, "plan", "", "show the plan in `file`, instead of an algorithm")
	c.flags.StringVar(&x.events, "events", "", "show a call of a real run, whose events are in `directory` "+
		"(docs/events.md)")
	c.flags.IntVar(&x.which, "call", 1, "with -events: the `number` of the call, from 1")
	c.flags.BoolVar(&x.svg, "svg", false, "write a moving picture, SVG, instead of a page")
	c.flags.BoolVar(&x.all, "all", false, "write a page for each algorithm, and an index of them, into the folder of -o")
	c.flags.BoolVar(&x.checker, "checker", false, "put the verifier into the page, compiled by the go command: it proves "+
		"plan files that are dropped there")
	c.flags.StringVar(&x.out, "o", "", "write the page to `file`; standard output if there is none")
	return x
}

// run runs collgen view.
func (c *viewCommand) run(ctx context.Context) error {
	given := 0
	for _, is := range []bool{len(c.args) > 0 || c.all, c.plan != "", c.events != ""} {
		if is {
			given++
		}
	}
	if given != 1 || c.sizes.from != c.sizes.to {
		return usageError{errors.New("want the name of one algorithm, and one number of ranks, or -plan with a file, or " +
			"-events with a directory")}
	}
	s, err := c.shown(ctx)
	if err != nil {
		return err
	}
	if c.checker {
		if c.verifier, err = buildChecker(ctx); err != nil {
			return err
		}
	}
	if c.all {
		return c.writeSite(ctx, s)
	}
	d, err := c.wanted(ctx, s)
	if err != nil {
		return err
	}
	return c.write(d)
}

// wanted returns the data of what the command line names.
func (c *viewCommand) wanted(ctx context.Context, s *source) (*view.Data, error) {
	switch {
	case c.plan != "":
		return c.planData(s)
	case c.events != "":
		return c.eventData(ctx, s)
	}
	a, err := c.algorithm(s)
	if err != nil {
		return nil, err
	}
	p, inPlace, err := c.meant(ctx, a)
	if err != nil {
		return nil, err
	}
	return c.dataOf(ctx, s, a, p, inPlace)
}

// planData returns the data of a plan for one of the primitives of s or of package spec.
func (c *viewCommand) planData(s *source) (*view.Data, error) {
	f, err := os.Open(c.plan)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d, err := view.OfPlan(f, append(slices.Clone(s.primitives), spec.Primitives()...), c.inPlace)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.plan, err)
	}
	return d, nil
}

// dataOf returns what the page shows of one call of a.
func (c *call) dataOf(ctx context.Context, s *source, a *algorithm, p gen.Params, inPlace bool) (*view.Data, error) {
	others := s.declared(a.Primitive)
	own := *s // a job is about some of the algorithms
	j := &job{source: &own, progress: c.progress}
	j.algorithms = []*algorithm{a}
	if err := validate(ctx, j); err != nil {
		return nil, err
	}
	d, err := view.Of(&a.Algorithm, p, inPlace)
	if err != nil {
		return nil, err
	}
	if err := recallEmitted(ctx, j); err != nil {
		return nil, err
	}
	if d.Failure == nil && a.every.Sizes != "" {
		d.Proof = append(d.Proof, fmt.Sprintf("The algorithm was proved by induction for every number of ranks (%s) by %s.",
			a.every.Sizes, strings.Join(a.every.Solvers, " and by ")))
	}
	bound, source, _ := catalogue.LowerBound(a.Primitive)
	d.Costs = view.NewCosts(&a.Algorithm, p, others, bound.Cost, bound.Chunks, source)
	return d, nil
}

// meant returns the call that the command line names, or the first one that fails.
func (c *viewCommand) meant(ctx context.Context, a *algorithm) (p gen.Params, inPlace bool, err error) {
	if !c.refute {
		p, err := c.params(a)
		return p, c.inPlace, err
	}
	_, err = verify.Algorithm(ctx, &a.Algorithm, verify.Options{To: c.sizes.to})
	var f *verify.Failure
	switch {
	case err == nil:
		return p, false, fmt.Errorf("%s has no counterexample: it was proved for up to %d ranks", a.FullName(), c.sizes.to)
	case errors.As(err, &f):
		return f.Params, f.InPlace, nil
	}
	return p, false, err
}

// write writes the page, or its data with -json.
func (c *viewCommand) write(d *view.Data) (err error) {
	var w io.Writer = c.stdout
	if c.out != "" {
		f, err := os.Create(c.out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		w = f
	}
	switch {
	case c.json:
		return writeJSON(w, d)
	case c.svg:
		text, err := picture.SVG(d)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, text)
		return err
	}
	if err := viewer.Write(w, d, c.verifier); err != nil || c.out == "" {
		return err
	}
	fmt.Fprintf(c.stdout, "%s, %s: %s\n", d.Name, d.Call, verdict(d))
	return nil
}

// verdict says in a few words what is known of what d shows.
func verdict(d *view.Data) string {
	switch {
	case d.Failure != nil:
		return "refuted: " + d.Failure.Meaning
	case d.Clipped != "":
		return d.Clipped
	}
	return "proved"
}
