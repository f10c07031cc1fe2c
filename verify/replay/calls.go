package replay

import (
	"encoding/binary"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/internal/events"
)

// Made is a call that the ranks of a communicator have made together.
type Made struct {
	*events.Call
	Comm *events.Member // the communicator, as the rank is in it that wrote the call down
}

// Calls returns the calls that a process has begun, in their order. The files need not be those of a whole job.
func Calls(f *events.File) (calls []Made) {
	comms := map[uint64]*events.Member{}
	for i := range f.Events {
		switch e := &f.Events[i]; {
		case e.Do == events.Joined:
			comms[e.Comm] = e.Member
		case e.Do == events.Begin && comms[e.Comm] != nil:
			calls = append(calls, Made{e.Call, comms[e.Comm]})
		}
	}
	return calls
}

// Is reports whether the call was one of a, as it is now.
func (m *Made) Is(a *gen.Algorithm) bool {
	hash := a.Hash()
	return m.Schedule == binary.BigEndian.Uint64(hash[:])
}

// Params returns the parameters of the call's schedule.
func (m *Made) Params() gen.Params {
	return gen.Params{Size: m.Comm.Size, Root: m.Root, Peer: max(m.Peer, 0), Depth: m.Depth, Local: m.Local}
}
