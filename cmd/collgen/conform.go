package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"github.com/collgen/collgen/verify/colltest"
)

// conforming is what collgen conform has flags for.
type conforming struct {
	primitives string
	ranks      rankList
	checks     int
	seed       uint64
	patience   time.Duration
	starting   time.Duration
	shrinking  time.Duration
	failures   int
	large      bool
	soak       bool
	without    string
	onlyCase   string
	matrix     matrix

	tap           bool
	junit, html   string // files
	baseline      string
	writeBaseline string
}

// soakCalls is how many calls each world of collgen conform -soak makes: more than 16 bits can count.
const soakCalls = 70_000

// conformCommand is collgen conform.
type conformCommand struct {
	*call
	conforming
	known   []knownFailure // of -baseline
	reports reports
}

func prepareConform(base *call) runner {
	c := &conformCommand{call: base}
	f := &c.conforming
	f.ranks = rankList{1, 2, 3, 4, 5, 6, 7, 8}
	c.flags.StringVar(&f.primitives, "primitives", "", "test these alone: `names`, such as AllReduce,Barrier")
	c.flags.Var(&f.ranks, "ranks", "`numbers` of ranks, such as 1,2,3 or 1..8")
	c.flags.IntVar(&f.checks, "checks", 15, "`number` of cases drawn at random for each primitive and number of ranks, "+
		"besides those for each type, op, form and length")
	c.flags.Uint64Var(&f.seed, "seed", 1, "the `number` that they are drawn from")
	c.flags.DurationVar(&f.patience, "patience", 20*time.Second, "a case that takes longer hangs, if it then does with "+
		"ten times as much")
	c.flags.DurationVar(&f.starting, "starting", time.Minute, "how long the command may take to start all ranks")
	c.flags.DurationVar(&f.shrinking, "shrinking", 30*time.Second, "how long a case that fails is made smaller")
	c.flags.IntVar(&f.failures, "failures", 5, "`number` of different failures after which the rest of a primitive is "+
		"left out")
	c.flags.BoolVar(&f.large, "large", false, "blocks of up to 16 MiB, too")
	c.flags.BoolVar(&f.soak, "soak", false, fmt.Sprintf("%d short calls on each number of ranks, too", soakCalls))
	c.flags.StringVar(&f.without, "without", "", "leave out what is `named`: primitives, types, ops, forms such as "+
		"Reduce/in-place, the values overflow, nan, minus-zero, and empty blocks")
	c.flags.StringVar(&f.onlyCase, "case", "", "make these calls alone: the `JSON` of a case that has failed")
	c.flags.Var(&f.matrix, "env", "test with each value of a variable: `NAME=a,b,c`, where - means unset, and \\ "+
		"goes before a comma, dash or backslash that is meant. Several -env: each combination")
	f.reportFlags(c.flags)
	return c
}

// reportFlags registers the flags for what is written, and where.
func (f *conforming) reportFlags(flags *flag.FlagSet) {
	flags.BoolVar(&f.tap, "tap", false, "write TAP version 14 to standard output instead of the table")
	flags.StringVar(&f.junit, "junit", "", "write JUnit XML to `file`, anew after each primitive")
	flags.StringVar(&f.html, "html", "", "write a page of HTML to `file`, anew after each primitive")
	flags.StringVar(&f.baseline, "baseline", "", "a `file` of known failures: only others make the exit status 1")
	flags.StringVar(&f.writeBaseline, "write-baseline", "", "write a `file` for -baseline: what has failed in this run, "+
		"and what -baseline knows besides and is not gone")
}

// errNotConforming says that something failed, which was written already.
var errNotConforming = errors.New("it does not do what the specifications say")

// errNothingTested says that there was nothing to call: a check of nothing does not succeed.
var errNothingTested = errors.New("nothing was tested")

// run runs collgen conform.
func (c *conformCommand) run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return usageError{err}
	}
	var err error
	if c.known, err = readBaseline(c.baseline); err != nil {
		return usageError{err}
	}
	all := &conformances{}
	if c.reports, err = c.newReports(all); err != nil {
		return err
	}
	for _, e := range c.matrix.environments() {
		if err = c.test(ctx, all, e); err != nil || ctx.Err() != nil {
			break
		}
	}
	if all.stopped = err; ctx.Err() != nil {
		all.stopped = context.Cause(ctx)
	}
	all.complete = all.stopped == nil
	c.reports.close()
	if err != nil {
		return err
	}
	err = errors.Join(all.err(), c.reports.err)
	if c.writeBaseline != "" && ctx.Err() == nil {
		err = errors.Join(err, writeBaselineFile(c.writeBaseline, all.baseline(c.known)))
	}
	if err != nil {
		return writtenError{err}
	}
	return nil
}

// check checks the command line.
func (c *conformCommand) check() error {
	switch {
	case len(c.command) == 0 || len(c.args) > 0:
		return errors.New("want a command after --, as in: collgen conform -- mpirun -n {n} ./adapter")
	case c.patience <= 0 || c.starting <= 0 || c.checks < 0 || c.failures < 1:
		return errors.New("-patience, -starting and -failures have to be more than 0, and -checks not less")
	case c.tap && c.json:
		return errors.New("-tap and -json exclude each other: both write to standard output")
	case c.onlyCase != "" && c.writeBaseline != "":
		return errors.New("-case and -write-baseline exclude each other: one case tells nothing of other failures")
	}
	return c.checkOutputs()
}

// suite returns a suite with what the flags say.
func (c *conformCommand) suite(impl colltest.Implementation) *colltest.Suite {
	s := colltest.NewSuite(impl)
	s.Patience, s.Starting, s.Shrinking, s.Failures = c.patience, c.starting, c.shrinking, c.failures
	s.Cases, s.Seed, s.Large = c.checks, c.seed, c.large
	s.Progress = func(primitive string, soFar colltest.Counts) {
		c.progress.Update("%s: %d cases", primitive, soFar.Cases)
	}
	return s
}
