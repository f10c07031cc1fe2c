//go:build unix && !aix && !solaris

package diagnosis

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/collgen/collgen/fast/trace"
)

// Step is an operation of one rank.
type Step struct {
	Process int       `json:"process"` // the rank in its job
	Time    time.Time `json:"time"`    // of its start, by the clock of its host
	trace.Entry
}

// Report sums up the recordings of a job.
type Report struct {
	Job     string         `json:"job"`
	Size    int            `json:"size"`
	Verdict Diagnosis      `json:"verdict"`
	First   string         `json:"first,omitempty"` // who gave up first, and why
	Ranks   []trace.Header `json:"ranks"`           // by rank
	Steps   []Step         `json:"steps"`           // the last ones of each rank, by time
}

// Report returns the diagnosis, and the last operations of each rank, at most so many.
func (j *Job) Report(last int) *Report {
	r := &Report{Job: j.name, Size: j.size, Verdict: j.diagnose(), First: j.firstFailure(), Steps: j.lastSteps(last)}
	for _, f := range j.recordings {
		r.Ranks = append(r.Ranks, f.Header)
	}
	return r
}

// Print writes a report as text. Times are in seconds since the first operation shown.
func Print(w io.Writer, r *Report) error {
	fmt.Fprintln(w, r.Verdict.Sentence)
	if r.First != "" {
		fmt.Fprintln(w, r.First)
	}
	if len(r.Steps) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "seconds\trank\tcommunicator\tcall\toperation\tstate")
	for i := range r.Steps {
		s := &r.Steps[i]
		fmt.Fprintf(table, "%.6f\t%d\t%s\t%d\t%s\t%s\n",
			s.Time.Sub(r.Steps[0].Time).Seconds(), s.Process, s.Comm, s.Seq, Operation(&s.Entry), State(&s.Entry))
	}
	return table.Flush()
}

// named returns the primitive of a call, and its label, if it has one.
func named(e *trace.Entry) string {
	if e.Label == "" {
		return e.Primitive
	}
	return fmt.Sprintf("%s %q", e.Primitive, e.Label)
}

// Operation returns a call in words, such as "AllReduce ring sum float32 × 1000".
func Operation(e *trace.Entry) string {
	words := named(e)
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

// State returns the state of a call in words.
func State(e *trace.Entry) string {
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
