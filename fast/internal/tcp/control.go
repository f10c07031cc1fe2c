package tcp

import "github.com/collgen/collgen/fast/internal/linkproto"

// maxReadAhead is how much of unexpected messages a stalled rank reads: more than sockets hold.
const maxReadAhead = 16 << 20

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

// appendReport queues what this rank waits for on l, if that is due and was not said.
func (e *Endpoint) appendReport(l *link) {
	if l.Partner.ReportDue() && l.socket != nil {
		l.out.pending = e.AppendReport(&l.Link, l.out.pending)
	}
}
