package main

import (
	"context"
	"errors"
)

func prepareConform(base *call) runner {
	c := &conformCommand{call: base}
	c.testFlags(c.flags)
	c.reportFlags(c.flags)
	return c
}

// explain returns what help says besides the flags.
func (c *conformCommand) explain() string {
	return `The command starts all ranks, as mpirun does, or one if {rank} is in it. {n} is the number of ranks.

  collgen conform -- mpirun -n {n} ./adapter
  collgen conform -- ./adapter {rank} {n}
  collgen conform -junit conform.xml -baseline known.json -- mpirun -n {n} ./adapter
  collgen conform -env NCCL_ALGO=Ring,Tree,- -html conform.html -- mpirun -n {n} ./adapter

The exit status is 0 if all conforms, but for failures that are known, 1 if not, and 2 if the command line or a file of
known failures is wrong. docs/conform.md has the protocol of adapters, and says more of each flag.
`
}

// run runs collgen conform.
func (c *conformCommand) run(ctx context.Context) error {
	if err := c.check(c.call); err != nil {
		return usageError{err}
	}
	var err error
	if c.known, err = readBaseline(c.baseline); err != nil {
		return usageError{err}
	}
	all := &conformances{}
	if c.reports, err = c.newReports(c.call, all); err != nil {
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
