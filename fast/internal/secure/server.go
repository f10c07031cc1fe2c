package secure

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Server accepts connections for a process. It may serve several listeners at once, which share its limits: Size+16
// handshakes at a time, or 256 for a server without a Size, each of which takes at most Budget.
type Server struct {
	// Log gets a warning the first time that a process is refused for a reason that only misconfiguration or an attack
	// explains. It may be nil.
	Log *slog.Logger
	// Starved is called when eight tries, over at least half a second, could not accept a connection because
	// descriptors or memory are short, and repeatedly after that. It may be nil.
	Starved func(error)

	cred     Credentials
	me       Identity
	pending  pendingConns
	failures failureCounts
}

// NewServer returns the server of the process me.
func NewServer(cred Credentials, me Identity) *Server {
	s := &Server{cred: cred, me: me}
	s.pending.init(me.Size)
	return s
}

// Refusals returns a line for each reason why handshakes failed, with how often and the last client that it happened
// to. They belong in the error of a job that does not start.
func (s *Server) Refusals() []string { return s.failures.list() }

// Exhausted reports whether err says that this process lacks descriptors or memory for a connection. If so, it counts
// err as a refusal at that address.
func (s *Server) Exhausted(err error, at net.Addr) bool {
	if err = wire.Exhausted(err); !errors.Is(err, wire.ErrExhausted) {
		return false
	}
	s.countFailure(err, at)
	return true
}

// countFailure counts a handshake that failed with err, and may log it.
func (s *Server) countFailure(err error, from net.Addr) {
	reason, first := s.failures.add(err, from)
	if first && s.Log != nil && !slices.Contains(expected, reason) {
		s.Log.Warn("a connection was refused", "from", from, "error", err)
	}
}

// Serve accepts connections from l until ctx ends or l fails for good. It returns the cause, after l is closed and all
// goroutines of it have ended. Check, which may be nil, decides whether a process that has proved who it is may have
// the connection. The client gets the error of check if that is wire.ErrFenced or an error of this package, and
// otherwise ErrRefused with its text. Serve calls accepted with each connection after the client was told. Both
// functions are called from several goroutines. The time that check takes counts as the handshake's.
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
	reserve := openReserve()
	defer func() { _ = reserve.Close() }()
	for backoff := minBackoff; ; {
		conn, err := l.Accept()
		if err == nil {
			backoff = minBackoff
			h := &serverHandshake{Server: s, pendingConn: s.pending.add(conn), own: own, check: check}
			running.Go(func() { h.run(ctx, accepted) })
			continue
		}
		exhausted := s.Exhausted(err, l.Addr())
		if !exhausted && !isTemporary(err) || !sleep(ctx, backoff) {
			return causeOr(ctx, err)
		}
		if backoff = min(2*backoff, maxBackoff); !exhausted || backoff < maxBackoff {
			continue
		}
		if s.Starved != nil {
			s.Starved(err)
		}
		// The descriptor in reserve makes room to tell one client why it cannot be served.
		_ = reserve.Close()
		s.turnAway(ctx, l, own, wire.Exhausted(err))
		reserve = openReserve()
	}
}

// How long to wait until descriptors or memory are free again.
const (
	minBackoff = 5 * time.Millisecond
	maxBackoff = 500 * time.Millisecond
)

// openReserve opens a file to reserve a descriptor. It returns nil if there is none; closing a nil *os.File is
// harmless.
func openReserve() *os.File {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return nil
	}
	return f
}

// turnAwayTimeout limits how long it may take to tell a client that there is no room.
const turnAwayTimeout = 2 * time.Second

// turnAway tells a client that is waiting that it is refused with reason.
func (s *Server) turnAway(ctx context.Context, l net.Listener, own *tls.Certificate, reason error) {
	limited, ok := l.(interface{ SetDeadline(time.Time) error })
	if !ok {
		return
	}
	_ = limited.SetDeadline(time.Now().Add(minBackoff))
	conn, err := l.Accept()
	_ = limited.SetDeadline(time.Time{})
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, turnAwayTimeout) // nobody else is accepted meanwhile
	defer cancel()
	refuse := func(Hello, Identity) error { return reason }
	h := &serverHandshake{Server: s, pendingConn: s.pending.add(conn), own: own, check: refuse}
	h.run(ctx, nil) // never calls accepted, because check fails
}

// isTemporary reports whether a listener may go on after err, because only a client has gone or a signal came.
func isTemporary(err error) bool {
	return errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, syscall.EINTR)
}

// sleep waits for d. It reports false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// causeOr returns the cause of ctx's end, or err if ctx has not ended.
func causeOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// serverHandshake is the server's side of one handshake.
type serverHandshake struct {
	*Server
	*pendingConn
	own   *tls.Certificate
	check func(Hello, Identity) error
}

// errOnlyProbed is for a process of this user that connects and leaves, to see whether anybody listens.
var errOnlyProbed = fmt.Errorf("%w: it sent nothing and left", ErrNotCollgen)

