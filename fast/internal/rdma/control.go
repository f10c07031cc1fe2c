package rdma

import (
	"encoding/binary"
	"fmt"

	"github.com/collgen/collgen/fast/internal/linkproto"
)

// flushControl sends free slots and control frames to the peer, as far as there is room.
func (e *Endpoint) flushControl(l *link) {
	if !l.ready || l.dead || l.conn == nil {
		return
	}
	for i := range l.pairs {
		if err := l.pairs[i].replenish(); err != nil {
			l.Fail(l.PeerDied("%w", err))
			return
		}
	}
	if l.in.owesCredits() && l.main.canWrite() {
		e.writeImmediate(l.main, immediate(immFreed, l.in.next))
		l.in.reported = l.in.next
	}
	if l.controlIn.owesCredits() && l.main.canWrite() {
		e.writeImmediate(l.main, immediate(immControlFreed, l.controlIn.next))
		l.controlIn.reported = l.controlIn.next
	}
	for len(l.pending) > 0 && l.controlOut.room() > 0 && l.main.canWrite() {
		e.writeControl(l)
	}
	e.post()
}

// writeControl writes as many whole control frames as fit into a slot.
func (e *Endpoint) writeControl(l *link) {
	n := 0
	for n < len(l.pending) {
		next := frameBytes(l.pending[n:])
		if n+next > controlBytes {
			break
		}
		n += next
	}
	copy(l.main.sendSlot(), l.pending[:n])
	l.pending = l.pending[:copy(l.pending, l.pending[n:])]
	base := l.conn.remote.at + controlOffset(l.out.slots, l.conn.bytes)
	to := base + uint64(l.controlOut.sent%l.controlOut.slots)*controlBytes
	e.write(l.main, Write{Length: n, To: to, Key: l.main.key,
		Immediate: immediate(immControl, l.controlOut.sent), Tell: true, Signal: true})
	l.controlOut.sent++
}

// frameBytes returns the length of the first frame in b, which this rank has made.
func frameBytes(b []byte) int {
	if b[0] == kindRemoteBuffer {
		return remoteBufferBytes
	}
	h, _ := linkproto.ParseHeader(b)
	return linkproto.HeaderBytes + int(h.Left)
}

// handleControl processes the control frames in a slot. It copies them first: the slot can change at any time.
func (e *Endpoint) handleControl(l *link, slot []byte) error {
	e.control = append(e.control[:0], slot...)
	l.controlIn.next++
	for b := e.control; len(b) > 0; {
		n, err := e.handleFrame(l, b)
		if err != nil {
			return fmt.Errorf("it has said %w", err)
		}
		b = b[n:]
	}
	return nil
}

// handleFrame processes the first frame in b, and returns its length.
func (e *Endpoint) handleFrame(l *link, b []byte) (n int, err error) {
	if b[0] == kindRemoteBuffer && len(b) >= remoteBufferBytes {
		l.answer, err = parseRemoteBuffer(b)
		l.answered = err == nil
		return remoteBufferBytes, err
	}
	if len(b) < linkproto.HeaderBytes {
		return 0, fmt.Errorf("%d bytes too many", len(b))
	}
	h, err := linkproto.ParseHeader(b)
	if err != nil {
		return 0, err
	}
	body := b[linkproto.HeaderBytes:]
	if h.Kind == linkproto.Message || h.Left > uint64(len(body)) {
		return 0, fmt.Errorf("a frame of kind %d with %d bytes in %d", h.Kind, h.Left, len(b))
	}
	return linkproto.HeaderBytes + int(h.Left), e.HandleControl(&l.Link, h, body)
}

// The frame that answers a message that asks for its destination, in addition to those of package linkproto.
const (
	kindRemoteBuffer  uint8 = 64
	remoteBufferBytes       = 8 + 8 + 8 + 4*MostRails
)

// remoteBuffer says where message n may be written to, or that it has to come through the slots.
type remoteBuffer struct {
	n       uint64
	granted bool
	at      uint64
	keys    [MostRails]uint32 // by rail of the receiver
}

// grant makes b the memory of r, from an offset on.
func (b *remoteBuffer) grant(r *registration, offset int) {
	b.granted = true
	for i, region := range r.regions {
		b.at, b.keys[i] = region.Remote() // the address is the same for all
	}
	b.at += uint64(offset)
}

func (b remoteBuffer) append(to []byte) []byte {
	first := uint64(kindRemoteBuffer)
	if b.granted {
		first |= 1 << 8
	}
	to = binary.LittleEndian.AppendUint64(to, first)
	to = binary.LittleEndian.AppendUint64(to, b.n)
	to = binary.LittleEndian.AppendUint64(to, b.at)
	for _, key := range b.keys {
		to = binary.LittleEndian.AppendUint32(to, key)
	}
	return to
}

// parseRemoteBuffer reads a remoteBuffer from from, which has at least remoteBufferBytes.
func parseRemoteBuffer(from []byte) (b remoteBuffer, err error) {
	first := binary.LittleEndian.Uint64(from)
	if uint8(first) != kindRemoteBuffer || first>>9 != 0 {
		return b, fmt.Errorf("a place of kind %#x", first)
	}
	b = remoteBuffer{n: binary.LittleEndian.Uint64(from[8:]), granted: first>>8 == 1,
		at: binary.LittleEndian.Uint64(from[16:])}
	for i := range b.keys {
		b.keys[i] = binary.LittleEndian.Uint32(from[24+4*i:])
	}
	return b, nil
}
