//go:build unix && !aix && !solaris

package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"
)

// maxRanks is how many ranks package fast takes from a launcher.
const maxRanks = 1 << 16

// options are the command line of collrun run.
type options struct {
	n       int
	raw     bool
	stdin   bool
	survive bool
	grace   time.Duration
	timeout time.Duration
	env     []string
	program []string
}

func runCommand(args []string, s streams) int {
	o := new(options)
	f := flags("collrun", s)
	f.IntVar(&o.n, "n", runtime.NumCPU(), "number of `ranks`")
	f.BoolVar(&o.raw, "raw", false, "leave the ranks' output alone: no prefixes, no whole lines, not in the report")
	f.BoolVar(&o.stdin, "stdin", false, "give standard input to rank 0 (the others, and rank 0 otherwise, read nothing)")
	f.BoolVar(&o.survive, "survive", false, "leave the others alone when a rank fails: for programs that go on without it")
	f.DurationVar(&o.grace, "grace", 5*time.Second, "`time` between SIGTERM and SIGKILL when ranks have to end")
	f.DurationVar(&o.timeout, "timeout", 0, "end all ranks after this `time`, with status 124; 0: never")
	f.Func("e", "set `NAME=VALUE` in every rank's environment; may be repeated", o.setenv)
	status, goOn := parse(f, args, s, aboutRun, func() error {
		o.program = f.Args()
		return o.check()
	})
	if !goOn {
		return status
	}
	return run(o, s)
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
	case o.n < 1 || o.n > maxRanks:
		return fmt.Errorf("-n %d: want 1 to %d ranks", o.n, maxRanks)
	case o.grace < 0 || o.timeout < 0:
		return errors.New("-grace and -timeout cannot be negative")
	case len(o.program) == 0:
		return errors.New("no program given")
	}
	return nil
}

var aboutRun = [2]string{`collrun starts the ranks of a program on this machine and looks after them until all have ended.

    collrun -n 4 [flags] program [arguments]
    collrun run -n 4 [flags] program [arguments]

Other commands, each of which explains itself with -h:

    collrun doctor   what a program would find on this machine, and what it would use
    collrun store    serve the store where the ranks of a job on several hosts find each other
    collrun trace    merge what the ranks of a failed job recorded, and name the odd one out

`, `
Every rank finds in its environment
  COLL_RANK, COLL_LOCAL_RANK     0, 1, …; RANK and LOCAL_RANK are the same
  COLL_SIZE, COLL_LOCAL_SIZE     the number of ranks; WORLD_SIZE and LOCAL_WORLD_SIZE are the same
  COLL_JOB                       a name that no other job has
  COLL_STORE                     where the ranks find each other
  COLL_SECRET_FILE               the job's secret, in a file that only this user may read and that is removed at the end
  MASTER_ADDR, MASTER_PORT       127.0.0.1 and a number that tells this job from others; nothing listens there

When a rank fails, the others get SIGTERM, and SIGKILL after -grace. The first cause is reported in one block, and its
status is collrun's: the rank's exit status, or 128 + the signal that ended it. With -survive the others go on to their
own end, and the status is 0 if at least one rank ends with 0. Signals are passed on to all ranks; a second SIGINT or
SIGTERM kills them. Lines of output over 16 MiB are cut into several.
`}
