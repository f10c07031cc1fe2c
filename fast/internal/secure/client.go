package secure

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
)

// Client makes conn, which was opened to where h.To is said to be, a connection between me and that process. It takes at
// most Budget and ends with ctx. Its errors are those of this package, wire.ErrFenced, or the cause of ctx's end; then conn
// is closed. Otherwise the connection has no deadlines, whatever conn had.
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
	if err := introduce(conn, cred, me); err != nil {
		return nil, err
	}
	server := me
	server.Process = h.To
	under := &records{Conn: conn, exact: true, allow: unproven}
	settings := config(own)
	settings.VerifyConnection = func(s tls.ConnectionState) error { return cred.check(server, s.PeerCertificates) }
	t := tls.Client(under, settings)
	if err := t.Handshake(); err != nil {
		return nil, brokenOff("TLS", err)
	}
	if err := greet(t, encodeHello(h, me)); err != nil {
		return nil, err
	}
	under.settle(h.Purpose)
	return &Conn{Conn: t, Peer: server, under: under, client: true}, nil
}

// introduce answers the server's challenge, and waits for the server to want more.
func introduce(conn net.Conn, cred Credentials, me Identity) error {
	preamble := encodePreamble(cred, me)
	reply, err := ask(conn, preamble)
	if err != nil {
		return err
	}
	challenge, err := decodeChallenge(reply)
	if err != nil {
		return err
	}
	mac := cred.mac(preamble, challenge)
	if reply, err = ask(conn, mac[:]); err != nil {
		return err
	}
	return decodeReply(reply)
}

// ask is what the server says to b, in the clear.
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
func greet(t *tls.Conn, hello []byte) error {
	if _, err := t.Write(hello); err != nil {
		return brokenOff("the hello", err)
	}
	reply, err := readRecord(t, replyBytes)
	if err != nil {
		return brokenOff("the server's reply", err)
	}
	return decodeReply(reply)
}
