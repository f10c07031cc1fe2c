//go:build collgen_events

package events

// On says whether this program writes events.
const On = true

// Flow is one end of a connection, whose system calls it writes to a trail.
type Flow struct {
	trail *Trail
	peer  int
}

// Flow returns this rank's end of its connection to peer.
func (t *Trail) Flow(peer int) Flow { return Flow{t, peer} }

// Moved writes that a system call has moved n bytes: Wrote or Came.
func (f *Flow) Moved(do Kind, n int) {
	if n > 0 {
		f.trail.Part(do, Part{Peer: f.peer, Bytes: n, Via: Frame})
	}
}
