package tcp

import "github.com/collgen/collgen/fast/internal/linkproto"

// hear takes note of a frame that is not a message. at is where it stands in what has come on the link.
func (e *Endpoint) hear(l *link, h linkproto.Header, body []byte, at uint64) error {
	if h.Kind == linkproto.Call {
		return l.faulty(l.Partner.Tell(h, body))
	}
	if at < l.in.scanned {
		return nil
	}
	return l.faulty(e.Note(&l.Link, h, body))
}

// faulty returns the error of a rank that has sent what cannot be understood.
func (l *link) faulty(err error) error {
	if err == nil {
		return nil
	}
	return l.Died("%w", err)
}

// listen takes what has come on a link on which no message is expected, up to the next message.
func (e *Endpoint) listen(l *link) error {
	if in := &l.in; in.w-in.r < linkproto.HeaderBytes+linkproto.RefusedBytes {
		in.fill(l.socket, listenBytes)
	}
	_, err := e.take(l, nil)
	return err
}

// listenBytes is how much of a message may be read before it is expected: it is copied later.
const listenBytes = 4 << 10

// stash is how much of messages that are not expected a rank reads that has waited in vain: more than sockets hold.
const stash = 16 << 20

// search reads all that has come on l, whatever it is, and looks for what the other rank says of itself.
func (e *Endpoint) search(l *link) {
	in := &l.in
	for in.grow(); in.fill(l.socket, stash); in.grow() {
	}
	if err := e.scan(l); err != nil {
		l.Fail(err)
	}
}

// grow makes room for more in the buffer, if there is little left of it.
func (in *input) grow() {
	if n := len(in.buf); n > 0 && n < stash && n-(in.w-in.r) < bufferBytes/2 {
		bigger := make([]byte, 2*n)
		in.r, in.w = 0, copy(bigger, in.buf[in.r:in.w])
		in.buf = bigger
	}
}

// scan looks at the frames in l's buffer that it has not looked at before, messages aside.
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
			return l.Died("it has sent %w", err)
		}
		if h.Kind != linkproto.Message {
			if len(rest) < linkproto.HeaderBytes+bodyBytes(h) {
				return nil
			}
			if err := l.faulty(e.Note(&l.Link, h, rest[linkproto.HeaderBytes:])); err != nil {
				return err
			}
		}
		at += linkproto.HeaderBytes + uint64(bodyBytes(h))
	}
}
