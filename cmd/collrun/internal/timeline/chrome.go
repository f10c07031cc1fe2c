//go:build unix && !aix && !solaris

package timeline

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/collgen/collgen/cmd/collrun/internal/diagnosis"
)

// event is one of the Trace Event Format, which Perfetto and chrome://tracing open.
type event struct {
	Name     string  `json:"name"`
	Category string  `json:"cat,omitempty"`
	Phase    string  `json:"ph"`
	Time     float64 `json:"ts"` // microseconds
	Duration float64 `json:"dur,omitempty"`
	Process  int     `json:"pid"` // the rank
	Thread   int     `json:"tid"` // the communicator
	ID       int     `json:"id,omitempty"`
	Args     any     `json:"args,omitempty"`
}

// Chrome writes a report in the Trace Event Format: a process for each rank, and a thread for each communicator.
// Point-to-point calls, of which several may be in flight, are asynchronous events.
func Chrome(w io.Writer, r *diagnosis.Report) error {
	t := of(r)
	var events []event
	name := func(what string, process, thread int, name string) {
		events = append(events, event{Name: what, Phase: "M", Process: process, Thread: thread,
			Args: map[string]string{"name": name}})
	}
	for _, h := range r.Ranks {
		name("process_name", h.Rank, 0, fmt.Sprintf("rank %d (%s, process %d)", h.Rank, h.Host, h.PID))
		events = append(events, event{Name: "process_sort_index", Phase: "M", Process: h.Rank,
			Args: map[string]int{"sort_index": h.Rank}})
	}
	type thread struct{ process, comm int }
	named := map[thread]bool{}
	for i := range t.calls {
		c := &t.calls[i]
		if at := (thread{c.Process, c.comm}); !named[at] {
			named[at] = true
			name("thread_name", c.Process, c.comm, t.comms[c.comm])
		}
		events = append(events, c.events(i+1)...)
	}
	return json.NewEncoder(w).Encode(map[string]any{"traceEvents": events, "displayTimeUnit": "ns",
		"otherData": map[string]string{"job": r.Job, "verdict": r.Verdict.Sentence}})
}

// events returns the events of c, whose number among all is id.
func (c *call) events(id int) []event {
	e := event{Name: c.Primitive, Category: c.State, Phase: "X", Time: microseconds(c.start),
		Duration: microseconds(c.end - c.start), Process: c.Process, Thread: c.comm, Args: &c.Entry}
	if c.Label != "" {
		e.Name = c.Label
	}
	if c.Peer < 0 {
		return []event{e}
	}
	e.Phase, e.Duration, e.ID = "b", 0, id
	end := e
	end.Phase, end.Time, end.Args = "e", microseconds(c.end), nil
	return []event{e, end}
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