// run makes the handshake, and hands over the connection or counts the failure.
func (h *serverHandshake) run(ctx context.Context, accepted func(*Conn, Hello)) {
	c, hello, err := h.handshake(ctx)
	switch {
	case err == nil:
		accepted(c, hello)
	case !errors.Is(err, context.Cause(ctx)) && err != errOnlyProbed:
		h.countFailure(err, h.conn.RemoteAddr())
	}
}

// handshake makes the handshake. On an error, the connection is closed.
func (h *serverHandshake) handshake(ctx context.Context) (c *Conn, hello Hello, err error) {
	defer h.pending.remove(h.pendingConn)
	err = withBudget(ctx, h.conn, func() (err error) {
		if err = h.admit(); err == nil {
			c, hello, err = h.accept()
		}
		return err
	})
	return c, hello, err
}

// admit makes the server's side of the part before TLS. Strays get no reply.
func (h *serverHandshake) admit() error {
	proof, err := h.challenge()
	switch {
	case h.pending.isEvicted(h.pendingConn):
		err = ErrBusy
	case err != nil && !isReason(err):
		return err
	}
	if _, writeErr := h.conn.Write(append(encodeReply(err), proof...)); err == nil {
		err = asBroken("the answer", writeErr)
	}
	return err
}

// challenge has the client prove that it belongs to the job, which is left to TLS with certificates. On a private
// connection, it returns the proof that this server belongs to it too.
func (h *serverHandshake) challenge() (proof []byte, err error) {
	preamble, err := h.readPreamble()
	if err != nil {
		return nil, err
	}
	challenge, answer := make([]byte, challengeBytes), make([]byte, macBytes)
	_, _ = rand.Read(challenge) // never fails
	h.pending.expect(h.pendingConn, challengeGrace)
	if _, err := h.conn.Write(encodeChallenge(challenge)); err != nil {
		return nil, asBroken("the challenge", err)
	}
	if _, err := io.ReadFull(h.conn, answer); err != nil {
		return nil, asBroken("the answer to the challenge", err)
	}
	if err := checkAnswer(preamble, challenge, answer, h.cred, h.me); err != nil {
		return nil, err
	}
	if h.cred.mode() == modeSecret {
		h.pending.setProved(h.pendingConn)
	}
	if isPrivate(h.conn, h.cred) {
		mac := h.cred.mac(server, preamble, challenge)
		proof = mac[:]
	}
	return proof, nil
}

// readPreamble returns the client's preamble, or why the client cannot be challenged.
func (h *serverHandshake) readPreamble() ([]byte, error) {
	b := make([]byte, preambleBytes)
	h.pending.expect(h.pendingConn, firstGrace)
	switch have, err := readFirst(h.conn, b); {
	case err == nil:
		return b, checkPreamble(b, h.cred, isPrivate(h.conn, h.cred))
	case have == 0 && errors.Is(err, io.EOF) && isPrivate(h.conn, h.cred):
		return nil, errOnlyProbed
	case have == 0:
		return nil, fmt.Errorf("%w: it sent nothing: %w", ErrNotCollgen, err)
	default:
		return nil, err
	}
}

// accept makes the server's side of TLS, if there is any, reads the hello and replies to it.
func (h *serverHandshake) accept() (*Conn, Hello, error) {
	c := &Conn{Conn: h.conn, records: &recordReader{Conn: h.conn, allow: -1}}
	if !isPrivate(h.conn, h.cred) {
		c.records = &recordReader{Conn: h.conn, exact: true, allow: maxUnproved}
		t := tls.Server(c.records, tlsConfig(h.own))
		if err := t.Handshake(); err != nil {
			return nil, Hello{}, asBroken("TLS", err)
		}
		c.Conn = t
	}
	b, err := readMessage(c.Conn, helloBytes)
	if err != nil {
		return nil, Hello{}, asBroken("the hello", err)
	}
	hello, peer, err := h.checkHello(b, c.Conn)
	c.Peer = peer
	c.records.accept(hello.Purpose)
	if _, writeErr := c.Write(encodeReply(err)); err == nil {
		err = asBroken("the reply", writeErr)
	}
	return c, hello, err
}

// checkHello returns the hello and the client's identity, and why to refuse the client if there is a reason. A client
// without TLS has proved before that it belongs to the job.
func (h *serverHandshake) checkHello(b []byte, conn net.Conn) (hello Hello, peer Identity, err error) {
	hello, peer, err = decodeHello(b, h.me)
	if t, ok := conn.(*tls.Conn); err == nil && ok {
		err = h.cred.check(peer, t.ConnectionState().PeerCertificates)
	}
	if err != nil {
		return hello, peer, err
	}
	h.pending.setProved(h.pendingConn)
	if h.check != nil {
		err = h.check(hello, peer)
	}
	if err != nil && !isReason(err) {
		err = fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return hello, peer, err
}
