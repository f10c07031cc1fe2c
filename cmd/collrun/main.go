//go:build unix && !aix && !solaris

// Command collrun starts the ranks of a program on this machine and looks after them until all have ended. Besides, it
// says what a program would find here, serves the store of a job on several hosts, and finds the odd rank out in what a
// failed job recorded.
//
//	collrun -n 4 [flags] program [arguments]
//	collrun doctor [-json]
//	collrun store -listen host:port [flags]
//	collrun trace [-json] files or folders
//
// Every rank gets COLL_RANK, COLL_SIZE and what else fast.FromEnv wants, torchrun's variables, and a secret of the job,
// in a file that only this user may read. The ranks' output appears line by line, each line behind its rank: "[2] ".
// When a rank fails, the others are ended and the cause is reported; with -survive they go on, and the job has failed
// only if no rank ends with 0. Nothing outlives collrun, even when it is killed: no process of the ranks' process
// group, and no file.
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

	"github.com/collgen/collgen/cmd/collrun/internal/doctor"
)

// The statuses that are collrun's own; all others are those of a rank.
const (
	statusFailed      = 1   // collrun itself failed
	statusUsage       = 2   // its command line is wrong
	statusTimeout     = 124 // as timeout(1) has it
	statusNotRunnable = 126 // as shells have it
	statusNotFound    = 127
)

// streams are collrun's own.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// subcommand is one of the things that collrun does.
type subcommand struct {
	name string
	run  func(args []string, s streams) (status int)
}

// subcommands are told apart by the first argument. Without any of their names it is the first.
var subcommands = []subcommand{
	{"run", runCommand},
	{"doctor", doctorCommand},
	{"store", storeCommand},
	{"trace", traceCommand},
}

func main() {
	switch os.Args[0] {
	case keeperName:
		keep()
	case doctor.ProbeName:
		doctor.Probe()
	}
	// A rank is killed when the thread that started it ends (see dieWithParent): this one does not end before collrun.
	runtime.LockOSThread()
	c, args := choose(os.Args[1:])
	os.Exit(c.run(args, streams{os.Stdin, os.Stdout, os.Stderr}))
}

// choose returns the subcommand that args begin with, and its own arguments.
func choose(args []string) (subcommand, []string) {
	for _, c := range subcommands {
		if len(args) > 0 && args[0] == c.name {
			return c, args[1:]
		}
	}
	return subcommands[0], args
}

// flags returns an empty set of flags for a command.
func flags(name string, s streams) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(s.err)
	f.Usage = func() {}
	return f
}

// parse reads a command line into f, and then asks check whether it makes sense. Unless it says go on, there is nothing
// to do but to end with the status: the command line is wrong, or explained with about, which surrounds the flags.
func parse(f *flag.FlagSet, args []string, s streams, about [2]string, check func() error) (status int, goOn bool) {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(s.out, about[0])
		f.SetOutput(s.out)
		f.PrintDefaults()
		fmt.Fprint(s.out, about[1])
		return 0, false
	}
	if err == nil {
		if err = check(); err == nil {
			return 0, true
		}
		fmt.Fprintln(s.err, err)
	}
	fmt.Fprintf(s.err, "%s -h explains the command line.\n", f.Name())
	return statusUsage, false
}
