package rdma

import (
	"fmt"

	"github.com/collgen/collgen/fast/internal/linkproto"
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
	copy(l.main.sendSlot(), l.unsaid[:n])
	l.unsaid = l.unsaid[:copy(l.unsaid, l.unsaid[n:])]
	base := l.line.remote.at + asideAt(l.out.slots, l.line.bytes)
	e.write(l.main, Write{Length: n, To: base + uint64(l.say.sent%l.say.slots)*asideBytes, Key: l.main.key,
		Immediate: immediate(immAside, l.say.sent), Tell: true, Signal: true})
	l.say.sent++
}

// frameBytes returns the length of the frame that b begins with, which this rank has made.
func frameBytes(b []byte) int {
	if b[0] == kindPlace {
		return placeBytes
	}
	h, _ := linkproto.ParseHeader(b)
	return linkproto.HeaderBytes + int(h.Left)
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
	return linkproto.HeaderBytes + int(h.Left), e.Note(&l.Link, h, body)
}

// inVain returns what a rank finds out that has waited in vain: the error of a disagreement, or nil.
func (e *Endpoint) inVain() error {
	for _, peer := range e.Active {
		l := &e.links[peer]
		if l.miss(); !l.ready {
			continue
		}
		l.Partner.Wonder()
		l.unsaid = e.Speak(&l.Link, l.unsaid)
		e.flush(l)
		if err := l.search(); err != nil {
			return err
		}
	}
	return e.Disagreement()
}

// search looks at segments before their turn, for the calls that the other rank tells with them.
func (l *link) search() error {
	if int32(l.searched-l.in.next) < 0 {
		l.searched = l.in.next
	}
	for ; l.searched != l.in.come; l.searched++ {
		s, err := parse(l.slot(l.searched), l.came[l.searched%l.in.slots])
		if err == nil && s.call != nil {
			err = l.Partner.Note(s.told, s.call)
		}
		if err != nil {
			return l.PeerDied("it has sent %w", err)
		}
	}
	return nil
}
