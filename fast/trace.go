package fast

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Trace is what one rank's flight recorder has kept: the last operations of its communicators, in their order. It is
// written as lines of JSON: a TraceHeader, and then one TraceEntry for each operation.
type Trace struct {
	TraceHeader
	Entries []TraceEntry
}

// TraceHeader is the first line of a trace.
type TraceHeader struct {
	Format  string    `json:"format"`  // TraceFormat
	Rank    int       `json:"rank"`    // the number of the process in its job
	Size    int       `json:"size"`    // the number of processes that the job began with
	Job     string    `json:"job"`     // the job's name
	Host    string    `json:"host"`    // the host's name
	PID     int       `json:"pid"`     // the process's number on its host
	Origin  time.Time `json:"origin"`  // what the host's clock said when the trace's clock began
	Written int64     `json:"written"` // when this was written: nanoseconds after Origin, by a clock that is never set
	Reason  string    `json:"reason"`  // why it was written: the first failure, or "on demand"
	Lost    uint64    `json:"lost"`    // how many operations were made before those that are kept
}

// TraceFormat names the format of a trace, and its version.
const TraceFormat = "collgen trace 1"

// TraceEntry is one operation of one communicator.
type TraceEntry struct {
	Comm      string `json:"comm"`         // the communicator's name, for people
	ID        uint64 `json:"id,string"`    // its number: the same on all of its ranks, and no other's of the job
	Rank      int    `json:"rank"`         // this rank's number in it
	Size      int    `json:"size"`         // its number of ranks
	Seq       uint64 `json:"seq"`          // the number of the call: of its collectives, or of those of a sender and a receiver
	Primitive string `json:"primitive"`    // "AllReduce"
	Algorithm string `json:"algorithm"`    // "ring"
	Op        string `json:"op,omitempty"` // "sum"; "": the primitive takes none
	Type      string `json:"type"`         // "float32"
	Count     int    `json:"count"`        // elements per block
	Root      int    `json:"root"`         // 0 where the primitive has none; of a point-to-point call, the sender
	Peer      int    `json:"peer"`         // of a point-to-point call, the receiver; -1: all ranks take part
	Depth     int    `json:"depth"`
	Start     int64  `json:"start"` // nanoseconds after Origin
	State     string `json:"state"` // TraceRunning, TraceDone or TraceFailed
	Error     string `json:"error,omitempty"`
	// Waiting are the ranks of the communicator that a running operation waits for, or that one was waiting for when it
	// failed.
	Waiting []int `json:"waiting,omitempty"`
	// Blames are the ranks of the communicator at whose fault a failed operation ended, as far as its error says; this
	// rank itself if it has aborted or closed the communicator.
	Blames []int `json:"blames,omitempty"`
}

// The states of an operation.
const (
	TraceRunning = "running"
	TraceDone    = "done"
	TraceFailed  = "failed"
)

// What a trace may have at most, so that a file that is none does no harm.
const (
	maxTraceLine = 1 << 20
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

// add takes line n.
func (t *Trace) add(n int, line []byte) error {
	if n == 1 {
		if err := json.Unmarshal(line, &t.TraceHeader); err != nil {
			return err
		}
		return t.TraceHeader.check()
	}
	if n > recorded+1 {
		return fmt.Errorf("there are more than %d operations", recorded)
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
	case !printable(h.Job, h.Host, h.Reason):
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
		return fmt.Errorf("root %d, peer %d or one of those waited for, %v, is no rank of %d", e.Root, e.Peer, e.Waiting, e.Size)
	case slices.ContainsFunc(e.Blames, isNone):
		return fmt.Errorf("one of those blamed, %v, is no rank of %d", e.Blames, e.Size)
	case e.Count < 0 || e.Depth < 0 || e.Start < 0:
		return errors.New("a number is negative")
	case !slices.Contains([]string{TraceRunning, TraceDone, TraceFailed}, e.State):
		return fmt.Errorf("the state is %q", e.State)
	case !printable(e.Comm, e.Primitive, e.Algorithm, e.Op, e.Type, e.Error):
		return errors.New("it has control characters")
	}
	return nil
}

// printable reports whether texts have no control characters, which a terminal would obey.
func printable(texts ...string) bool {
	return !slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) })
}
