// Package exec makes the calls of one rank on one communicator: it checks their arguments, chooses an algorithm from
// the selection table, and runs its generated code, which lists messages and has them exchanged by the transport.
package exec

import (
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/spec"
)

// Executor makes the calls of one rank on one communicator, one at a time: it checks their arguments, chooses
// algorithms, and runs these. What it keeps of a call serves the next one, which is mostly the same again.
type Executor struct {
	Planner
	rank      int
	Transport transport.Transport // nil: this is the only rank
	Recorder  Recorder            // the flight recorder; nil: none
	EventLog  *EventLog           // nil: nothing is written down

	last        Request // the call that is to be made, or was made last; started ones are copied from it
	generations uint64  // of calls that were prepared so far
	Call        Call
	Calls       uint64      // made so far by all ranks together
	series      wire.Series // of these
	// Point-to-point calls made so far with each rank; nil before the first.
	sent, received         []uint64
	Group                  []Request // point-to-point calls that are made together
	descs                  []wire.Call
	scratch, Staged, spare memory
}

// Recorder is what an executor tells of its calls.
type Recorder interface {
	Begin(f *Form, seq uint64) // a call of that form and number begins, together with those that began since the last end
	End()                      // they are over, without an error
}

// SetUp prepares e for the calls of a rank among size over t, which is nil where there is only one.
func (e *Executor) SetUp(rank, size int, t transport.Transport) {
	e.rank, e.size, e.Transport = rank, size, t
	x := &e.Call
	x.Executor, x.In.Cuts, x.Out.Cuts, x.Scratch.Cuts = e, &x.Cuts, &x.Cuts, &x.Cuts
	x.mark = wire.NewMark(new(wire.Call))
}

// Call is one call in progress on one rank: what generated code runs on.
type Call struct {
	Rank, Size, Root, Peer, Depth int
	In, Out, Scratch              Buffer // the rank's input and output, empty where it passes none, and its own memory

	Executor   *Executor
	Cuts       Cuts
	form       *Form // of the call in progress; nil: none
	Collective *Collective
	Algorithm  *Algorithm
	generation uint64    // of the prepared call that the fields below, and Cuts, are of
	mark       wire.Mark // of the call in progress, or of the last one
	Count      int       // elements per block
	Op         spec.Op
	Elem       spec.Type
	Kernel     wire.Kernel
	Many       kernel.Many
	sends      []wire.Send
	recvs      []wire.Recv
	operands   [][]byte
	borrowed   [][]byte // the places of receives that may be lent, of the next Exchange
	loans      []loan
	lent       bool // by the transport, which has to be told of the end
	receives   bool // the receive listed last was not left out
	together   bool // messages are sent and received later, along with those of other calls
	Begun      bool // the flight recorder knows of the call
	running    bool // the algorithm has neither returned nor panicked
}

// loan says where the operand really lies that has a place in scratch.
type loan struct {
	place *byte
	data  []byte
}

// EventLog writes down what a communicator's rank does, in programs that are built for that (events.On). In others, and
// where it is nil, its methods do nothing.
type EventLog struct {
	*events.Trail
	listed   events.Event   // the messages of the step that is to begin
	operands []events.Place // of the next reduction
	moving   bool           // messages are in flight
	calls    int            // that have begun and not ended
}
