// Package rdma carries messages between ranks by RDMA, over reliable connections. Each pair of ranks that exchanges
// messages has one connection. The devices are behind the interface [Domain].
//
// A sender writes segments of its messages into slots in the receiver's memory, each with an immediate that notifies
// the receiver. The receiver copies them, reduces straight out of the slot, or lends it. The receiver reports free
// slots in bulk, by an immediate without bytes. Control frames (package linkproto) have slots of their own, so that
// they never wait behind messages.
//
// A long message whose destination is registered memory (Know) is written there directly; out of registered memory,
// without a copy. The sender asks for the destination, and the receiver answers when the message is in turn.
//
// Ranks learn of each other's queue pairs and memory by cards, which others carry over an authenticated connection. A
// rank writes only after the other one has said that it is ready.
//
// An Endpoint may have several domains, its rails. A message from registered memory to registered memory is then
// written in parts over all rails that both ranks have. Everything else between two ranks goes over one of them, the
// main one. Immediates say nothing about what was written on other queue pairs, so each other rail ends its part with
// an immediate of its own. The message is complete when all of these have arrived, and its last segment on the main
// rail.
//
// An Endpoint has, for each peer that it has exchanged messages with, a queue pair on each rail and 528 KiB of memory,
// registered with each rail: 16 slots of 16 KiB to receive into, as many to send from, and 16 KiB for control frames.
// On a rail all peers share one completion queue and one protection domain. The endpoint has a goroutine for each rail
// but the first, which sleeps when the endpoint does. Others make connections, as long as device and network take for
// that, and one lets pending data go out after Close.
//
// The transport does not watch other ranks: Fail tells it who is dead, or a write that is not answered. A rank that
// waits for long writes 0 bytes to those that it waits for, so that there is an answer to miss.
package rdma

import (
	"fmt"
	"time"

	"github.com/collgen/collgen/fast/internal/linkbase"
)

const (
	patience   = 100 * time.Microsecond // how long a rank polls for completions before it sleeps
	yieldAfter = 10 * time.Microsecond  // how long a polling rank keeps its processor
)

// Endpoint is one rank's end of its links to all others. It is in use while an Exchange is in progress, or something is
// lent.
type Endpoint struct {
	linkbase.Endpoint

	rails        *rails
	slots, bytes uint32 // of each link
	sendCard     func(peer int, card []byte)
	links        []link // by rank; the entry of this rank is unused
	registered   regCache

	control     []byte // a copy of the control frames being handled
	completions [32]Completion
	patient     bool       // the next poll may take a microsecond, because there is nothing else to do
	batch       []Write    // writes to be posted
	batchPair   *queuePair // where

	conns   []*conn // by rank; nil: nothing was made so far; protected by End, like what follows
	servers int     // the goroutines that serve conns
	freed   bool    // the device's resources are to be freed when there are no servers any more
}

// New returns rank's end of its links to all size ranks, over one to MostRails domains, which the endpoint owns from
// now on. sendCard brings a card to another rank's ReceiveCard, in the order of the calls. It must not block.
func New(rank, size int, domains []Domain, sendCard func(peer int, card []byte)) *Endpoint {
	return newEndpoint(rank, size, domains, sendCard, defaultSlots, defaultBytes)
}

// newEndpoint is New with that many slots of that many bytes for each link.
func newEndpoint(rank, size int, domains []Domain, sendCard func(peer int, card []byte), slots,
	bytes uint32) *Endpoint {
	r := newRails(domains)
	e := &Endpoint{rails: r, registered: regCache{rails: r}, slots: slots, bytes: bytes, sendCard: sendCard,
		links: make([]link, size), conns: make([]*conn, size),
		batch: make([]Write, 0, batchWrites), control: make([]byte, 0, controlBytes)}
	all := make([]*linkbase.Link, size)
	for peer := range all {
		all[peer] = &e.links[peer].Link
	}
	e.Patience = patience
	e.Init(rank, all, linkbase.Hooks{
		Connect: e.request, Adopt: e.adopt, Poll: e.poll, Push: e.push, Pull: e.pull,
		Spin: e.spin, Arm: r.arm, Sleep: r.sleep, Stalled: e.reportStall,
		Abort: e.abort, Reclaim: e.reclaim, Wake: r.wake, Release: e.release,
	})
	return e
}

// Protocol describes in a few words how a message of that many bytes is carried. If it reduces, the receiver reduces
// the message as it arrives.
func (e *Endpoint) Protocol(bytes int, reduces bool) string {
	in := "copied out of them"
	if reduces {
		in = "reduced out of them"
	}
	slots := fmt.Sprintf("written into the receiver's %d slots of %d KiB, %s", e.slots, e.bytes>>10, in)
	if bytes < longBytes || reduces {
		return slots
	}
	over := ""
	if n := len(e.rails.all); n > 1 {
		over = fmt.Sprintf(", over %d rails if the receiver has as many", n)
	}
	return "written to its place" + over + ", if that is memory of Alloc; or else " + slots
}
