// Package health has what the method Health of a communicator of package fast returns: what each rank does, and where
// it is. The error of MonitoredBarrier has the same of the ranks that have not come.
package health

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/collgen/collgen/fast/internal/failure"
)

// Option changes what Health asks for.
type Option uint8

// Stacks asks each rank for the stacks of the goroutines of its process, too: as runtime.Stack prints them, and at most
// MaxStacks bytes. They name functions, files and lines of the program, and have addresses and numbers that its
// functions were called with. Every rank of a job answers every other one, so they are not asked for by default.
const Stacks Option = 1

// Limits of what a rank answers. What is longer is cut.
const (
	MaxCalls   = 16       // that are running
	MaxWaiting = 128      // ranks that a call waits for
	MaxText    = 1 << 10  // bytes of an error
	MaxStacks  = 24 << 10 // bytes
)

// Report is what the ranks of a communicator do. It can be encoded as JSON; times are then in nanoseconds.
type Report struct {
	Comm  string `json:"comm"`  // the communicator's name
	Rank  int    `json:"rank"`  // the rank that has asked
	Ranks []Rank `json:"ranks"` // all ranks, in ascending order
}

// Rank is what one rank does. All but Rank, Answered and Process is what the rank itself has said.
type Rank struct {
	Rank     int  `json:"rank"`
	Answered bool `json:"answered"` // in time; if not, the rest is what is known without it
	// State is that of the communicator on this rank: "Healthy", "Failed", "Revoked", "Aborted" or "Closed"; "": not
	// known. Error says why it is not healthy.
	State string `json:"state,omitempty"`
	Error string `json:"error,omitempty"`
	// Running are the calls in progress, those of this communicator first; none: the rank computes. Those of its other
	// communicators are there too.
	Running []Call `json:"running,omitempty"`
	// Last is the call of this communicator that is over and began last; nil: none is known.
	Last *Call `json:"last,omitempty"`
	// Process is what the asking process has seen of this one: "running", "waiting for a processor", "asleep",
	// "stopped", "gone", and when its last heartbeat came; "": nothing, as of goroutines.
	Process string `json:"process,omitempty"`
	Stacks  string `json:"stacks,omitempty"` // if Stacks were asked for
}

// Call is a call of a rank.
type Call struct {
	Comm    string        `json:"comm"`            // the communicator's name
	Op      string        `json:"op"`              // "AllReduce", "Agree"
	Label   string        `json:"label,omitempty"` // of WithLabel; of a Bucket, the first and the last one; "": none
	Seq     uint64        `json:"seq,omitempty"`   // its number on the communicator, or between two ranks; 0: it has none
	Peer    int           `json:"peer"`            // the other rank of a point-to-point call; -1: all ranks take part
	Begun   time.Duration `json:"begun"`           // how long ago it began
	Still   time.Duration `json:"still,omitempty"` // how long a running call has made no progress, as far as that is known
	Waiting []int         `json:"waiting,omitempty"`
	Failed  bool          `json:"failed,omitempty"`
}

// LateError says that MonitoredBarrier has failed because of ranks that have not come to it, and what they do.
type LateError struct {
	Ranks []Rank // that have not come, in ascending order
	// Err is a TimeoutError if the context has ended here; or a PeerError, which has one, if that of another rank ended
	// first.
	Err error
}

// maxTold is how many ranks the text of an error describes.
const maxTold = 8

// Error returns such as "waiting for ranks [2]: context deadline exceeded; rank 2 is in AllReduce, call 7 of world, for
// 3.2s, and waits for ranks [0 1]".
func (e *LateError) Error() string {
	var b strings.Builder
	fmt.Fprint(&b, e.Err)
	for i := range e.Ranks {
		if i == maxTold {
			fmt.Fprintf(&b, "; and so on, %d ranks in all", len(e.Ranks))
			break
		}
		fmt.Fprintf(&b, "; rank %d %v", e.Ranks[i].Rank, &e.Ranks[i])
	}
	return b.String()
}

