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

// Client makes the client's side of a handshake on conn, which was opened to the address of process h.To. It takes at
// most Budget and ends with ctx. On an error, which is one of this package, wire.ErrFenced or the cause of ctx's end,
// conn is closed. The connection that it returns has no deadlines, even if conn had some.
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
	err = withBudget(ctx, conn, func() (err error) {
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
	if err := answerChallenge(conn, cred, me, h.To); err != nil {
		return nil, err
	}
	c := &Conn{Conn: conn, Peer: me, records: &recordReader{Conn: conn, allow: -1}, client: true}
	c.Peer.Process = h.To
	if !isPrivate(conn, cred) {
		c.records = &recordReader{Conn: conn, exact: true, allow: maxUnproved}
		config := tlsConfig(own)
		config.VerifyConnection = func(s tls.ConnectionState) error { return cred.check(c.Peer, s.PeerCertificates) }
		t := tls.Client(c.records, config)
		if err := t.Handshake(); err != nil {
			return nil, asBroken("TLS", err)
		}
		c.Conn = t
	}
	if err := sendHello(c.Conn, encodeHello(h, me)); err != nil {
		return nil, err
	}
	c.records.accept(h.Purpose)
	return c, nil
}

// answerChallenge sends the preamble and answers the server's challenge. When it returns nil, the server expects TLS,
// or the hello on a private connection.
func answerChallenge(conn net.Conn, cred Credentials, me Identity, to int) error {
	private := isPrivate(conn, cred)
	preamble := encodePreamble(cred, me, to, private)
	reply, err := request(conn, preamble)
	if err != nil {
		return err
	}
	challenge, err := decodeChallenge(reply)
	if err != nil {
		return err
	}
	mac := cred.mac(client, preamble, challenge)
	if reply, err = request(conn, mac[:]); err != nil {
		return err
	}
	if err := decodeReply(reply); err != nil || !private {
		return err
	}
	var proof [macBytes]byte
	if _, err := io.ReadFull(conn, proof[:]); err != nil {
		return asBroken("the server's proof", err)
	}
	if mac := cred.mac(server, preamble, challenge); !hmac.Equal(mac[:], proof[:]) {
		return ErrWrongSecret
	}
	return nil
}

// request sends b in the clear and returns the server's reply.
func request(conn net.Conn, b []byte) ([]byte, error) {
	_, writeErr := conn.Write(b)
	reply := make([]byte, replyBytes)
	_, err := readFirst(conn, reply) // a server that refuses may reply before it has read all
	if err != nil && writeErr != nil {
		err = writeErr
	}
	return reply, asBroken("the server's answer", err)
}

// sendHello sends the hello. When it returns nil, the server has accepted the connection.
func sendHello(conn net.Conn, hello []byte) error {
	if _, err := conn.Write(hello); err != nil {
		return asBroken("the hello", err)
	}
	reply, err := readMessage(conn, replyBytes)
	if err != nil {
		return asBroken("the server's reply", err)
	}
	return decodeReply(reply)
}
