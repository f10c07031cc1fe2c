package tcp

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// maxSegment is the most bytes of a message in one frame, and in one system call. With a quarter of it, messages of
// 16 MiB were a sixth slower within a host. Four times as much gained nothing.
const maxSegment = 1 << 20

// bodyBytes returns the length of what follows h in its frame.
func bodyBytes(h linkproto.Header) int { return int(min(h.Left, maxSegment)) }

// link is one rank's end of a connection to another rank.
type link struct {
	linkbase.Link
	socket     Socket      // nil: there is none yet, or it was closed
	requested  bool        // a connection was asked for
	linked     atomic.Bool // there is, or was, a connection
	connectErr error       // why no connection can be made, as far as is known
	// A connection that this process lacks the resources to use stays open until the endpoint is released: the other
	// rank, which has it too, has to learn the reason before it finds the connection closed.
	unusable arrival

	out output
	in  input

	trail *events.Trail
}

// resolved reports whether l has a connection, or an error. The caller needs a connection: an error in making one is
// final from now on.
func (l *link) resolved() bool {
	if l.socket == nil && l.Err == nil {
		l.Err = l.connectErr
	}
	return l.socket != nil || l.Err != nil
}

// endError returns the error of a message that cannot be completed any more, because the link has ended.
func (l *link) endError() error {
	switch {
	case l.Err != nil:
		return l.Err
	case l.in.err != nil:
		return l.PeerDied("the link broke: %w", l.in.err)
	}
	return l.PeerDied("the link broke: %w", l.out.err)
}

// wrapConnectError returns the error of a link that cannot be made because of err. If this process lacks the resources,
// the other rank is not at fault.
func (l *link) wrapConnectError(err error) error {
	if errors.Is(err, wire.ErrExhausted) && !errors.As(err, new(*wire.PeerError)) {
		return fmt.Errorf("the link to rank %d: %w", l.Peer, err)
	}
	for _, typed := range []error{wire.ErrDied, wire.ErrFrozen, wire.ErrFenced, wire.ErrClosed, wire.ErrAborted,
		wire.ErrExhausted} {
		if errors.Is(err, typed) {
			return &wire.PeerError{Rank: l.Peer, Err: err}
		}
	}
	return l.PeerDied("there is no connection: %w", err)
}

func (l *link) close() {
	l.socket.Close()
	l.socket, l.in.buf = nil, nil
}

// arrival is a connection for a link, or the reason why there is none.
type arrival struct {
	peer   int
	socket Socket // nil: there is none
	conn   wire.Conn
	err    error
}

func (a *arrival) close() {
	switch {
	case a.socket != nil:
		a.socket.Close()
	case a.conn.TCPConn != nil:
		_ = a.conn.Close()
	}
}

// sayBye sends the goodbye, as far as the socket takes it.
func (l *link) sayBye() {
	l.out.pending = linkproto.Header{Kind: linkproto.Bye}.Append(l.out.pending)
	l.drain()
}

// drain sends what is pending, as far as possible. It returns how many bytes the other rank's host does not have, or 0
// if it will never have them.
func (l *link) drain() int {
	o := &l.out
	o.full = false
	o.flush(l.socket)
	l.discard()
	if o.err != nil || l.in.err != nil {
		return 0
	}
	return len(o.pending) - o.from + o.sealed() + l.socket.Queued()
}

// maxDiscards bounds how often a closing rank reads in one turn from a rank that may send endlessly.
const maxDiscards = 16

// discard reads and drops what has arrived too late. A connection that is closed with unread data is reset, and what it
// has sent may be lost. Reading also shows whether the other rank has closed its end.
func (l *link) discard() {
	in := &l.in
	if in.buf == nil {
		in.buf = make([]byte, controlBytes)
	}
	in.empty = false
	in.flow = events.Flow{} // dropped data does not count as arrived
	for range maxDiscards {
		if in.readInto(l.socket, in.buf) == 0 {
			return
		}
	}
}
