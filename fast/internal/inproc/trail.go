package inproc

import "github.com/collgen/collgen/internal/events"

// Follow has this rank's messages written to t. It is for an endpoint that was not used yet.
func (e *Endpoint) Follow(t *events.Trail) { e.trail = t }

// follow writes that n bytes of r from byte at on were read, to their place or to be held.
func (e *Endpoint) follow(r *incoming, at, n int) {
	do := events.Placed
	if r.held > 0 {
		do = events.Taken
	}
	e.trail.Part(do, events.Part{Peer: r.Peer, At: at, Bytes: n, Via: events.Memory})
}
