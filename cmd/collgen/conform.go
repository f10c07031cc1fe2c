package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/verify/colltest"
	"github.com/collgen/collgen/verify/colltest/remote"
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
}

// soakCalls is how many calls each world of collgen conform -soak makes: more than 16 bits can count.
const soakCalls = 70_000

// conformCommand is collgen conform.
type conformCommand struct {
	*call
	conforming
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
	return c
}

// errNotConforming says that something failed, which was written already.
var errNotConforming = errors.New("it does not do what the specifications say")

// errNothingTested says that there was nothing to call: a check of nothing does not succeed.
var errNothingTested = errors.New("nothing was tested")

// run runs collgen conform.
func (c *conformCommand) run(ctx context.Context) error {
	if len(c.command) == 0 || len(c.args) > 0 {
		return usageError{errors.New("want a command after --, as in: collgen conform -- mpirun -n {n} ./adapter")}
	}
	if c.patience <= 0 || c.starting <= 0 || c.checks < 0 || c.failures < 1 {
		return usageError{errors.New("-patience, -starting and -failures have to be more than 0, and -checks not less")}
	}
	job, err := c.firstStart(ctx)
	if err != nil {
		return err
	}
	if err := c.leaveOut(job); err != nil {
		return err
	}
	s := colltest.NewSuite(job)
	s.Patience, s.Starting, s.Shrinking, s.Failures = c.patience, c.starting, c.shrinking, c.failures
	s.Cases, s.Seed, s.Large = c.checks, c.seed, c.large
	s.Progress = func(primitive string, soFar colltest.Counts) {
		c.progress.Update("%s: %d cases", primitive, soFar.Cases)
	}
	result, err := c.conform(ctx, s)
	err = errors.Join(err, s.Close())
	if result == nil {
		return err
	}
	if err := errors.Join(err, c.writeConformance(result)); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case len(result.Failures) > 0:
		return errNotConforming
	case result.calls() == 0:
		return errNothingTested
	}
	return nil
}

// firstStart has the command say what it can do, within the time that starting may take.
func (c *conformCommand) firstStart(ctx context.Context) (*remote.Job, error) {
	patient, cancel := context.WithTimeout(ctx, c.starting)
	defer cancel()
	job, err := remote.NewJob(patient, c.command, c.ranks)
	if err != nil && patient.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("after -starting %v, the command was not ready: %w", c.starting, err)
	}
	return job, err
}

// leaveOut leaves out what -without names.
func (c *conformCommand) leaveOut(job *remote.Job) error {
	if c.without == "" {
		return nil
	}
	can, err := job.Can.Without(strings.Split(c.without, ",")...)
	if err != nil {
		return usageError{err}
	}
	job.Can = can
	return nil
}

// conform tests all primitives that are to be tested, or one case. It ends early when ctx does.
func (c *conformCommand) conform(ctx context.Context, s *colltest.Suite) (*conformance, error) {
	can := s.Capabilities()
	r := &conformance{Name: can.Name, Ranks: can.Sizes, Seed: s.Seed, Tested: s.Tested, Failures: []failedCase{}}
	if c.onlyCase != "" {
		return r, c.conformCase(ctx, s, r)
	}
	chosen, err := c.chosen(can)
	if err != nil {
		return nil, err
	}
	c.begin(r)
	for _, x := range chosen {
		c.part(ctx, s, r, x.Primitive.Name, func() []*colltest.Failure { return s.Check(ctx, x) })
	}
	if len(chosen) > 1 {
		c.part(ctx, s, r, colltest.Mixed, func() []*colltest.Failure { return s.Check(ctx, chosen...) })
	}
	if c.soak {
		c.part(ctx, s, r, colltest.Soak, func() []*colltest.Failure { return s.Soak(ctx, soakCalls, chosen...) })
	}
	r.NotTested = append(r.NotTested, s.Untested()...)
	return r, nil
}

// part makes one check, and writes what came of it. After the end of ctx it notes that the check was not made.
func (c *conformCommand) part(ctx context.Context, s *colltest.Suite, r *conformance, name string,
	check func() []*colltest.Failure) {
	if ctx.Err() != nil {
		r.NotTested = append(r.NotTested, name+": it was interrupted")
		return
	}
	found := check()
	if ctx.Err() != nil {
		r.NotTested = append(r.NotTested, "the rest of "+name+": it was interrupted")
	}
	r.parts = append(r.parts, name)
	c.progress.Stage("%s: %d cases", name, s.Tested[name].Cases)
	for _, f := range found {
		r.add(c, name, f)
	}
	c.writePart(r, name)
}

// conformCase makes one case's calls.
func (c *conformCommand) conformCase(ctx context.Context, s *colltest.Suite, r *conformance) error {
	var one colltest.Case
	if err := json.Unmarshal([]byte(c.onlyCase), &one); err != nil {
		return usageError{fmt.Errorf("-case: %w", err)}
	}
	f, err := s.Try(ctx, one)
	if err != nil {
		return usageError{fmt.Errorf("-case: %w", err)}
	}
	name := one.Steps[0].Primitive
	r.parts = []string{name}
	if f != nil {
		r.add(c, name, f)
	}
	c.begin(r)
	c.writePart(r, name)
	return nil
}

// chosen returns the primitives of -primitives that there are.
func (c *conformCommand) chosen(can colltest.Capabilities) ([]colltest.Support, error) {
	if c.primitives == "" {
		return can.Primitives, nil
	}
	var chosen []colltest.Support
	for name := range strings.SplitSeq(c.primitives, ",") {
		i := slices.IndexFunc(can.Primitives, func(x colltest.Support) bool { return x.Primitive.Name == name })
		if i < 0 {
			return nil, usageError{fmt.Errorf("%s does not have %q", can.Name, name)}
		}
		chosen = append(chosen, can.Primitives[i])
	}
	return chosen, nil
}
