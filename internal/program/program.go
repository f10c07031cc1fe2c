// Package program begins and ends the programs that measure and compare: what they are called with, what they say when
// they fail, and that an interruption ends them, with whatever they have started.
package program

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

// Command is a program with everything that it depends on. It ends soon after ctx does; flag.ErrHelp is no failure.
type Command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// statusInterrupted is the exit status of what was interrupted, as shells have it.
const statusInterrupted = 130

// Main runs c, by that name, and ends the process.
func Main(name string, c Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c(ctx, os.Args[1:], os.Stdout, os.Stderr)
	status := status(ctx, err)
	stop()
	if status == 1 {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	}
	os.Exit(status)
}

func status(ctx context.Context, err error) int {
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		return statusInterrupted
	}
	return 1
}
