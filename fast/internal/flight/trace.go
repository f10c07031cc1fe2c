package flight

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

// Trace is what one rank's flight recorder has kept: the last operations of its communicators, in their order. It is
// written as lines of JSON: a TraceHeader, and then one TraceEntry for each operation.
type Trace struct {
	TraceHeader
	Entries []TraceEntry
}

// TraceHeader is the first line of a trace. Package fast documents the fields.
type TraceHeader struct {
	Format  string    `json:"format"`
	Rank    int       `json:"rank"`
	Size    int       `json:"size"`
	Job     string    `json:"job"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Origin  time.Time `json:"origin"`
	Written int64     `json:"written"`
	Reason  string    `json:"reason"`
	Lost    uint64    `json:"lost"`
}

// TraceFormat names the format of a trace, and its version.
const TraceFormat = "collgen trace 1"

// TraceEntry is one operation of one communicator. Package fast documents the fields.
type TraceEntry struct {
	Comm      string `json:"comm"`
	ID        uint64 `json:"id,string"`
	Rank      int    `json:"rank"`
	Size      int    `json:"size"`
	Seq       uint64 `json:"seq"`
	Primitive string `json:"primitive"`
	Algorithm string `json:"algorithm"`
	Label     string `json:"label,omitempty"`
	Op        string `json:"op,omitempty"`
	Type      string `json:"type"`
	Count     int    `json:"count"`
	Root      int    `json:"root"`
	Peer      int    `json:"peer"`
	Depth     int    `json:"depth"`
	Local     int    `json:"local,omitempty"`
	Start     int64  `json:"start"`
	State     string `json:"state"`
	Error     string `json:"error,omitempty"`
	Waiting   []int  `json:"waiting,omitempty"`
	Blames    []int  `json:"blames,omitempty"`
}

// The states of an operation.
const (
	TraceRunning = "running"
	TraceDone    = "done"
	TraceFailed  = "failed"
)

// Limits of a trace, so that a file of another kind does no harm.
const (
	maxTraceLine = 1 << 20 // bytes
	maxTraceSize = 1 << 20 // ranks
)

// ReadTrace reads a trace that a flight recorder has written. It fails at the first line that no recorder writes.
func ReadTrace(r io.Reader) (*Trace, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTraceLine)
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
		if err := json.Unmarshal(line, &t.TraceHeader); err != nil {
			return err
		}
		return t.TraceHeader.check()
	}
	if n > MaxOperations+1 {
		return fmt.Errorf("there are more than %d operations", MaxOperations)
	}
	var e TraceEntry
	if err := json.Unmarshal(line, &e); err != nil {
		return err
	}
	t.Entries = append(t.Entries, e)
	return e.check()
}

func (h *TraceHeader) check() error {
	switch {
	case h.Format != TraceFormat:
		return fmt.Errorf("the format is %q, want %q", h.Format, TraceFormat)
	case h.Rank < 0 || h.Size < 1 || h.Rank >= maxTraceSize || h.Size > maxTraceSize:
		return fmt.Errorf("there is no rank %d of %d", h.Rank, h.Size)
	case !failure.Printable(h.Job, h.Host, h.Reason):
		return errors.New("it has control characters")
	}
	return nil
}

func (e *TraceEntry) check() error {
	isNone := func(rank int) bool { return rank < 0 || rank >= e.Size }
	switch {
	case e.Size < 1 || e.Size > maxTraceSize || isNone(e.Rank):
		return fmt.Errorf("there is no rank %d of %d", e.Rank, e.Size)
	case isNone(e.Root) || e.Peer != -1 && isNone(e.Peer) || slices.ContainsFunc(e.Waiting, isNone):
		return fmt.Errorf("root %d, peer %d or one of the ranks waited for, %v, is no rank of %d", e.Root, e.Peer,
			e.Waiting, e.Size)
	case slices.ContainsFunc(e.Blames, isNone):
		return fmt.Errorf("one of those blamed, %v, is no rank of %d", e.Blames, e.Size)
	case e.Count < 0 || e.Depth < 0 || e.Local < 0 || e.Start < 0:
		return errors.New("a number is negative")
	case !slices.Contains([]string{TraceRunning, TraceDone, TraceFailed}, e.State):
		return fmt.Errorf("the state is %q", e.State)
	case !failure.Printable(e.Comm, e.Primitive, e.Label, e.Algorithm, e.Op, e.Type, e.Error):
		return errors.New("it has control characters")
	}
	return nil
}

// write writes t as lines of JSON.
func (t *Trace) write(w io.Writer) error {
	buf := bufio.NewWriter(w)
	lines := json.NewEncoder(buf)
	if err := lines.Encode(t.TraceHeader); err != nil {
		return err
	}
	for i := range t.Entries {
		if err := lines.Encode(&t.Entries[i]); err != nil {
			return err
		}
	}
	return buf.Flush()
}
