//go:build unix && !aix && !solaris

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/collgen/collgen/cmd/collrun/internal/diagnosis"
	"github.com/collgen/collgen/cmd/collrun/internal/timeline"
)

// traceCommand runs collrun trace.
func traceCommand(args []string, s streams) int {
	f := flags("collrun trace", s)
	asJSON := f.Bool("json", false, "the same as -format json")
	format := f.String("format", "text", "what to print: text; json, an object; chrome, a timeline for Perfetto and "+
		"chrome://tracing; html, a timeline as a page")
	last := 0
	f.Func("last", "how many of the last `operations` of each rank to show; without it, 3, or all in a timeline",
		func(text string) (err error) {
			if last, err = strconv.Atoi(text); err == nil && last < 1 {
				err = errors.New("want at least 1")
			}
			return err
		})
	status, goOn := parse(f, args, s, aboutTrace, func() error {
		switch {
		case f.NArg() == 0:
			return errors.New("no file or folder given")
		case *asJSON:
			*format = "json"
		}
		if formats[*format].print == nil {
			return fmt.Errorf("-format %s: want text, json, chrome or html", *format)
		}
		return nil
	})
	if !goOn {
		return status
	}
	job, err := diagnosis.Read(f.Args(), func(err error) { fmt.Fprintln(s.err, "collrun trace:", err) })
	if err == nil {
		err = formats[*format].print(s.out, job.Report(cmp.Or(last, formats[*format].last)))
	}
	if err != nil {
		fmt.Fprintln(s.err, "collrun trace:", err)
		return statusFailed
	}
	return 0
}

// formats are what collrun trace prints.
var formats = map[string]struct {
	print func(w io.Writer, r *diagnosis.Report) error
	last  int // operations of each rank
}{
	"text":   {diagnosis.Print, 3},
	"json":   {func(w io.Writer, r *diagnosis.Report) error { return printJSON(w, r) }, 3},
	"chrome": {timeline.Chrome, math.MaxInt},
	"html":   {timeline.HTML, math.MaxInt},
}

var aboutTrace = [2]string{`collrun trace merges what the flight recorders of a job's ranks have recorded, and reports which rank is
the odd one out: a straggler, a rank in another call, or one without a file.

    collrun trace [flags] files or folders
    collrun trace -format html /tmp/trace > calls.html

A rank writes rank-<n>.jsonl to the folder that COLL_TRACE names when a call fails. Collect those of all hosts.

`, `
Ranks are numbered as in the job. Roots, peers, and the ranks waited for or at fault are numbered as in their
communicator. Times are by the clock of each host.
`}
