// Command calibrate finds what everything costs on this machine, and how well collgen cost predicts: make bench-cost. It measures
// collectives with collperf, fits the prices of a simulate.Machine to some of the measurements - messages between two ranks, and
// all-reduces by three algorithms - and compares what is predicted for others, five collectives at other sizes by whatever
// algorithm calls get, with what they took.
//
// Everything is measured in turn, in several rounds, and the median over the rounds counts: the host of a virtual machine
// changes speed from minute to minute.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/collgen/collgen/gen/simulate"
	"github.com/collgen/collgen/internal/figures"
)

type options struct {
	rounds   int
	keep     string
	write    string
	machines string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case interrupted:
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var o options
	f := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rounds, "rounds", 3, "how often everything is measured, about a minute each `time`")
	f.StringVar(&o.keep, "keep", "", "a `file` for the measurements; rounds that it has already are not measured again")
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
	var prior *simulate.Machine
	for _, transport := range transports {
		fmt.Fprintf(stderr, "fitting %s\n", transport)
		x, err := newModel(transport, prior).compare(ctx, samples)
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
