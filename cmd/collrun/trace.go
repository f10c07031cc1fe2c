//go:build unix && !aix && !solaris

package main

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/cmd/collrun/internal/diagnosis"
)

// traceCommand runs collrun trace.
func traceCommand(args []string, s streams) int {
	f := flags("collrun trace", s)
	asJSON := f.Bool("json", false, "print a JSON object instead")
	last := f.Int("last", 3, "how many of the last `operations` of each rank to show")
	status, goOn := parse(f, args, s, aboutTrace, func() error {
		switch {
		case f.NArg() == 0:
			return errors.New("no file or folder given")
		case *last < 1:
			return fmt.Errorf("-last %d: want at least 1", *last)
		}
		return nil
	})
	if !goOn {
		return status
	}
	job, err := diagnosis.Read(f.Args(), func(err error) { fmt.Fprintln(s.err, "collrun trace:", err) })
	if err == nil {
		print := diagnosis.Print
		if *asJSON {
			print = printJSON
		}
		err = print(s.out, job.Report(*last))
	}
	if err != nil {
		fmt.Fprintln(s.err, "collrun trace:", err)
		return statusFailed
	}
	return 0
}

var aboutTrace = [2]string{`collrun trace merges what the flight recorders of a job's ranks have recorded, and reports which rank is
the odd one out: a straggler, a rank in another call, or one without a file.

    collrun trace [flags] files or folders

A rank writes rank-<n>.jsonl to the folder that COLL_TRACE names when a call fails. Collect those of all hosts.

`, `
Ranks are numbered as in the job. Roots, peers, and the ranks waited for or at fault are numbered as in their
communicator. Times are by the clock of each host.
`}
