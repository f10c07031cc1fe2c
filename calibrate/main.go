// Command calibrate finds what everything costs on this machine, and how well collgen cost predicts: make bench-cost.
// It measures collectives with collperf, fits the prices of a simulate.Machine to some of the measurements - messages
// and broadcasts between two ranks, and all-reduces by three algorithms - and compares what is predicted for others,
// five collectives at other sizes by whatever algorithm calls get, with what they took.
//
// Everything is measured in turn, in several rounds, and the median over the rounds counts: the host of a virtual
// machine changes speed from minute to minute.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/collgen/collgen/gen/simulate"
	"github.com/collgen/collgen/internal/figures"
	"github.com/collgen/collgen/internal/program"
)

type options struct {
	rounds   int
	keep     string
	time     time.Duration // after which nothing more is measured; 0: measure to the end
	write    string
	machines string
}

func main() { program.Main("calibrate", command) }

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	f := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rounds, "rounds", 3, "how often everything is measured, about a minute each `time`")
	f.StringVar(&o.keep, "keep", "", "a `file` for the measurements; what it has already is not measured again")
	f.DurationVar(&o.time, "for", 0, "measure nothing more after this `time`; the same command goes on")
	f.StringVar(&o.write, "write", "", "replace the table in a Markdown `file`")
	f.StringVar(&o.machines, "machines", "", "write the machines, shm.json and tcp.json, into a `folder`")
	if err := f.Parse(args); err != nil {
		return err
	}
	samples, err := o.measure(ctx, stderr)
	if err != nil {
		return err
	}
	r := &report{about: fmt.Sprintf("%s. `go run ./calibrate -rounds %d`", figures.Here(), o.rounds)}
	sizes := ratePoints(cachesOf(here))
	var prior *simulate.Machine
	for _, transport := range transports {
		fmt.Fprintf(stderr, "fitting %s\n", transport)
		x, err := newModel(transport, sizes, prior).compare(ctx, samples)
		if err != nil {
			return fmt.Errorf("%s: %w", transport, err)
		}
		prior = &x.machine
		r.models = append(r.models, x)
	}
	return o.print(r, stdout)
}

func (o *options) print(r *report, stdout io.Writer) error {
	if o.write != "" {
		if err := r.write(o.write); err != nil {
			return err
		}
	}
	if o.machines != "" {
		if err := r.writeMachines(o.machines); err != nil {
			return err
		}
	}
	return r.markdown(stdout)
}
