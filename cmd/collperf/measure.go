package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/collgen/collgen/cmd/collperf/internal/bench"
	"github.com/collgen/collgen/cmd/collperf/internal/limits"
	"github.com/collgen/collgen/cmd/collperf/internal/machine"
	"github.com/collgen/collgen/cmd/collperf/internal/ranks"
	"github.com/collgen/collgen/cmd/collperf/internal/raster"
	"github.com/collgen/collgen/cmd/collperf/internal/report"
	"github.com/collgen/collgen/cmd/collperf/internal/tune"
	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/internal/program"
)

// run does what the command line asks for.
func (o *options) run(ctx context.Context, stdout, stderr io.Writer) error {
	o.starter.Stderr = stderr
	switch {
	case o.limits:
		return o.measureLimits(ctx, stdout, stderr)
	case o.tune:
		return o.writeTable(ctx, stdout, stderr)
	case o.comms > 0:
		return o.measureComms(ctx, stdout)
	}
	return o.measure(ctx, stdout, stderr)
}

// measure measures operations with all settings, one after another.
func (o *options) measure(ctx context.Context, stdout, stderr io.Writer) error {
	printer := report.NewPrinter(o.format, report.Options{Places: o.Places, Percentiles: o.percentiles,
		Overlap: o.Overlap}, stdout)
	var results []*bench.Result // if this is rank 0
	var found error
	for _, setting := range o.settings {
		err := o.starter.Run(ctx, setting, func(ctx context.Context, c *fast.Comm) error {
			s := &bench.Session{Config: &o.Config, Comm: c, Transport: ranks.TransportOf(c)}
			if c.Rank() == 0 {
				s.Progress = program.NewProgress(stderr)
				s.Print = func(r *bench.Result) error {
					results = append(results, r)
					return printer.Print(r)
				}
			}
			err := s.Run(ctx)
			if s.Wrong && c.Rank() == 0 {
				found = errWrong
			}
			return err
		})
		if err != nil {
			return errors.Join(err, printer.End())
		}
	}
	if o.plot != "" && results != nil {
		found = errors.Join(found, o.draw(ctx, results, program.NewProgress(stderr)))
	}
	return errors.Join(printer.End(), found)
}

// plotsPNG reports whether the plot is to be PNG, by the name of its file.
func (o *options) plotsPNG() bool { return strings.EqualFold(filepath.Ext(o.plot), ".png") }

// draw measures the limits and writes the plot of results to a file.
func (o *options) draw(ctx context.Context, results []*bench.Result, p *program.Progress) error {
	all := limits.Measure(ctx, p)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f, err := os.Create(o.plot)
	if err != nil {
		return err
	}
	d := report.Plot(machine.Describe(), results, all)
	if o.plotsPNG() {
		return errors.Join(raster.PNG(f, d), f.Close())
	}
	return errors.Join(d.SVG(f), f.Close())
}

// measureLimits is collperf -limits.
func (o *options) measureLimits(ctx context.Context, stdout, stderr io.Writer) error {
	all := limits.Measure(ctx, program.NewProgress(stderr))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return limits.Print(stdout, o.format, all)
}

// measureComms is collperf -comms.
func (o *options) measureComms(ctx context.Context, stdout io.Writer) error {
	for _, setting := range o.settings {
		err := o.starter.Run(ctx, setting, func(ctx context.Context, c *fast.Comm) error {
			r, err := bench.MeasureComms(ctx, c, ranks.TransportOf(c), o.comms, o.Iterations)
			if err != nil || c.Rank() != 0 {
				return err
			}
			return r.Print(stdout, o.format)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeTable is collperf -tune.
func (o *options) writeTable(ctx context.Context, stdout, stderr io.Writer) error {
	t := &tune.Tuner{Config: &o.Config, Keep: o.keep, Limit: o.limit, Quick: o.quick}
	first := !ranks.IsRank() && (o.starter.Launch == nil || o.starter.Launch.Rank == 0)
	isForAuto := first && o.quick && o.keep == ""
	if isForAuto {
		path, err := tunedFile()
		if err != nil {
			return err
		}
		t.Keep, t.Anew = path, true
	}
	if err := t.Start(first); err != nil {
		return err
	}
	var err error
	for i := 0; i < len(o.settings) && err == nil && !t.Late(); i++ {
		err = o.starter.Run(ctx, o.settings[i], func(ctx context.Context, c *fast.Comm) error {
			if c.Rank() > 0 {
				return t.Measure(ctx, c, nil)
			}
			return t.Measure(ctx, c, program.NewProgress(stderr))
		})
	}
	if !first || err != nil && o.keep == "" {
		return err
	}
	if err = errors.Join(err, t.Save(stdout)); err == nil && isForAuto {
		fmt.Fprintf(stdout, "The rules are in %s.\nPrograms on this machine follow them with COLL_TUNE=auto.\n", t.Keep)
	}
	return err
}
