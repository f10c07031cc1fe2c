// Command collperf measures the collectives of package fast. Its columns and the meaning of sizes are those of
// nccl-tests.
//
//	collperf [flags] [operations]          time operations over a range of sizes
//	collperf -limits                       measure the best that this machine can do
//	collperf -tune [flags] [operations]    print a table of the fastest algorithms, for COLL_TUNE
//	collperf -comms 100                    measure the cost of 100 communicators
//
// Under a launcher it is a rank of that job; otherwise it starts the ranks itself, as processes or goroutines of this
// machine. Rank 0 prints.
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

	"github.com/collgen/collgen/cmd/collperf/internal/ranks"
)

// The exit statuses.
const (
	statusFailed      = 1
	statusUsage       = 2
	statusInterrupted = 130 // as in shells
)

// usageError is an error of the command line.
type usageError struct{ error }

// errWrong is the error if a check found wrong elements.
var errWrong = errors.New("there are wrong elements")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if ranks.IsRank() {
		ranks.FollowParent()
	}
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run runs collperf and returns its exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if err == nil {
		err = o.run(ctx, stdout, stderr)
	}
	return status(ctx, err, stderr)
}

// status prints err, unless another rank reports the cause, and returns the exit status.
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
	case !ranks.IsConsequence(err):
		fmt.Fprintln(stderr, "collperf:", err)
	}
	return statusFailed
}
