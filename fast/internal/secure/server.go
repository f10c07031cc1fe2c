package secure

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Server takes connections for a process. It may serve several listeners at once. The limits hold for all of them
// together: Size+16 handshakes at a time, or 256 for a server without a Size, each at most Budget.
type Server struct {
	// Log is warned the first time that a process is refused for a reason of its own; nil: nobody is.
	Log *slog.Logger
	// Starved is called when no connection could be taken in eight tries, over half a second and more, because
	// descriptors or memory are short, and then again and again; nil: nothing is.
	Starved func(error)
	cred    Credentials
	me      Identity
	pending pending
	refused refusals
}

// NewServer returns the server of the process me.
func NewServer(cred Credentials, me Identity) *Server {
	s := &Server{cred: cred, me: me}
	s.pending.init(me.Size)
	return s
}

// Refusals returns the reasons why handshakes failed, each with how often it was so, and of whom last: in words, for
// the error of a job that does not come together.
func (s *Server) Refusals() []string { return s.refused.words() }

// Exhausted takes note that this process has no descriptors or memory for a connection at an address. It is false if
// err is something else.
func (s *Server) Exhausted(err error, at net.Addr) bool {
	if err = wire.Exhausted(err); !errors.Is(err, wire.ErrExhausted) {
		return false
	}
	s.refuse(err, at)
	return true
}

// refuse takes note of a handshake that failed with err.
func (s *Server) refuse(err error, from net.Addr) {
	reason, first := s.refused.add(err, from)
	if first && s.Log != nil && !slices.Contains(common, reason) {
		s.Log.Warn("a connection was refused", "from", from, "error", err)
	}
}

// Serve takes the connections that come to l, until ctx ends or l fails for good; it returns the cause, when none of
// its goroutines is left, and l is closed. Check, which may be nil, says whether a process that has proved who it is
// may have the connection. What it returns is what the client gets, if it is wire.ErrFenced or an error of this
// package; otherwise the client gets ErrRefused with its text. Accepted is called with each connection after the client
// was told. Both are called from several goroutines; the time that check takes is the handshake's.
func (s *Server) Serve(ctx context.Context, l net.Listener, check func(Hello, Identity) error,
	accepted func(*Conn, Hello)) error {
	own, err := s.cred.certificate(s.me)
	if err = errors.Join(err, s.me.check()); err != nil {
		return errors.Join(err, l.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer l.Close()
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	spare := openSpare()
	defer func() { _ = spare.Close() }()
	for patience := shortest; ; {
		conn, err := l.Accept()
		if err == nil {
			patience = shortest
			v := &visit{Server: s, visitor: s.pending.enter(conn), own: own, check: check}
			running.Go(func() { v.receive(ctx, accepted) })
			continue
		}
		starved := s.Exhausted(err, l.Addr())
		if !starved && !gone(err) || !pause(ctx, patience) {
			return why(ctx, err)
		}
		if patience = min(2*patience, longest); !starved || patience < longest {
			continue
		}
		if s.Starved != nil {
			s.Starved(err)
		}
		_ = spare.Close()
		s.turnAway(ctx, l, own, wire.Exhausted(err))
		spare = openSpare()
	}
}

// openSpare opens a file that reserves a descriptor; nil: there is none. Closing a nil *os.File does nothing.
func openSpare() *os.File {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return nil
	}
	return f
}

// turnAway tells a client that is waiting why it cannot be served.
func (s *Server) turnAway(ctx context.Context, l net.Listener, own *tls.Certificate, why error) {
	limited, ok := l.(interface{ SetDeadline(time.Time) error })
	if !ok {
		return
	}
	_ = limited.SetDeadline(time.Now().Add(shortest))
	conn, err := l.Accept()
	_ = limited.SetDeadline(time.Time{})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, turning) // nobody else is accepted meanwhile
	defer cancel()
	v := &visit{Server: s, visitor: s.pending.enter(conn), own: own, check: func(Hello, Identity) error { return why }}
	v.receive(ctx, nil) // why is an error, so that nothing is accepted
}

// turning is how long it may take to tell a client that there is no room.
const turning = 2 * time.Second

// How long to wait for descriptors or memory to be free again.
const (
	shortest = 5 * time.Millisecond
	longest  = 500 * time.Millisecond
)

// gone reports whether a listener may go on after err, which is of a client that has gone or a signal.
func gone(err error) bool {
	return errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EINTR)
}

// pause waits, and is false if ctx ends.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// why returns the cause of ctx's end, or else err.
func why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
