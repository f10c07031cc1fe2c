// Package tcp carries messages between ranks over TCP connections. Each pair of ranks that exchanges messages has one
// connection, which others make and authenticate.
//
// A rank drives its sockets itself, in the goroutine that calls Exchange: it polls them for a while, then sleeps in
// Go's network poller. Data to be reduced is reduced straight out of the receive buffer, while the rest of the message
// is in flight. Other long messages are received where they belong.
//
// A link carries frames: segments of messages, the call of the messages that follow, what a stalled rank waits for, a
// refusal of a message that does not match, and a goodbye. A link that ends without a goodbye counts as the death of
// its rank. A link with keys is encrypted, record by record.
//
// An Endpoint has, for each peer that it has exchanged messages with, a socket and a buffer of 64 KiB for what arrives,
// or more than twice that if the link is encrypted. It has one more descriptor as soon as there is a link. It has no
// goroutine, except that after Close one lets pending data go out.
//
// The transport does not watch other ranks: Fail tells it who is dead.
package tcp

import (
	"fmt"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/internal/events"
)

// Endpoint is one rank's end of its links to all others.
type Endpoint struct {
	linkbase.Endpoint

	localRanks int  // ranks on this host, including this one: they share its processors
	encrypted  bool // its links are encrypted
	connect    func(peer int)
	links      []link // by rank; the entry of this rank is unused
	poller     waiter
	timedOut   bool // no socket became ready during the last sleep

	arrivals []arrival     // links for the next adopt; protected by End, like what follows
	limits   []*time.Timer // of connections that may be on their way
}

// Follow records this rank's messages in t. The endpoint must not have been used yet.
func (e *Endpoint) Follow(t *events.Trail) {
	for i := range e.links {
		l := &e.links[i]
		l.trail, l.in.flow, l.out.flow = t, t.Flow(i), t.Flow(i)
	}
}

// Protocol describes in a few words how a message of that many bytes is carried. If it reduces, the receiver reduces
// the message as it arrives.
func (e *Endpoint) Protocol(bytes int, reduces bool) string {
	out := "sent from where it lies"
	switch {
	case e.encrypted:
		out = fmt.Sprintf("sealed in records of %d KiB", recordBytes>>10)
	case bytes <= copyBytes:
		out = "sent in one piece with its header"
	case bytes > maxSegment:
		out = fmt.Sprintf("sent from where it lies, %d MiB at a time", maxSegment>>20)
	}
	switch {
	case reduces:
		return out + ", reduced out of the receive buffer"
	case bytes < directBytes || e.encrypted:
		return out + ", copied out of the receive buffer"
	}
	return out + ", received where it belongs"
}

// waiter waits for the sockets of an Endpoint.
type waiter interface {
	// add announces that there is a socket to peer.
	add(peer int) error
	// wait waits until a socket of interest is ready, the time is over, or somebody calls wake.
	wait(e *Endpoint, atMost time.Duration) ([]readiness, error)
	// wake ends a wait, from any goroutine. The waiter sees what was stored before.
	wake()
	close()
}

// readiness is what a waiter reports about a link.
type readiness struct {
	peer    int
	in, out bool
}
