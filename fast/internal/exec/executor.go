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
// algorithms, and runs them. It caches much of a call for the next one, which is usually the same.
type Executor struct {
	Planner
	rank      int
	Transport transport.Transport // nil: this is the only rank
	Recorder  Recorder            // the flight recorder; nil: none
	EventLog  *EventLog           // nil: nothing is logged

	current     *Request    // the call to make, or made last; started ones are copied from it
	last        *Request    // the last one with options, or with uneven blocks; nil: none yet
	recent      [4]*Request // other ones, since programs make a few calls in turn; nil: none yet
	latest      *Request    // the one of these that was made last
	evicted     int         // the one that made room last
	generations uint64      // number of calls prepared so far
	Call        Call
	Calls       uint64      // number of collectives made so far
	series      wire.Series // hash of those collectives
	// Point-to-point calls made so far with each rank; nil before the first.
	sent, received         []uint64
	Group                  []Request // point-to-point calls that are made together
	descs                  []wire.Call
	scratch, Staged, spare memory
	blocks                 blocks // of the last request
}

// Recorder is told of an executor's calls.
type Recorder interface {
	// A call with that number begins, together with those begun since the last End. The larger of the rank's buffers has
	// so many bytes.
	Begin(p *Prepared, seq uint64, bytes int)
	End() // these calls have ended without an error

	Post(p *Prepared, seq uint64, bytes int) (number uint64) // a call begins that ends by itself
	Heed(number uint64, heeded bool)                         // whether the rank begins no other call before it is over
	Over(number uint64)                                      // it is over
}

// SetUp prepares e for the calls of a rank among size over t, which is nil if size is 1.
func (e *Executor) SetUp(rank, size int, t transport.Transport) {
	e.rank, e.size, e.Transport = rank, size, t
	x := &e.Call
	x.Executor, x.In.Cuts, x.Out.Cuts, x.Scratch.Cuts = e, &x.Cuts, &x.Cuts, &x.Cuts
	x.mark = wire.NewMark(new(wire.Call))
}

// Call is one call in progress on one rank: what generated code runs on.
type Call struct {
	Rank, Size, Root, Peer, Depth int
	Local                         int    // ranks on each host, where they make a difference to the algorithm
	Param                         int    // of the algorithm
	In, Out, Scratch              Buffer // the rank's input and output, empty where it passes none, and its own memory

	Executor   *Executor
	Cuts       Cuts
	blocks     *blocks   // where uneven ones lie; nil: they are equally long
	prepared   *Prepared // the call in progress; nil: none
	Collective *Collective
	Algorithm  *Algorithm
	generation uint64    // of the prepared call from which Cuts and the fields below come
	mark       wire.Mark // of the call in progress, or of the last one
	Count      int       // elements per block
	Op         spec.Op
	Elem       spec.Type
	Kernel     wire.Kernel
	Many       kernel.Many
	sends      []wire.Send
	recvs      []wire.Recv
	operands   [][]byte
	borrowed   [][]byte // memory of the receives in the next Exchange that may be lent
	loans      []loan
	lent       bool // by the transport, which needs a Release
	receives   bool // the last Recv was listed, because it is not empty
	together   bool // messages are exchanged later, along with those of other calls
	Begun      bool // the flight recorder knows of the call
	running    bool // the algorithm has not returned; after a panic it stays set
}

// loan says where an operand lies whose place in scratch is unused.
type loan struct {
	place *byte
	data  []byte
}

// EventLog logs what a communicator's rank does, in programs built for that (events.On). In others, and if the log is
// nil, its methods do nothing.
type EventLog struct {
	*events.Trail
	listed   events.Event   // the messages of the next step
	operands []events.Place // of the next reduction
	moving   bool           // messages are in flight
	calls    int            // number of calls begun and not ended
}
