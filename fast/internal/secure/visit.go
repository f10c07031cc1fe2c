package secure

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
)

// visit is the server's side of one handshake.
type visit struct {
	*Server
	*visitor
	own   *tls.Certificate
	check func(Hello, Identity) error
}

// errLooked: a process of this user has only looked whether somebody listens.
var errLooked = fmt.Errorf("%w: it has said nothing, and gone", ErrNotCollgen)

func (v *visit) receive(ctx context.Context, accepted func(*Conn, Hello)) {
	c, h, err := v.handshake(ctx)
	switch {
	case err == nil:
		accepted(c, h)
	case !errors.Is(err, context.Cause(ctx)) && err != errLooked:
		v.refuse(err, v.conn.RemoteAddr())
	}
}

// handshake closes the connection if it fails.
func (v *visit) handshake(ctx context.Context) (c *Conn, h Hello, err error) {
	defer v.pending.leave(v.visitor)
	err = bounded(ctx, v.conn, func() (err error) {
		if err = v.admit(); err == nil {
			c, h, err = v.answer()
		}
		return err
	})
	return c, h, err
}

// admit returns the server's side of what comes before TLS. Strays get no answer.
func (v *visit) admit() error {
	proof, err := v.challenge()
	switch {
	case v.pending.evicted(v.visitor):
		err = ErrBusy
	case err != nil && !isReason(err):
		return err
	}
	if _, failed := v.conn.Write(append(encodeReply(err), proof...)); err == nil {
		err = brokenOff("the answer", failed)
	}
	return err
}

// challenge has the client prove that it is of the job. With certificates that is left to TLS. On a private connection
// it returns the proof that this server is, too.
func (v *visit) challenge() (proof []byte, err error) {
	preamble, err := v.listen()
	if err != nil {
		return nil, err
	}
	challenge, answer := make([]byte, challengeBytes), make([]byte, macBytes)
	_, _ = rand.Read(challenge) // never fails
	v.pending.await(v.visitor, longGrace)
	if _, err := v.conn.Write(encodeChallenge(challenge)); err != nil {
		return nil, brokenOff("the challenge", err)
	}
	if _, err := io.ReadFull(v.conn, answer); err != nil {
		return nil, brokenOff("the answer to the challenge", err)
	}
	if err := judgeAnswer(preamble, challenge, answer, v.cred, v.me); err != nil {
		return nil, err
	}
	if v.cred.mode() == modeSecret {
		v.pending.prove(v.visitor)
	}
	if isPrivate(v.conn, v.cred) {
		mac := v.cred.mac(server, preamble, challenge)
		proof = mac[:]
	}
	return proof, nil
}

// listen returns the client's preamble, if it can be asked for more.
func (v *visit) listen() ([]byte, error) {
	b := make([]byte, preambleBytes)
	v.pending.await(v.visitor, grace)
	switch have, err := readFirst(v.conn, b); {
	case err == nil:
		return b, judgePreamble(b, v.cred, isPrivate(v.conn, v.cred))
	case have == 0 && errors.Is(err, io.EOF) && isPrivate(v.conn, v.cred):
		return nil, errLooked
	case have == 0:
		return nil, fmt.Errorf("%w: it said nothing: %w", ErrNotCollgen, err)
	default:
		return nil, err
	}
}

// answer returns the server's side of TLS, if there is any, and of what follows.
func (v *visit) answer() (*Conn, Hello, error) {
	c := &Conn{Conn: v.conn, under: &records{Conn: v.conn, allow: -1}}
	if !isPrivate(v.conn, v.cred) {
		c.under = &records{Conn: v.conn, exact: true, allow: unproven}
		t := tls.Server(c.under, config(v.own))
		if err := t.Handshake(); err != nil {
			return nil, Hello{}, brokenOff("TLS", err)
		}
		c.Conn = t
	}
	b, err := readMessage(c.Conn, helloBytes)
	if err != nil {
		return nil, Hello{}, brokenOff("the hello", err)
	}
	h, peer, err := v.judge(b, c.Conn)
	c.Peer = peer
	c.under.settle(h.Purpose)
	if _, failed := c.Write(encodeReply(err)); err == nil {
		err = brokenOff("the reply", failed)
	}
	return c, h, err
}

// judge says whose connection it is and what for, and why the client is refused if it is. What is not in TLS has proved
// before that it is of the job.
func (v *visit) judge(hello []byte, conn net.Conn) (h Hello, peer Identity, err error) {
	h, peer, err = decodeHello(hello, v.me)
	if t, ok := conn.(*tls.Conn); err == nil && ok {
		err = v.cred.check(peer, t.ConnectionState().PeerCertificates)
	}
	if err != nil {
		return h, peer, err
	}
	v.pending.prove(v.visitor)
	if v.check != nil {
		err = v.check(h, peer)
	}
	if err != nil && !isReason(err) {
		err = fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return h, peer, err
}
