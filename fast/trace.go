package fast

import (
	"io"

	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
)

// The flight recorder of a rank keeps the last operations of all its communicators.
type (
	// Trace is what the flight recorder of one rank has kept: the last operations of its communicators, in their order.
	// It is written as lines of JSON: a TraceHeader, and then a TraceEntry for each operation.
	//
	//	type Trace struct {
	//		TraceHeader
	//		Entries []TraceEntry
	//	}
	Trace = flight.Trace
	// TraceHeader is the first line of a trace.
	//
	//	type TraceHeader struct {
	//		Format  string    // TraceFormat
	//		Rank    int       // the number of the process in its job
	//		Size    int       // the number of processes that the job began with
	//		Job     string    // the job's name
	//		Host    string    // the host's name
	//		PID     int       // the process's number on its host
	//		Origin  time.Time // the time of the host's clock when the trace's clock began
	//		Written int64     // when this was written: nanoseconds after Origin, by a clock that is never set
	//		Reason  string    // why it was written: the first failure, or "on demand"
	//		Lost    uint64    // how many operations were made before those that are kept
	//	}
	TraceHeader = flight.TraceHeader
	// TraceEntry is one operation of one communicator.
	//
	//	type TraceEntry struct {
	//		Comm      string // the communicator's name
	//		ID        uint64 // its number: the same on all its ranks, and unique in the job
	//		Rank      int    // this rank's number in it
	//		Size      int    // its number of ranks
	//		Seq       uint64 // the number of the call: of its collectives, or of those of a sender and a receiver
	//		Primitive string // "AllReduce"
	//		Algorithm string // "ring"
	//		Op        string // "sum"; "": the primitive takes none
	//		Type      string // "float32"
	//		Count     int    // elements per block
	//		Root      int    // 0 where the primitive has none; of a point-to-point call, the sender
	//		Peer      int    // of a point-to-point call, the receiver; -1: all ranks take part
	//		Depth     int
	//		Start     int64  // nanoseconds after Origin
	//		State     string // TraceRunning, TraceDone or TraceFailed
	//		Error     string
	//		Waiting   []int // the ranks that a running operation waits for, or that a failed one was waiting for
	//		Blames    []int // the ranks at fault for a failure, as far as its error says; this rank if it has
	//		                // aborted or closed
	//	}
	TraceEntry = flight.TraceEntry
)

// TraceFormat names the format of a trace, and its version.
const TraceFormat = flight.TraceFormat

// The states of an operation in a trace.
const (
	TraceRunning = flight.TraceRunning
	TraceDone    = flight.TraceDone
	TraceFailed  = flight.TraceFailed
)

// ReadTrace reads a trace that a flight recorder has written. It fails at the first line that no recorder writes.
func ReadTrace(r io.Reader) (*Trace, error) { return flight.ReadTrace(r) }

// WriteTrace writes what the flight recorder of this rank has kept, of all its communicators, as a Trace. It may be
// called from any goroutine, also while calls run. A Comm that neither Run nor Init made has no recorder, and refuses.
func (c *Comm) WriteTrace(w io.Writer) error {
	if c == nil || c.track == nil {
		return wire.Refuse("WriteTrace", "the communicator has no flight recorder")
	}
	if fork.Child() { // before locks, which another thread may have held at the fork
		return c.refusedError("WriteTrace", ErrForked)
	}
	return c.track.WriteTrace(w)
}
