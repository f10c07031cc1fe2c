//go:build unix && !aix && !solaris

package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/collgen/collgen/fast"
)

// step is an operation of a rank, among those of all ranks.
type step struct {
	Process int       `json:"process"` // the rank in its job
	Time    time.Time `json:"time"`    // of its start, by the clock of the rank's host
	fast.TraceEntry
}

// account is what collrun trace makes of the files.
type account struct {
	Job     string             `json:"job"`
	Size    int                `json:"size"`
	Verdict verdict            `json:"verdict"`
	First   string             `json:"first,omitempty"` // who gave up first, and why
	Ranks   []fast.TraceHeader `json:"ranks"`           // by rank
	Steps   []step             `json:"steps"`           // the last ones of each rank, by time
}

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
	h, err := readFlights(f.Args(), func(err error) { fmt.Fprintln(s.err, "collrun trace:", err) })
	if err == nil {
		print := printAccount
		if *asJSON {
			print = encode
		}
		err = print(s.out, h.account(*last))
	}
	if err != nil {
		fmt.Fprintln(s.err, "collrun trace:", err)
		return statusFailed
	}
	return 0
}

// account sums h up.
func (h *history) account(last int) *account {
	a := &account{Job: h.job, Size: h.size, Verdict: h.verdict(), First: h.first(), Steps: h.last(last)}
	for _, f := range h.flights {
		a.Ranks = append(a.Ranks, f.TraceHeader)
	}
	return a
}

// printAccount returns the account for people. Times are in seconds since the first operation that is shown.
func printAccount(w io.Writer, a *account) error {
	fmt.Fprintln(w, a.Verdict.Sentence)
	if a.First != "" {
		fmt.Fprintln(w, a.First)
	}
	if len(a.Steps) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "seconds\trank\tcommunicator\tcall\toperation\tstate")
	for i := range a.Steps {
		s := &a.Steps[i]
		fmt.Fprintf(table, "%.6f\t%d\t%s\t%d\t%s\t%s\n",
			s.Time.Sub(a.Steps[0].Time).Seconds(), s.Process, s.Comm, s.Seq, operation(&s.TraceEntry), state(&s.TraceEntry))
	}
	return table.Flush()
}

// operation returns a call in words: "AllReduce ring sum float32 × 1000".
func operation(e *fast.TraceEntry) string {
	words := e.Primitive
	if e.Peer >= 0 {
		words += fmt.Sprintf(" from %d to %d", e.Root, e.Peer)
	} else if e.Root > 0 {
		words += fmt.Sprintf(" root %d", e.Root)
	}
	words += " " + e.Algorithm
	if e.Op != "" {
		words += " " + e.Op
	}
	return fmt.Sprintf("%s %s × %d", words, e.Type, e.Count)
}

// state returns how far a call came, in words.
func state(e *fast.TraceEntry) string {
	words := e.State
	if len(e.Waiting) > 0 {
		words += fmt.Sprintf(", waiting for %v", e.Waiting)
	}
	if len(e.Blames) > 0 {
		words += fmt.Sprintf(", at the fault of %v", e.Blames)
	}
	if e.Error != "" {
		words += ": " + e.Error
	}
	return words
}

var aboutTrace = [2]string{`collrun trace merges what the flight recorders of a job's ranks have kept, and says which rank is
the odd one out: the one that is behind, in another call, or of which there is no file.

    collrun trace [flags] files or folders

A rank writes rank-<n>.jsonl to the folder that COLL_TRACE names when a call fails. Bring those of all hosts together.

`, `
Ranks are numbered as in the job; roots and peers, those waited for and those at fault, as in their communicator.
Times are those of each host's own clock.
`}
