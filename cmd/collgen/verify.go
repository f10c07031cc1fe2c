package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/verify"
)

// verifyCommand is collgen verify.
type verifyCommand struct {
	*call
	sizes sizeRange
	svg   string // the file for the drawing of a counterexample; "": none
	spec  bool   // change specifications, and check that examples notice
}

func prepareVerify(c *call) runner {
	x := &verifyCommand{call: c, sizes: sizeRange{1, maxSize}}
	c.packageFlags()
	c.flags.Var(&x.sizes, "n", "`numbers` of ranks")
	c.flags.StringVar(&x.svg, "svg", "", "draw the counterexample, if there is one, in `file`")
	c.flags.BoolVar(&x.spec, "spec", false, "change each part of the specifications, and show the changes that no "+
		"example of the package refuses")
	return x
}

// run runs collgen verify.
func (c *verifyCommand) run(ctx context.Context) error {
	s, err := c.shown(ctx)
	if err != nil {
		return err
	}
	if c.spec {
		return c.runSpec(ctx, s)
	}
	found, err := c.proveMatching(ctx, s, c.sizes)
	switch {
	case err == nil && c.json:
		return c.writeEntries(found)
	case err == nil:
		c.writeProved(s, found, fmt.Sprintf("%d %s", len(found), plural(len(found), "algorithm")))
		return nil
	}
	proved := slices.DeleteFunc(slices.Clone(found), func(a *algorithm) bool { return !a.proved })
	if len(proved) > 0 && !c.json {
		c.writeProved(s, proved, fmt.Sprintf("%d of %d algorithms", len(proved), len(found)))
	}
	return errors.Join(err, c.draw(err))
}

// writeProved writes what was proved of algorithms, which are so many in words.
func (c *verifyCommand) writeProved(s *source, algorithms []*algorithm, words string) {
	fmt.Fprintf(c.stdout, "%s.\n\n", s.title())
	t := newTable(c.stdout)
	t.row("algorithm", "sizes", "depths", "schedules", "in place", "order", "room", "scratch")
	total := 0
	for _, a := range algorithms {
		p := a.proof
		t.row(a.FullName(), sizesOf(a), depthsOf(p), p.Schedules, yes(p.InPlace), order(p), room(p), p.Scratch)
		total += p.Schedules
	}
	t.flush()
	fmt.Fprintf(c.stdout, "\n%s, %d schedules proved. Room is what a channel has to hold; no transport promises more "+
		"than a segment. Scratch is in slots.\n", words, total)
}

// depthsOf returns the depths for which an algorithm was proved: "1..4, to size 8 also 5..8".
func depthsOf(s verify.Summary) string {
	depths := text.Ranges(s.Depths)
	if len(s.Deeper) > 0 {
		depths += fmt.Sprintf(", to size %d also %s", verify.ManyDepths, text.Ranges(s.Deeper))
	}
	return depths
}

// draw writes the picture of the first counterexample in err to where the command line says, or says how to get one.
func (c *verifyCommand) draw(err error) error {
	var f *verify.Failure
	if !errors.As(err, &f) {
		return nil
	}
	svg, ok := f.SVG()
	switch {
	case c.svg == "" && ok:
		fmt.Fprintf(c.stderr, "collgen verify -svg FILE draws the counterexample.\n")
		return nil
	case c.svg == "":
		return nil
	case !ok:
		return fmt.Errorf("%s is not written: there are no steps to draw", c.svg)
	}
	if err := os.WriteFile(c.svg, []byte(svg), 0o666); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "The counterexample is drawn in %s.\n", c.svg)
	return nil
}

// room returns what a channel has to hold.
func room(p verify.Summary) string {
	switch {
	case p.Schedules == 0:
		return "-"
	case p.Capacity > 0:
		return "a segment"
	}
	return "none"
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
