// Package trace reads and writes traces: what the flight recorder of one rank has kept, the last operations of all its
// communicators in their order. The method WriteTrace of a communicator of package fast writes one, and `collrun trace`
// merges those of all ranks.
package trace

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/failure"
)

// Trace is what one rank's flight recorder has kept. It is written as lines of JSON: a Header, and then an Entry for
// each operation.
type Trace struct {
	Header
	Entries []Entry
}

// Header is the first line of a trace.
type Header struct {
	Format  string    `json:"format"`  // Format
	Rank    int       `json:"rank"`    // the number of the process in its job
	Size    int       `json:"size"`    // the number of processes that the job began with
	Job     string    `json:"job"`     // the job's name
	Host    string    `json:"host"`    // the host's name
	PID     int       `json:"pid"`     // the process's number on its host
	Origin  time.Time `json:"origin"`  // the time of the host's clock when the trace's clock began
	Written int64     `json:"written"` // when this was written: nanoseconds after Origin, by a clock that is never set
	Reason  string    `json:"reason"`  // why it was written: the first failure, or "on demand"
	Lost    uint64    `json:"lost"`    // how many operations were made before those that are kept
}

// Format names the format of a trace, and its version.
const Format = "collgen trace 1"

// Entry is one operation of one communicator.
type Entry struct {
	Comm      string `json:"comm"`            // the communicator's name
	ID        uint64 `json:"id,string"`       // its number: the same on all its ranks, and unique in the job
	Rank      int    `json:"rank"`            // this rank's number in it
	Size      int    `json:"size"`            // its number of ranks
	Seq       uint64 `json:"seq"`             // the number of the call: of collectives, or of a sender and a receiver
	Primitive string `json:"primitive"`       // "AllReduce"
	Algorithm string `json:"algorithm"`       // "ring"
	Label     string `json:"label,omitempty"` // of WithLabel; of a Bucket's call, the first and the last one; "": none
	Op        string `json:"op,omitempty"`    // "sum"; "": the primitive takes none
	Type      string `json:"type"`            // "float32"
	Count     int    `json:"count"`           // elements per block
	Root      int    `json:"root"`            // 0 where the primitive has none; of a point-to-point call, the sender
	Peer      int    `json:"peer"`            // of a point-to-point call, the receiver; -1: all ranks take part
	Depth     int    `json:"depth"`           // into how many pieces chunks are cut
	Local     int    `json:"local,omitempty"` // ranks on each host, where they make a difference to the algorithm; 0: none
	Bytes     int    `json:"bytes,omitempty"` // of the larger of this rank's buffers
	Start     int64  `json:"start"`           // nanoseconds after Origin
	End       int64  `json:"end,omitempty"`   // the same; 0: it is running, or its end was not recorded
	State     string `json:"state"`           // Running, Done or Failed
	Error     string `json:"error,omitempty"`
	// Waiting are the ranks that a running operation waits for, or that a failed one was waiting for.
	Waiting []int `json:"waiting,omitempty"`
	// Blames are the ranks at fault for a failure, as far as its error says; this rank if it has aborted or closed.
	Blames []int `json:"blames,omitempty"`
}

// The states of an operation.
const (
	Running = "running"
	Done    = "done"
	Failed  = "failed"
)

// MaxEntries is how many operations a trace may have.
const MaxEntries = 4096

// Limits of a trace, so that a file of another kind does no harm.
const (
	maxLine = 1 << 20 // bytes
	maxSize = 1 << 20 // ranks
)

// Read reads a trace that a flight recorder has written. It fails at the first line that no recorder writes.
func Read(r io.Reader) (*Trace, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	var t Trace
	for n := 1; lines.Scan(); n++ {
		if err := t.add(n, lines.Bytes()); err != nil {
			return nil, fmt.Errorf("line %d of the trace: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the trace: %w", err)
	}
	if t.Format == "" {
		return nil, errors.New("the trace is empty")
	}
	return &t, nil
}

// add adds line n to t.
func (t *Trace) add(n int, line []byte) error {
	if n == 1 {
		if err := json.Unmarshal(line, &t.Header); err != nil {
			return err
		}
		return t.Header.check()
	}
	if n > MaxEntries+1 {
		return fmt.Errorf("there are more than %d operations", MaxEntries)
	}
	var e Entry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	t.Entries = append(t.Entries, e)
	return e.check()
}

func (h *Header) check() error {
	switch {
	case h.Format != Format:
		return fmt.Errorf("the format is %q, want %q", h.Format, Format)
	case h.Rank < 0 || h.Size < 1 || h.Rank >= maxSize || h.Size > maxSize:
		return fmt.Errorf("there is no rank %d of %d", h.Rank, h.Size)
	case !failure.Printable(h.Job, h.Host, h.Reason):
		return errors.New("it has control characters")
	}
	return nil
}

func (e *Entry) check() error {
	isNone := func(rank int) bool { return rank < 0 || rank >= e.Size }
	switch {
	case e.Size < 1 || e.Size > maxSize || isNone(e.Rank):
		return fmt.Errorf("there is no rank %d of %d", e.Rank, e.Size)
	case isNone(e.Root) || e.Peer != -1 && isNone(e.Peer) || slices.ContainsFunc(e.Waiting, isNone):
		return fmt.Errorf("root %d, peer %d or one of the ranks waited for, %v, is no rank of %d", e.Root, e.Peer,
			e.Waiting, e.Size)
	case slices.ContainsFunc(e.Blames, isNone):
		return fmt.Errorf("one of those blamed, %v, is no rank of %d", e.Blames, e.Size)
	case e.Count < 0 || e.Depth < 0 || e.Local < 0 || e.Bytes < 0 || e.Start < 0:
		return errors.New("a number is negative")
	case e.End != 0 && e.End < e.Start:
		return errors.New("it ends before it starts")
	case !slices.Contains([]string{Running, Done, Failed}, e.State):
		return fmt.Errorf("the state is %q", e.State)
	case !failure.Printable(e.Comm, e.Primitive, e.Label, e.Algorithm, e.Op, e.Type, e.Error):
		return errors.New("it has control characters")
	}
	return nil
}

// Write writes t as lines of JSON.
func (t *Trace) Write(w io.Writer) error {
	buf := bufio.NewWriter(w)
	lines := json.NewEncoder(buf)
	if err := lines.Encode(t.Header); err != nil {
		return err
	}
	for i := range t.Entries {
		if err := lines.Encode(&t.Entries[i]); err != nil {
			return err
		}
	}
	return buf.Flush()
}
