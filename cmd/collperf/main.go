// Command collperf measures the collectives of package fast, with the columns and the meaning of sizes of nccl-tests.
//
//	collperf [flags] [operations]          time operations over a range of sizes
//	collperf -limits                       what this machine can do at best
//	collperf -tune [flags] [operations]    a table of the fastest algorithms, for COLL_TUNE
//	collperf -comms 100                    what 100 communicators cost
//
// It is a rank of a job if a launcher has made it one; else it starts the ranks itself, as processes or goroutines of
// this machine. Rank 0 prints.
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
)

// The exit statuses.
const (
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130 // as shells have it
)

// usageError is an error of the command line.
type usageError struct{ error }

// errWrong says that a check found wrong elements.
var errWrong = errors.New("there are wrong elements")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if isRank() {
		asRank()
	}
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is collperf with everything that it depends on, and its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if err == nil {
		err = o.do(ctx, stdout, stderr)
	}
	return status(ctx, err, stderr)
}

// do does what the command line asks for.
func (o *options) do(ctx context.Context, stdout, stderr io.Writer) error {
	switch {
	case o.limits:
		return o.printLimits(ctx, stdout, stderr)
	case o.tune:
		return o.writeTable(ctx, stdout, stderr)
	case o.comms > 0:
		return o.printCrowds(ctx, stdout, stderr)
	}
	return o.measure(ctx, stdout, stderr)
}

// status reports err, unless another rank reports the cause, and is the exit status that goes with it.
func status(ctx context.Context, err error, stderr io.Writer) int {
	var usage usageError
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "collperf: %v\ncollperf -h explains the command line.\n", err)
		return statusUsage
	case ctx.Err() != nil:
		return statusInterrupted
	case !follows(err):
		fmt.Fprintln(stderr, "collperf:", err)
	}
	return statusFailed
}
