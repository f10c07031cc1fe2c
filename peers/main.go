// Command peers compares collgen with Open MPI, MPICH, Intel MPI and Gloo on this machine: make bench-peers. It builds
// collperf and a small program for each peer, runs them in turn on the same cores, and prints the peers' times divided
// by ours.
//
// The programs measure by the method of collperf, which measure.h and through_torch.py repeat. All programs of a
// comparison run one directly after another, in each round another one first, and only times of one round are compared.
// A ratio is the median over the rounds, with the least and the most of them.
//
// There are two ratios in each cell: to the fastest peer at its default, and to the fastest peer with any tuning. In
// the first round a peer runs with all tunings that may suit it, and after that with the few that may be the fastest.
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

	"github.com/collgen/collgen/internal/program"
)

type options struct {
	rounds   int
	only     string
	cores    string
	keep     string
	time     time.Duration
	json     bool
	write    string
	ratios   string
	picture  string
	recorded string
}

func main() { program.Main("peers", command) }

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rounds, "rounds", 5, "`number` of times that every program runs")
	f.StringVar(&o.only, "only", "", "measure only cells that match a `regexp`; a cell is a row's name, a slash, and a "+
		"size such as 64K")
	f.StringVar(&o.cores, "cores", "0,1", "comma-separated `list` of the cores that the programs run on")
	f.StringVar(&o.keep, "keep", "", "`file` that keeps the measurements; those in it are not repeated")
	f.DurationVar(&o.time, "for", 0, "`time` after which no further round is started; 0: no limit")
	f.BoolVar(&o.json, "json", false, "print the results as lines of JSON")
	f.StringVar(&o.write, "write", "", "replace the table in a Markdown `file`")
	f.StringVar(&o.ratios, "ratios", "", "replace the ratios, without the details, in a Markdown `file`")
	f.StringVar(&o.picture, "picture", "", "draw the table of -write or -recorded as SVG into a `file`")
	f.StringVar(&o.recorded, "recorded", "", "measure nothing, and draw the table that is in a Markdown `file`")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.picture == "" && o.recorded != "" || o.picture != "" && (o.write == "") == (o.recorded == "") {
		return errors.New("-picture and -recorded need each other, or -picture needs -write")
	}
	if o.recorded != "" {
		return drawRecorded(o.recorded, o.picture)
	}
	r, err := o.measure(ctx, stderr)
	if r == nil {
		return err
	}
	return errors.Join(err, r.check(), o.print(r, stdout))
}

// measure measures the cells that are selected. If ctx ends, it reports what there is.
func (o *options) measure(ctx context.Context, stderr io.Writer) (r *report, err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return nil, err
	}
	wanted := func(r *row, bytes int) bool { return only.MatchString(r.name + "/" + sizeText(bytes)) }
	s := &session{comparisons: comparisons(wanted), rounds: o.rounds, progress: program.NewProgress(stderr)}
	if o.time > 0 {
		s.until = time.Now().Add(o.time)
	}
	if s.samples, err = openSamples(o.keep); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.samples.close()) }()
	if s.runner, err = newRunner(o.cores); err != nil {
		return nil, err
	}
	defer s.runner.close()
	fmt.Fprintln(stderr, "peers:", s.estimate())
	err = s.run(ctx)
	s.progress.Clear()
	return s.report(wanted, o.invocation()), err
}

func (s *session) report(wanted func(*row, int) bool, command string) *report {
	r := &report{about: about(context.Background(), peers, command), leftOut: s.leftOut()}
	for _, one := range rows {
		for _, bytes := range one.sizes {
			if wanted(one, bytes) {
				r.results = append(r.results, s.result(one, bytes))
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

// print prints a report, and replaces what the files have. A report that compared nothing replaces nothing.
func (o *options) print(r *report, stdout io.Writer) error {
	if r.check() == nil {
		if err := o.replace(r); err != nil {
			return err
		}
	}
	if o.json {
		return r.json(stdout)
	}
	return r.text(stdout)
}

// replace replaces what the files of the options have.
func (o *options) replace(r *report) error {
	for _, one := range []struct {
		path    string
		replace func(path string) error
	}{
		{o.write, r.write},
		{o.ratios, r.writeRatios},
		{o.picture, func(path string) error { return drawRecorded(o.write, path) }},
	} {
		if one.path == "" {
			continue
		}
		if err := one.replace(one.path); err != nil {
			return err
		}
	}
	return nil
}
