//go:build unix && !aix && !solaris

// Package timeline writes what the flight recorders of a job's ranks have recorded as a timeline: for Perfetto and
// chrome://tracing, or as a page of HTML.
package timeline

import (
	"time"

	"github.com/collgen/collgen/cmd/collrun/internal/diagnosis"
	"github.com/collgen/collgen/fast/trace"
)

// call is an operation of one rank, with times since the first one of the job.
type call struct {
	*diagnosis.Step
	comm       int // index of its communicator
	start, end time.Duration
}

// timeline is the operations of a job's ranks, by the time of their start.
type timeline struct {
	*diagnosis.Report
	comms []string // names of communicators, in the order in which they are used
	calls []call
}

// of returns the timeline of a report.
func of(r *diagnosis.Report) *timeline {
	t := &timeline{Report: r}
	known, written := map[uint64]int{}, map[int]time.Time{}
	for _, h := range r.Ranks {
		written[h.Rank] = h.Origin.Add(time.Duration(h.Written))
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		comm, ok := known[s.ID]
		if !ok {
			comm = len(t.comms)
			known[s.ID] = comm
			t.comms = append(t.comms, s.Comm)
		}
		c := call{Step: s, comm: comm, start: s.Time.Sub(r.Steps[0].Time)}
		c.end = c.start + length(s, written[s.Process])
		t.calls = append(t.calls, c)
	}
	return t
}

// length returns how long an operation took, or has taken when its rank's trace was written; 0 if it is not known.
func length(s *diagnosis.Step, written time.Time) time.Duration {
	switch {
	case s.End > 0:
		return time.Duration(s.End - s.Start)
	case s.State == trace.Running:
		return max(0, written.Sub(s.Time))
	}
	return 0
}
