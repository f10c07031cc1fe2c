package fast

import (
	"io"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
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
	//		Label     string // of WithLabel; of a Bucket's call, the first and the last one; "": none
	//		Op        string // "sum"; "": the primitive takes none
	//		Type      string // "float32"
	//		Count     int    // elements per block
	//		Root      int    // 0 where the primitive has none; of a point-to-point call, the sender
	//		Peer      int    // of a point-to-point call, the receiver; -1: all ranks take part
	//		Depth     int
	//		Local     int    // ranks on each host, where they make a difference to the algorithm; 0: they make none
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

// The rest of this file is what a rank writes down of its protocols' doing, in programs that are built for that
// (events.On).

// logTo has what c does written to log; nil: nowhere.
func (c *Comm) logTo(log *events.Log) {
	if !events.On || log == nil {
		return
	}
	m := &events.Member{Name: c.name, Rank: c.rank, Size: c.size, Processes: c.processes(), Transport: c.exec.Carrier}
	if t, ok := c.exec.Transport.(transport.Ringed); ok {
		m.Slots, m.Lines = t.Rings()
	}
	c.exec.EventLog = &exec.EventLog{Trail: log.Join(c.id, m)}
	if t, ok := c.exec.Transport.(transport.Follower); ok {
		t.Follow(c.exec.EventLog.Trail)
	}
}

// ending returns how c stands and what err says, in the words of an event log; nil where there is no log, or no error.
func (c *Comm) ending(err error) *events.Ended {
	if !events.On || c.exec.EventLog == nil || err == nil {
		return nil
	}
	ended := &events.Ended{State: c.State().String(), Error: failure.OneLine(err.Error())}
	if c.track != nil {
		ended.Blames = c.atFault(err)
	}
	return ended
}

// logEnd writes that something of c has ended, and why.
func (c *Comm) logEnd(do events.Kind, err error) {
	if events.On && c.exec.EventLog != nil {
		c.exec.EventLog.Write(&events.Event{Do: do, Ended: c.ending(err)})
	}
}

// logNotice writes that the others are told n, or that one has told it.
func (c *Comm) logNotice(do events.Kind, from int, n *failure.Notice) {
	if events.On && c.exec.EventLog != nil {
		c.exec.EventLog.Write(&events.Event{Do: do,
			Notice: &events.Notice{From: from, By: n.By, State: n.State.String(), Rank: n.Rank, Down: n.Down}})
	}
}

// logAgreement writes what all ranks have agreed on.
func (c *Comm) logAgreement(what agree.Call, seq uint64, v *agree.Value, err error) {
	if !events.On || c.exec.EventLog == nil {
		return
	}
	e := events.Event{Do: events.Agree, Agreed: &events.Agreed{Seq: seq, What: what.String(), Flags: v.Flags,
		Gone: v.Gone.Members()}}
	if err != nil {
		e.Ended = &events.Ended{Error: failure.OneLine(err.Error())}
	}
	c.exec.EventLog.Write(&e)
}
