package tcp

import "github.com/collgen/collgen/fast/internal/linkproto"

const (
	controlBytes = 4 << 10  // how much of a message may be read before it is expected: it has to be copied later
	maxReadAhead = 16 << 20 // how much of unexpected messages a stalled rank reads: more than sockets hold
)

// handleControl processes a frame that is not a message. at is its position in what has arrived on the link.
func (e *Endpoint) handleControl(l *link, h linkproto.Header, body []byte, at uint64) error {
	if h.Kind == linkproto.Call {
		return l.wrapInvalid(l.Partner.SetCall(h, body))
	}
	if at < l.in.scanned {
		return nil
	}
	return l.wrapInvalid(e.HandleControl(&l.Link, h, body))
}

// wrapInvalid returns the error of a peer that has sent what cannot be understood, if err says so.
func (l *link) wrapInvalid(err error) error {
	if err == nil {
		return nil
	}
	return l.PeerDied("%w", err)
}

// readControl takes what has arrived on a link on which no message is expected, up to the next message.
func (e *Endpoint) readControl(l *link) error {
	if in := &l.in; in.w-in.r < linkproto.HeaderBytes+linkproto.RefusedBytes {
		in.fill(l.socket, controlBytes)
	}
	_, err := e.take(l, nil)
	return err
}

// readAhead reads everything that has arrived on l, and looks for what the other rank says about itself.
func (e *Endpoint) readAhead(l *link) {
	in := &l.in
	for in.grow(); in.fill(l.socket, maxReadAhead); in.grow() {
	}
	if err := e.scan(l); err != nil {
		l.Fail(err)
	}
}

// grow enlarges the buffer, if there is little room left.
func (in *input) grow() {
	if n := len(in.buf); n > 0 && n < maxReadAhead && n-(in.w-in.r) < bufferBytes/2 {
		bigger := make([]byte, 2*n)
		in.r, in.w = 0, copy(bigger, in.buf[in.r:in.w])
		in.buf = bigger
	}
}

// scan inspects the control frames in l's buffer that it has not seen yet, ahead of their turn.
func (e *Endpoint) scan(l *link) error {
	in := &l.in
	for at := max(in.scanned, in.read+uint64(in.segment)); ; {
		in.scanned = at
		ahead := at - in.read
		if ahead+linkproto.HeaderBytes > uint64(in.w-in.r) {
			return nil
		}
		rest := in.buf[in.r+int(ahead) : in.w]
		h, err := linkproto.ParseHeader(rest)
		if err != nil {
			return l.PeerDied("it has sent %w", err)
		}
		if h.Kind != linkproto.Message {
			if len(rest) < linkproto.HeaderBytes+bodyBytes(h) {
				return nil
			}
			if err := l.wrapInvalid(e.HandleControl(&l.Link, h, rest[linkproto.HeaderBytes:])); err != nil {
				return err
			}
		}
		at += linkproto.HeaderBytes + uint64(bodyBytes(h))
	}
}

// reportStall tells the peers what this rank has waited for without progress. It returns the error of calls that
// disagree, if it finds any.
func (e *Endpoint) reportStall() error {
	for _, peer := range e.Active {
		l := &e.links[peer]
		l.Partner.RequestReport()
		if l.out.segment == 0 && l.out.flushed() { // else a message that is on its way would wait for this report
			e.appendReport(l)
		}
		if l.Receiving() == nil && l.socket != nil {
			e.readAhead(l)
			if _, err := e.take(l, nil); err != nil {
				return err
			}
		}
	}
	return e.FindDisagreement()
}

// appendReport queues what this rank waits for on l, if that is due and was not said.
func (e *Endpoint) appendReport(l *link) {
	if l.Partner.ReportDue() && l.socket != nil {
		l.out.pending = e.AppendReport(&l.Link, l.out.pending)
	}
}
