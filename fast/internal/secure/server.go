package secure

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// Server takes connections for a process. It may serve several listeners at once. The limits hold for all of them
// together: Size+16 handshakes at a time, or 256 for a server without a Size, each at most Budget.
type Server struct {
	cred    Credentials
	me      Identity
	pending pending
	refused refusals
}

// NewServer is the server of the process me.
func NewServer(cred Credentials, me Identity) *Server {
	s := &Server{cred: cred, me: me}
	s.pending.init(me.Size)
	return s
}

// Refusals are the reasons why handshakes failed, each with how often it was so, and of whom last: in words, for the
// error of a job that does not come together.
func (s *Server) Refusals() []string { return s.refused.words() }

// Serve takes the connections that come to l, until ctx ends or l fails for good; it returns the cause, when none of its
// goroutines is left, and l is closed. Check, which may be nil, says whether a process that has proved who it is may
// have the connection; the client gets what it returns, as wire.ErrFenced or an error of this package if it is one of those, or
// else as ErrRefused with its text. Accepted is called with each connection after the client was told. Both are called
// from several goroutines, and must not block.
func (s *Server) Serve(ctx context.Context, l net.Listener, check func(Hello, Identity) error, accepted func(*Conn, Hello)) error {
	own, err := s.cred.certificate(s.me)
	if err = errors.Join(err, s.me.check()); err != nil {
		return errors.Join(err, l.Close())
	}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer l.Close()
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	for patience := shortest; ; {
		conn, err := l.Accept()
		if err == nil {
			patience = shortest
			v := s.pending.enter(conn)
			running.Go(func() { s.receive(ctx, v, own, check, accepted) })
			continue
		}
		if !passing(err) || !pause(ctx, patience) {
			return why(ctx, err)
		}
		patience = min(2*patience, longest)
	}
}

func (s *Server) receive(ctx context.Context, v *visitor, own *tls.Certificate, check func(Hello, Identity) error, accepted func(*Conn, Hello)) {
	c, h, err := s.handshake(ctx, v, own, check)
	switch {
	case err == nil:
		accepted(c, h)
	case !errors.Is(err, context.Cause(ctx)):
		s.refused.add(err, v.conn.RemoteAddr())
	}
}

// How long to wait for descriptors or memory to be free again.
const (
	shortest = 5 * time.Millisecond
	longest  = 500 * time.Millisecond
)

// passing tells whether a listener that failed with err may go on later.
func passing(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR},
		func(e error) bool { return errors.Is(err, e) })
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

// why is the cause of ctx's end, or else err.
func why(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// handshake is that of one connection, which is closed if it fails.
func (s *Server) handshake(ctx context.Context, v *visitor, own *tls.Certificate, check func(Hello, Identity) error) (c *Conn, h Hello, err error) {
	defer s.pending.leave(v)
	err = bounded(ctx, v.conn, func() (err error) {
		if err = s.admit(v); err == nil {
			c, h, err = s.answer(v, own, check)
		}
		return err
	})
	return c, h, err
}

// admit reads the preamble and answers it. Strays get no answer.
func (s *Server) admit(v *visitor) error {
	b := make([]byte, preambleBytes)
	s.pending.look(v)
	have, err := readFirst(v.conn, b)
	switch {
	case err == nil:
		err = judgePreamble(b, s.cred, s.me)
	case s.pending.evicted(v):
	case have == 0:
		return fmt.Errorf("%w: it said nothing: %w", ErrNotCollgen, err)
	default:
		return err
	}
	if err == nil && s.cred.mode() == modeSecret {
		s.pending.proved(v)
	}
	if s.pending.evicted(v) {
		err = ErrBusy
	}
	if _, failed := v.conn.Write(encodeReply(err)); err == nil {
		err = brokenOff("the answer", failed)
	}
	return err
}

// answer is the server's side of TLS and of what is said in it.
func (s *Server) answer(v *visitor, own *tls.Certificate, check func(Hello, Identity) error) (*Conn, Hello, error) {
	under := &records{Conn: v.conn, exact: true, allow: unproven}
	t := tls.Server(under, config(own))
	if err := t.Handshake(); err != nil {
		return nil, Hello{}, brokenOff("TLS", err)
	}
	b, err := readRecord(t, helloBytes)
	if err != nil {
		return nil, Hello{}, brokenOff("the hello", err)
	}
	h, peer, err := decodeHello(b, s.me)
	if err == nil {
		err = s.cred.check(peer, t.ConnectionState().PeerCertificates)
	}
	if err == nil {
		s.pending.proved(v)
		err = wanted(check, h, peer)
	}
	under.settle(h.Purpose)
	if _, failed := t.Write(encodeReply(err)); err == nil {
		err = brokenOff("the reply", failed)
	}
	return &Conn{Conn: t, Peer: peer, under: under}, h, err
}

// wanted is what check says, as an error of this package.
func wanted(check func(Hello, Identity) error, h Hello, peer Identity) error {
	if check == nil {
		return nil
	}
	err := check(h, peer)
	if err == nil || isReason(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrRefused, err)
}
