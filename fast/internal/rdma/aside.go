package rdma

import (
	"fmt"

	"github.com/collgen/collgen/fast/internal/talk"
	"github.com/collgen/collgen/fast/internal/wire"
)

// sayPart writes as many whole frames of what l has to say as go into a slot.
func (e *Endpoint) sayPart(l *link) {
	n := 0
	for n < len(l.unsaid) {
		next := frameBytes(l.unsaid[n:])
		if n+next > asideBytes {
			break
		}
		n += next
	}
	copy(l.sendSlot(), l.unsaid[:n])
	l.unsaid = l.unsaid[:copy(l.unsaid, l.unsaid[n:])]
	base := l.line.remote.at + asideAt(l.out.slots, l.line.bytes)
	e.write(l, Write{Length: n, To: base + uint64(l.say.sent%l.say.slots)*asideBytes, Immediate: immediate(immAside, l.say.sent),
		Tell: true, Signal: true})
	l.say.sent++
}

// frameBytes is the length of the frame that b begins with, which this rank has made.
func frameBytes(b []byte) int {
	if b[0] == kindPlace {
		return placeBytes
	}
	h, _ := talk.ParseHeader(b)
	return talk.HeaderBytes + int(h.Left)
}

// hear takes what the other rank has said besides. It is copied first: the slot can change at any time.
func (e *Endpoint) hear(l *link, slot []byte) error {
	e.said = append(e.said[:0], slot...)
	l.heard.next++
	for b := e.said; len(b) > 0; {
		n, err := e.hearFrame(l, b)
		if err != nil {
			return fmt.Errorf("it has said %w", err)
		}
		b = b[n:]
	}
	return nil
}

// hearFrame takes note of the frame that b begins with, and gives its length.
func (e *Endpoint) hearFrame(l *link, b []byte) (n int, err error) {
	if b[0] == kindPlace && len(b) >= placeBytes {
		l.answer, err = parsePlace(b)
		l.answered = err == nil
		return placeBytes, err
	}
	if len(b) < talk.HeaderBytes {
		return 0, fmt.Errorf("%d bytes too many", len(b))
	}
	h, err := talk.ParseHeader(b)
	if err != nil {
		return 0, err
	}
	body := b[talk.HeaderBytes:]
	switch {
	case h.Kind == talk.Message || h.Left > uint64(len(body)):
		return 0, fmt.Errorf("a frame of kind %d with %d bytes in %d", h.Kind, h.Left, len(b))
	case h.Kind == talk.Refused:
		e.refusedBy(l, l.partner.Refused(body, &e.history))
	case h.Kind == talk.Bye:
		l.fail(&wire.PeerError{Rank: l.peer, Err: wire.ErrClosed})
	default:
		err = l.partner.Note(h, body)
	}
	return talk.HeaderBytes + int(h.Left), err
}

// refusedBy takes note of the error of a message that another rank has refused: no Exchange succeeds any more.
func (e *Endpoint) refusedBy(l *link, err error) {
	l.fail(err)
	e.end.Doom(err)
}

// inVain is what a rank finds out that has waited in vain: the error of a disagreement, or nil.
func (e *Endpoint) inVain() error {
	for _, peer := range e.active {
		l := &e.links[peer]
		if !l.ready {
			continue
		}
		l.partner.Wonder()
		send, recv := l.turns()
		l.unsaid = l.partner.Speak(l.unsaid, &e.history, send, recv)
		e.flush(l)
		if err := l.search(); err != nil {
			return err
		}
	}
	for _, peer := range e.active {
		l := &e.links[peer]
		send, recv := l.turns()
		if err := l.partner.Disagreement(&e.history, send, recv, l.receivedEver, l.sentEver); err != nil {
			return err
		}
	}
	for i := range e.links { // who waits for this rank may be none that it waits for itself
		if err := e.links[i].partner.Contradiction(&e.history); err != nil {
			return err
		}
	}
	return nil
}

// turns are the messages in turn on l.
func (l *link) turns() (send, recv talk.Turn) {
	if m := l.sending(); m != nil {
		send = talk.Turn{N: l.sentEver, Call: m.mark.Call, Fingerprint: m.mark.Fingerprint}
	}
	if m := l.receiving(); m != nil {
		recv = talk.Turn{N: l.receivedEver, Call: m.mark.Call, Fingerprint: m.mark.Fingerprint}
	}
	return send, recv
}

// search looks at segments before their turn, for the calls that the other rank tells with them.
func (l *link) search() error {
	if int32(l.searched-l.in.next) < 0 {
		l.searched = l.in.next
	}
	for ; l.searched != l.in.come; l.searched++ {
		s, err := parse(l.slot(l.searched), l.came[l.searched%l.in.slots])
		if err == nil && s.call != nil {
			err = l.partner.Note(s.told, s.call)
		}
		if err != nil {
			return l.died("it has sent %w", err)
		}
	}
	return nil
}
