// Command peers compares collgen with Open MPI, MPICH and Gloo on this machine: make bench-peers. It builds collperf
// and a small program for each peer, runs them in turn on the same cores, and prints how many times as long as ours the
// peers' collectives take, beside the ratios that are to be reached.
//
// The programs measure by the method of collperf, which measure.h repeats. Who runs at one size runs directly after one
// another, another one first in each round, and only times of one round are compared: a cell is the median of such
// ratios over the rounds, with the least and the most of them. In the first round a peer runs with all settings that
// may suit it; with the best few, it goes on; the best one counts.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"time"

	"github.com/collgen/collgen/internal/figures"
	"github.com/collgen/collgen/internal/program"
)

type options struct {
	rounds int
	only   string
	cores  string
	keep   string
	time   time.Duration
	json   bool
	write  string
}

func main() { program.Main("peers", command) }

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rounds, "rounds", 5, "how often everybody runs")
	f.StringVar(&o.only, "only", "", "only the cells that match a `regexp`: a row's name, a slash, a size such as 64K")
	f.StringVar(&o.cores, "cores", "0,1", "the `cores` that everybody runs on, with commas between them")
	f.StringVar(&o.keep, "keep", "", "a `file` for the measurements; those that it has already count")
	f.DurationVar(&o.time, "for", 0, "begin nothing new after this `time`; 0: measure to the end")
	f.BoolVar(&o.json, "json", false, "print the cells as lines of JSON")
	f.StringVar(&o.write, "write", "", "replace the table in a Markdown `file`")
	if err := f.Parse(args); err != nil {
		return err
	}
	r, err := o.measure(ctx, stderr)
	if r == nil {
		return err
	}
	return errors.Join(err, o.print(r, stdout))
}

// measure measures what is wanted. If ctx ends, it reports what there is.
func (o *options) measure(ctx context.Context, stderr io.Writer) (r *report, err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	wanted := func(r *row, bytes int) bool { return only.MatchString(r.name + "/" + figures.Size(bytes)) }
	s := &season{fields: fields(wanted), rounds: o.rounds, progress: newProgress(stderr)}
	if o.time > 0 {
		s.until = time.Now().Add(o.time)
	}
	if s.samples, err = keep(o.keep); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.samples.close()) }()
	if s.workshop, err = newWorkshop(o.cores); err != nil {
		return nil, err
	}
	defer s.workshop.close()
	err = s.run(ctx)
	s.progress.line("")
	return s.report(wanted, o.invocation()), err
}

// run builds and measures.
func (s *season) run(ctx context.Context) error {
	s.progress.line("building")
	if err := s.build(ctx, s.needed()); err != nil {
		return err
	}
	return s.play(ctx)
}

// addLimits measures what the machine can do at best in a round, and keeps it.
func (s *season) addLimits(ctx context.Context, round int) error {
	s.progress.line("what the machine can do at best")
	l, err := s.measureLimits(ctx)
	if err != nil {
		s.missing["the limits of the machine"] = err
	}
	return s.add(record{Limits: l, Round: round})
}

func (s *season) report(wanted func(*row, int) bool, command string) *report {
	r := &report{about: about(context.Background(), peers, command)}
	for i := range rows {
		for _, bytes := range rows[i].bytes() {
			if wanted(&rows[i], bytes) {
				r.cells = append(r.cells, s.cell(&rows[i], bytes))
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(s.missing)) {
		r.missing = append(r.missing, fmt.Sprintf("%s: %v", what, s.missing[what]))
	}
	return r
}

// invocation returns a command that measures the same.
func (o *options) invocation() string {
	text := fmt.Sprintf("go run ./peers -rounds %d -cores %s", o.rounds, o.cores)
	if o.only != "" {
		text += fmt.Sprintf(" -only %q", o.only)
	}
	return text
}

func (o *options) print(r *report, stdout io.Writer) error {
	if o.write != "" {
		if err := r.write(o.write); err != nil {
			return err
		}
	}
	if o.json {
		return r.json(stdout)
	}
	return r.text(stdout)
}
