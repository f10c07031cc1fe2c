package replay

import (
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/internal/events"
)

// channel is the messages from one rank to another, in their order.
type channel struct {
	sent     []*outgoing
	received []*incoming
}

// outgoing is a message, as its sender sees it.
type outgoing struct {
	to          *channel
	number      int    // in it
	call        uint64 // the fingerprint
	bytes       int
	put         []events.Part
	ready, gone int // bytes that can be received, and bytes whose memory is no longer read
	begun, over bool
	receipt     *incoming // nil: its receiver has not begun the step
}

// incoming is a message, as its receiver sees it.
type incoming struct {
	from         *channel
	number       int
	call         uint64
	bytes        int
	after        *outgoing // the send that it overwrites, up to where that was sent; nil: none
	lend         bool
	read, placed int // bytes that were read from the sender's memory, and bytes in their place
	begun        bool
}

// channel returns the channel between two ranks.
func (c *comm) channel(from, to int) *channel {
	ch := c.channels[pair{from, to}]
	if ch == nil {
		ch = new(channel)
		c.channels[pair{from, to}] = ch
	}
	return ch
}

// copied reports whether a part was copied for its receiver, so that the sender can write its memory again.
func copied(via events.Via) bool {
	return slices.Contains([]events.Via{events.Inline, events.Slot, events.Full, events.Board}, via)
}

// isPut reports whether all of m can be received.
func (m *outgoing) isPut() bool { return m.begun && m.ready == m.bytes }

// complete reports whether m is complete for its sender.
func (m *outgoing) complete() bool { return m.isPut() && m.over }

func (in *incoming) complete() bool { return in.begun && in.placed == in.bytes }

// free returns how many bytes of m's memory may be overwritten, because they were copied or the receiver has read them.
func (m *outgoing) free() int {
	n := m.gone
	if m.receipt != nil {
		n = max(n, m.receipt.read)
	}
	return n
}

// put processes a part that can be received from now on.
func (m *member) put(p *events.Part) error {
	out, err := m.sending(p.Peer, (*outgoing).isPut)
	switch {
	case err != nil:
		return err
	case p.At != out.ready || p.Bytes > out.bytes-out.ready:
		return fmt.Errorf("of the message's %d bytes, %d were sent before", out.bytes, out.ready)
	case p.Bytes == 0 && out.bytes > 0:
		return errors.New("it has no bytes")
	case len(m.lent) > 0 && p.Via != events.Frame: // shared memory takes back what it lent before it goes on
		return errors.New("memory that was lent in the step before is not free")
	}
	if err := m.push(out, p); err != nil {
		return err
	}
	out.put = append(out.put, *p)
	out.ready, out.begun = out.ready+p.Bytes, true
	if copied(p.Via) {
		out.gone = out.ready
		out.over = out.gone == out.bytes
	} else if p.Via == events.Frame && out.bytes == 0 {
		out.over = true
	}
	return nil
}

// sent processes a part whose memory is no longer read.
func (m *member) sent(p *events.Part) error {
	out, err := m.sending(p.Peer, (*outgoing).complete)
	switch {
	case err != nil:
		return err
	case !out.begun || p.At != out.gone || p.Bytes > out.ready-out.gone:
		return fmt.Errorf("of the message, %d bytes can be received and %d were sent", out.ready, out.gone)
	}
	if p.Via != events.Frame && (out.receipt == nil || out.receipt.read < p.At+p.Bytes || !out.receipt.begun) {
		return wait("rank %d has not read it", p.Peer)
	}
	out.gone += p.Bytes
	out.over = out.gone == out.bytes
	return nil
}

// sending returns the step's first message to peer that is not done.
func (m *member) sending(peer int, done func(*outgoing) bool) (*outgoing, error) {
	if err := m.check(peer); err != nil {
		return nil, err
	}
	if m.current != nil {
		for _, out := range m.current.sends[peer] {
			if !done(out) {
				return out, nil
			}
		}
	}
	return nil, fmt.Errorf("the step has no message to rank %d, or none that is not complete", peer)
}

