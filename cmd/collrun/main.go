//go:build unix && !aix && !solaris

// Command collrun starts the ranks of a program on this machine and looks after them until all have ended.
//
//	collrun -n 4 [flags] program [arguments]
//
// Every rank gets torchrun's variables (RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT) and
// COLL_DIR, a fresh directory that only this user may enter, in which the ranks find each other. Their output appears
// line by line, each line behind its rank: "[2] ". When a rank fails, the others are ended and the cause is reported.
// Nothing outlives collrun, even when it is killed: no process of the ranks' process group, and no file.
//
// It runs on Linux, macOS and the BSDs: elsewhere there is nothing to build.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"
)

// The statuses that are collrun's own; all others are those of a rank.
const (
	statusFailed      = 1   // collrun itself failed
	statusUsage       = 2   // its command line is wrong
	statusTimeout     = 124 // as timeout(1) has it
	statusNotRunnable = 126 // as shells have it
	statusNotFound    = 127
)

type options struct {
	n       int
	raw     bool
	stdin   bool
	grace   time.Duration
	timeout time.Duration
	env     []string
	program []string
}

func main() {
	if os.Args[0] == keeperName {
		keep()
	}
	// A rank is killed when the thread that started it ends (see dieWithParent): this one does not end before collrun.
	runtime.LockOSThread()
	o, status := parse(os.Args[1:], os.Stdout, os.Stderr)
	if o == nil {
		os.Exit(status)
	}
	os.Exit(run(o, os.Stdin, os.Stdout, os.Stderr))
}

// parse reads the command line. Without options there is nothing to run, and collrun ends with the status.
func parse(args []string, stdout, stderr io.Writer) (*options, int) {
	o := new(options)
	f := flag.NewFlagSet("collrun", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {}
	f.IntVar(&o.n, "n", runtime.NumCPU(), "number of `ranks`")
	f.BoolVar(&o.raw, "raw", false, "leave the ranks' output alone: no prefixes, no whole lines, not in the report")
	f.BoolVar(&o.stdin, "stdin", false, "give standard input to rank 0 (the others, and rank 0 otherwise, read nothing)")
	f.DurationVar(&o.grace, "grace", 5*time.Second, "`time` between SIGTERM and SIGKILL when ranks have to end")
	f.DurationVar(&o.timeout, "timeout", 0, "end all ranks after this `time`, with status 124; 0: never")
	f.Func("e", "set `NAME=VALUE` in every rank's environment; may be repeated", o.setenv)
	err := f.Parse(args)
	o.program = f.Args()
	if errors.Is(err, flag.ErrHelp) {
		usage(f, stdout)
		return nil, 0
	}
	if err == nil {
		err = o.check()
		if err != nil {
			fmt.Fprintln(stderr, err)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "collrun -h explains the command line.")
		return nil, statusUsage
	}
	return o, 0
}

func (o *options) setenv(s string) error {
	if name, _, found := strings.Cut(s, "="); !found || name == "" {
		return errors.New("want NAME=VALUE")
	}
	o.env = append(o.env, s)
	return nil
}

func (o *options) check() error {
	switch {
	case o.n < 1:
		return fmt.Errorf("-n %d: want at least 1 rank", o.n)
	case o.grace < 0 || o.timeout < 0:
		return errors.New("-grace and -timeout cannot be negative")
	case len(o.program) == 0:
		return errors.New("no program given")
	}
	return nil
}

func usage(f *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, `collrun starts the ranks of a program on this machine and looks after them until all have ended.

    collrun -n 4 [flags] program [arguments]

`)
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprint(w, `
Every rank finds in its environment
  RANK, LOCAL_RANK               0, 1, …
  WORLD_SIZE, LOCAL_WORLD_SIZE   the number of ranks
  MASTER_ADDR, MASTER_PORT       127.0.0.1 and a number that tells this job from others; nothing listens there
  COLL_DIR                       a directory of this job alone, removed at the end, where the ranks find each other

When a rank fails, the others get SIGTERM, and SIGKILL after -grace. The first cause is reported in one block, and its
status is collrun's: the rank's exit status, or 128 + the signal that ended it. Signals are passed on to all ranks; a
second SIGINT or SIGTERM kills them. Lines of output over 16 MiB are cut into several.
`)
}