// Unwrap returns Err.
func (e *LateError) Unwrap() error { return e.Err }

// String returns the call's name: `AllReduce "loss" with rank 1, call 7 of world`.
func (c *Call) String() string {
	var b strings.Builder
	b.WriteString(c.Op)
	if c.Label != "" {
		fmt.Fprintf(&b, " %q", c.Label)
	}
	if c.Peer >= 0 {
		fmt.Fprintf(&b, " with rank %d", c.Peer)
	}
	if c.Seq > 0 {
		fmt.Fprintf(&b, ", call %d of %s", c.Seq, c.Comm)
	} else {
		fmt.Fprintf(&b, " on %s", c.Comm)
	}
	return b.String()
}

// String returns in words what the rank does: "is in Barrier, call 7 of world, for 3.2s, and waits for ranks [0];
// stopped".
func (r *Rank) String() string {
	var b strings.Builder
	switch {
	case r.State == failure.Closed.String():
		b.WriteString("has closed the communicator")
	case !r.Answered:
		b.WriteString("does not answer")
	case len(r.Running) > 0:
		c := &r.Running[0]
		fmt.Fprintf(&b, "is in %v, for %v", c, round(c.Begun))
		if len(c.Waiting) > 0 {
			fmt.Fprintf(&b, ", and waits for ranks %v", c.Waiting)
		}
	case r.Last != nil:
		fmt.Fprintf(&b, "is in no call; its last one, %v, began %v ago", r.Last, round(r.Last.Begun))
	default:
		b.WriteString("is in no call, and no earlier one is known")
	}
	if r.Process != "" {
		fmt.Fprintf(&b, "; its process: %s", r.Process)
	}
	return b.String()
}

// round returns a time that people can read.
func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(100 * time.Millisecond)
}

// String returns a table with a line for each call in progress, or for each rank that is in none. The stacks follow.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, as rank %d of %d sees it\n", r.Comm, r.Rank, len(r.Ranks))
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "rank\tstate\tis in\tfor\twaits for\tlast call\tprocess")
	for i := range r.Ranks {
		r.Ranks[i].lines(w)
	}
	_ = w.Flush() // into memory
	for i := range r.Ranks {
		if x := &r.Ranks[i]; x.Error != "" {
			fmt.Fprintf(&b, "rank %d has %s: %s\n", x.Rank, strings.ToLower(x.State), x.Error)
		}
	}
	for i := range r.Ranks {
		if x := &r.Ranks[i]; x.Stacks != "" {
			fmt.Fprintf(&b, "\nstacks of rank %d:\n%s\n", x.Rank, x.Stacks)
		}
	}
	var text strings.Builder
	for line := range strings.Lines(b.String()) {
		text.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return text.String()
}

// lines writes the lines of r.
func (r *Rank) lines(w *tabwriter.Writer) {
	state, last := r.State, ""
	if state == "" {
		state = "?"
	}
	if r.Last != nil {
		last = fmt.Sprintf("%v, begun %v ago", r.Last, round(r.Last.Begun))
	}
	if !r.Answered || len(r.Running) == 0 {
		is := "no call"
		if !r.Answered {
			is = "does not answer"
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t\t\t%s\t%s\n", r.Rank, state, is, last, r.Process)
		return
	}
	for i := range r.Running {
		c, waits := &r.Running[i], ""
		if len(c.Waiting) > 0 {
			waits = fmt.Sprint(c.Waiting)
		}
		if i == 0 {
			fmt.Fprintf(w, "%d\t%s\t%v\t%v\t%s\t%s\t%s\n", r.Rank, state, c, round(c.Begun), waits, last, r.Process)
		} else {
			fmt.Fprintf(w, "\t\t%v\t%v\t%s\t\t\n", c, round(c.Begun), waits)
		}
	}
}
