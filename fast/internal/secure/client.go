package secure

import (
	"context"
	"crypto/hmac"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
)

// Client makes conn, which was opened to where h.To is said to be, a connection between me and that process. It takes
// at most Budget and ends with ctx. Its errors are those of this package, wire.ErrFenced, or the cause of ctx's end;
// then conn is closed. Otherwise the connection has no deadlines, whatever conn had.
func Client(ctx context.Context, conn net.Conn, cred Credentials, me Identity, h Hello) (*Conn, error) {
	h.From = me.Process
	own, err := cred.certificate(me)
	if err == nil {
		err = errors.Join(me.check(), Identity{Process: h.To}.check())
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	var c *Conn
	err = bounded(ctx, conn, func() (err error) {
		c, err = connect(conn, cred, own, me, h)
		return err
	})
	if err != nil {
		if h.To == StoreProcess {
			return nil, fmt.Errorf("%v: %w", conn.RemoteAddr(), err)
		}
		return nil, fmt.Errorf("process %d, %v: %w", h.To, conn.RemoteAddr(), err)
	}
	return c, nil
}

func connect(conn net.Conn, cred Credentials, own *tls.Certificate, me Identity, h Hello) (*Conn, error) {
	if err := proveSelf(conn, cred, me, h.To); err != nil {
		return nil, err
	}
	c := &Conn{Conn: conn, Peer: me, under: &records{Conn: conn, allow: -1}, client: true}
	c.Peer.Process = h.To
	if !isPrivate(conn, cred) {
		c.under = &records{Conn: conn, exact: true, allow: unproven}
		settings := config(own)
		settings.VerifyConnection = func(s tls.ConnectionState) error { return cred.check(c.Peer, s.PeerCertificates) }
		t := tls.Client(c.under, settings)
		if err := t.Handshake(); err != nil {
			return nil, brokenOff("TLS", err)
		}
		c.Conn = t
	}
	if err := greet(c.Conn, encodeHello(h, me)); err != nil {
		return nil, err
	}
	c.under.settle(h.Purpose)
	return c, nil
}

// proveSelf answers the server's challenge, and waits for the server to want more.
func proveSelf(conn net.Conn, cred Credentials, me Identity, to int) error {
	private := isPrivate(conn, cred)
	preamble := encodePreamble(cred, me, to, private)
	reply, err := ask(conn, preamble)
	if err != nil {
		return err
	}
	challenge, err := decodeChallenge(reply)
	if err != nil {
		return err
	}
	mac := cred.mac(client, preamble, challenge)
	if reply, err = ask(conn, mac[:]); err != nil {
		return err
	}
	if err := decodeReply(reply); err != nil || !private {
		return err
	}
	var proof [macBytes]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return brokenOff("the server's proof", err)
	}
	if mac := cred.mac(server, preamble, challenge); !hmac.Equal(mac[:], proof[:]) {
		return ErrWrongSecret
	}
	return nil
}

// ask returns what the server says to b, in the clear.
func ask(conn net.Conn, b []byte) ([]byte, error) {
	_, unsent := conn.Write(b)
	reply := make([]byte, replyBytes)
	_, err := readFirst(conn, reply) // it may have answered although not all was written
	if err != nil && unsent != nil {
		err = unsent
	}
	return reply, brokenOff("the server's answer", err)
}

// greet sends the hello. When it returns nil, the server has accepted the connection.
func greet(conn net.Conn, hello []byte) error {
	if _, err := conn.Write(hello); err != nil {
		return brokenOff("the hello", err)
	}
	reply, err := readMessage(conn, replyBytes)
	if err != nil {
		return brokenOff("the server's reply", err)
	}
	return decodeReply(reply)
}