// receiving returns the step's first message from p's peer that is not complete, as the receiver and the sender see it.
func (m *member) receiving(p *events.Part) (*incoming, *outgoing, error) {
	if err := m.check(p.Peer); err != nil {
		return nil, nil, err
	}
	if m.current == nil {
		return nil, nil, errors.New("no messages are in flight")
	}
	i := slices.IndexFunc(m.current.recvs[p.Peer], func(in *incoming) bool { return !in.complete() })
	if i < 0 {
		return nil, nil, fmt.Errorf("the step has no message of rank %d, or none that is not complete", p.Peer)
	}
	in := m.current.recvs[p.Peer][i]
	if len(in.from.sent) <= in.number {
		return nil, nil, wait("rank %d has not sent it", p.Peer)
	}
	out := in.from.sent[in.number]
	switch {
	case out.call != in.call:
		return nil, nil, fmt.Errorf("rank %d has sent it for call %#x, and it is received for %#x", p.Peer, out.call, in.call)
	case out.bytes != in.bytes:
		return nil, nil, fmt.Errorf("rank %d has sent %d bytes, and %d are received", p.Peer, out.bytes, in.bytes)
	}
	return in, out, nil
}

// taken processes a part that was read from the sender's memory.
func (m *member) taken(p *events.Part) error {
	in, out, err := m.receiving(p)
	if err == nil {
		err = in.take(out, p)
	}
	return err
}

// take records that p, the next part of in, was read.
func (in *incoming) take(out *outgoing, p *events.Part) error {
	switch {
	case p.At != in.read || p.Bytes > in.bytes-in.read:
		return fmt.Errorf("of the message's %d bytes, %d were received before", in.bytes, in.read)
	case p.Bytes == 0 && in.bytes > 0:
		return errors.New("it has no bytes")
	case !out.begun || p.At+p.Bytes > out.ready:
		return wait("rank %d has not sent it", p.Peer)
	}
	if err := out.carries(p); err != nil {
		return err
	}
	in.read, in.begun = in.read+p.Bytes, true
	return nil
}

// carries returns an error unless p can be received, given the parts that the sender has put. A part that was copied is
// received as it was put; one that was not may be received in pieces.
func (m *outgoing) carries(p *events.Part) error {
	i := slices.IndexFunc(m.put, func(put events.Part) bool { return p.At < put.At+put.Bytes || put.Bytes == 0 })
	if i < 0 {
		return errors.New("it was not sent so")
	}
	put := m.put[i]
	put.Peer, put.Lent = p.Peer, p.Lent
	same := put == *p
	if !copied(put.Via) {
		same = put.Via == p.Via && put.Segment == p.Segment
	}
	if !same {
		return fmt.Errorf("it was sent as %s", partWords(&m.put[i]))
	}
	return nil
}

// placed processes a part that is now in its place.
func (m *member) placed(p *events.Part) error {
	in, out, err := m.receiving(p)
	switch {
	case err != nil:
		return err
	case p.At != in.placed:
		return fmt.Errorf("of the message's %d bytes, %d are in their place", in.bytes, in.placed)
	case p.Lent && (!in.lend || p.Bytes != in.bytes):
		return errors.New("the message may not be lent")
	case in.after != nil && in.after.free() < p.At+p.Bytes:
		return wait("what is overwritten was not sent: %d bytes of it were", in.after.free())
	}
	if in.read == in.placed {
		if err := in.take(out, p); err != nil {
			return err
		}
	} else if p.Bytes != in.read-in.placed {
		return fmt.Errorf("of the message, %d bytes were taken, and %d are in their place", in.read, in.placed)
	}
	in.placed += p.Bytes
	switch {
	case p.Lent:
		m.lent[p.Peer] = p.Segment
	case copied(p.Via) || in.complete(): // a message that was not copied is one segment
		m.pull(p)
	}
	return nil
}

// freed processes the return of lent memory.
func (m *member) freed(p *events.Part) error {
	if segment, lent := m.lent[p.Peer]; !lent || segment != p.Segment {
		return fmt.Errorf("of rank %d, that segment is not lent", p.Peer)
	}
	delete(m.lent, p.Peer)
	m.pull(p)
	return nil
}
