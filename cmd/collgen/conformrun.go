package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/collgen/collgen/verify/colltest"
	"github.com/collgen/collgen/verify/colltest/remote"
)

// This file has a run of collgen conform in one environment.

// conformCommand is collgen conform.
type conformCommand struct {
	*call
	conforming
	known   []knownFailure // of -baseline
	reports reports
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

// test tests the command in an environment, and adds the result to all. It returns an error only if the command line is
// wrong: others are the run's.
func (c *conformCommand) test(ctx context.Context, all *conformances, e environment) error {
	r := newConformance(e)
	all.Runs = append(all.Runs, r)
	err := c.testInto(ctx, r)
	if errors.As(err, new(usageError)) {
		all.Runs = all.Runs[:len(all.Runs)-1] // it has made no test
		return err
	}
	r.took = time.Since(r.began)
	r.Gone = r.gone(c.known)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil && r.calls() == 0:
		err = errNothingTested
	}
	if err != nil {
		r.err, r.Error = err, err.Error()
	}
	if len(r.parts) == 0 {
		c.reports.begin(r)
	}
	c.reports.end(r)
	return nil
}

// testInto tests the command in the environment of r.
func (c *conformCommand) testInto(ctx context.Context, r *conformance) error {
	job, err := c.firstStart(ctx, r.Environment)
	if err == nil {
		err = c.leaveOut(job)
	}
	if err != nil {
		return err
	}
	s := c.suite(job)
	return errors.Join(c.conform(ctx, s, r), s.Close())
}

// firstStart has the command say what it can do, within the time that starting may take.
func (c *conformCommand) firstStart(ctx context.Context, e environment) (*remote.Job, error) {
	patient, cancel := context.WithTimeout(ctx, c.starting)
	defer cancel()
	job, err := remote.NewJob(patient, c.command, e.environ(), c.ranks)
	isLate := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	if isLate && ctx.Err() == nil {
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
func (c *conformCommand) conform(ctx context.Context, s *colltest.Suite, r *conformance) error {
	can := s.Capabilities()
	r.Name, r.Ranks, r.Seed, r.Tested = can.Name, can.Sizes, s.Seed, s.Tested
	s.Tried = r.tried
	if c.onlyCase != "" {
		return c.conformCase(ctx, s, r)
	}
	r.untested = s.Untested
	chosen, err := c.chosen(can)
	if err != nil {
		return err
	}
	c.reports.begin(r)
	for _, x := range chosen {
		c.part(ctx, s, r, x.Primitive.Name, func() []*colltest.Failure { return s.Check(ctx, x) })
	}
	if len(chosen) > 1 {
		c.part(ctx, s, r, colltest.Mixed, func() []*colltest.Failure { return s.Check(ctx, chosen...) })
	}
	if c.soak {
		c.part(ctx, s, r, colltest.Soak, func() []*colltest.Failure { return s.Soak(ctx, soakCalls, chosen...) })
	}
	if c.huge {
		c.part(ctx, s, r, colltest.Huge, func() []*colltest.Failure { return s.Huge(ctx, chosen...) })
	}
	return nil
}

// part makes one check, and tells what came of it. After the end of ctx it notes that the check was not made.
func (c *conformCommand) part(ctx context.Context, s *colltest.Suite, r *conformance, name string,
	check func() []*colltest.Failure) {
	if ctx.Err() != nil {
		r.interrupted = append(r.interrupted, name+": it was interrupted")
		return
	}
	p := r.beginPart(name)
	found := check()
	if ctx.Err() != nil {
		p.interrupted = true
		r.interrupted = append(r.interrupted, "the rest of "+name+": it was interrupted")
	}
	c.endPart(s, r, p, found)
}

// endPart tells what came of a check.
func (c *conformCommand) endPart(s *colltest.Suite, r *conformance, p *part, found []*colltest.Failure) {
	p.counts, p.took = s.Tested[p.name], time.Since(p.began)
	for _, f := range found {
		p.failures = append(p.failures, c.failed(r, p.name, f))
	}
	r.Failures = append(r.Failures, p.failures...)
	r.took = time.Since(r.began)
	c.progress.Stage("%s: %d cases", p.name, p.counts.Cases)
	c.reports.part(r, p)
}

// failed returns a failure with how it is repeated, and whether it is known.
func (c *conformCommand) failed(r *conformance, name string, f *colltest.Failure) *failedCase {
	x := &failedCase{Primitive: name, Failure: f, Repeat: c.again(c.call, r, f)}
	x.judge(r.Environment, c.known)
	return x
}

// conformCase makes one case's calls.
func (c *conformCommand) conformCase(ctx context.Context, s *colltest.Suite, r *conformance) error {
	one, err := colltest.ParseCase(c.onlyCase)
	if err != nil {
		return usageError{fmt.Errorf("-case: %w", err)}
	}
	began := time.Now()
	f, err := s.Repeat(ctx, one)
	if err != nil {
		return usageError{fmt.Errorf("-case: %w", err)}
	}
	p := r.beginPart(one.Steps[0].Primitive)
	p.began, p.last, p.onlyCase = began, began, true
	r.tried(p.name, one, f)
	var found []*colltest.Failure
	if p.interrupted = ctx.Err() != nil; f != nil && !p.interrupted {
		found = append(found, f)
	}
	c.reports.begin(r)
	c.endPart(s, r, p, found)
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
