// Package program has the code that command line programs share. Main runs a program until it ends or is interrupted,
// and reports its error. Progress shows what it is doing.
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

// Command is the main function of a program. It returns soon after ctx has ended. The error flag.ErrHelp is no failure.
type Command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

// statusInterrupted is the exit status of an interrupted program, as shells use it.
const statusInterrupted = 130

// Main runs c and exits the process. Errors are reported under the program's name.
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
