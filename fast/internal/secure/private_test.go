package secure

import (
	"crypto/tls"
	"errors"
	"net"
	"testing"
)

// own is a connection that the system keeps from other users.
type own struct{ net.Conn }

func (own) Private() {}

// as is conn, private or not.
func as(conn net.Conn, private bool) net.Conn {
	if private {
		return own{conn}
	}
	return conn
}

// TestPrivate: a private connection goes without TLS between processes that share a secret, and with it between those
// that have certificates.
func TestPrivate(t *testing.T) {
	for name, cred := range bothModes(t) {
		a, b := net.Pipe()
		accepted := make(chan arrival, 1)
		go func() {
			c, h, err := handshakeOf(t, NewServer(cred[1], process(1)), own{b}).handshake(t.Context())
			if err != nil {
				t.Error(err)
			}
			accepted <- arrival{c, h}
		}()
		h := Hello{To: 1, Purpose: Control, Comm: 1 << 60, Token: [16]byte{1, 15: 2}}
		c, err := Client(t.Context(), own{a}, cred[0], process(0), h)
		if err != nil {
			t.Fatal(err)
		}
		s := <-accepted
		if s.hello != h || s.conn.Peer != process(0) || c.Peer != process(1) {
			t.Errorf("%+v and %v reached %v", s.hello, s.conn.Peer, c.Peer)
		}
		for _, end := range []*Conn{c, s.conn} {
			if _, inTLS := end.Conn.(*tls.Conn); inTLS != (name == "certificate") {
				t.Errorf("with a %s the connection is a %T", name, end.Conn)
			}
			if _, err := end.Raw(true); err == nil {
				t.Error("it is given out for data")
			}
		}
		talk(t, c, s.conn)
		_, _ = c.Close(), s.conn.Close()
	}
}

// TestPrivateOnOneSide: who takes a connection for private that is not is refused.
func TestPrivateOnOneSide(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	defer l.Close()
	cred := bothModes(t)["secret"]
	for _, client := range []bool{false, true} {
		a, b := tcpPair(t, l)
		dialled, accepted := both(t, cred, as(a, client), as(b, !client))
		if !errors.Is(dialled, ErrWrongMode) || !errors.Is(accepted, ErrWrongMode) {
			t.Errorf("private for the client: %v: it got %v, the server %v", client, dialled, accepted)
		}
	}
}

// TestPrivateImpostors: a client without the secret is refused, and so is a server that says yes to everything, and has
// nothing to prove with but what the client itself has said, or what others have.
func TestPrivateImpostors(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	defer l.Close()
	ours, others := FromSecret(secretOf("ours")), FromSecret(secretOf("others"))
	a, b := tcpPair(t, l)
	dialled, accepted := both(t, [2]Credentials{others, ours}, own{a}, own{b})
	if !errors.Is(dialled, ErrWrongSecret) || !errors.Is(accepted, ErrWrongSecret) {
		t.Errorf("a client without the secret: it got %v, the server %v", dialled, accepted)
	}
	challenge := make([]byte, challengeBytes)
	for name, proof := range map[string]func(preamble, answer []byte) []byte{
		"zeros":               func(_, _ []byte) []byte { return make([]byte, macBytes) },
		"the client's answer": func(_, answer []byte) []byte { return answer },
		"another secret's": func(preamble, _ []byte) []byte {
			mac := others.mac(server, preamble, challenge)
			return mac[:]
		},
		"another challenge's": func(preamble, _ []byte) []byte {
			mac := ours.mac(server, preamble, append(challenge[1:], 1))
			return mac[:]
		},
	} {
		a, b := net.Pipe()
		go func() {
			defer b.Close()
			preamble, answer := make([]byte, preambleBytes), make([]byte, macBytes)
			_, err := readFirst(b, preamble)
			_, sent := b.Write(encodeChallenge(challenge))
			_, got := b.Read(answer)
			if err := errors.Join(err, sent, got); err != nil {
				t.Error(err)
			}
			_, _ = b.Write(append(encodeReply(nil), proof(preamble, answer)...))
		}()
		_, err := Client(t.Context(), own{a}, ours, process(0), Hello{To: 1, Purpose: Control})
		if !errors.Is(err, ErrWrongSecret) {
			t.Errorf("a server that proves with %s: %v", name, err)
		}
	}
}

// TestPrivateToAnother: a private connection that somebody has led to another process than the client wants is refused
// there, so that nobody in between can pass on its proof as that of the one that is wanted.
func TestPrivateToAnother(t *testing.T) {
	cred := bothModes(t)["secret"][0]
	a, b := net.Pipe()
	accepted := make(chan error, 1)
	go func() {
		_, _, err := handshakeOf(t, NewServer(cred, process(2)), own{b}).handshake(t.Context())
		accepted <- err
	}()
	_, err := Client(t.Context(), own{a}, cred, process(0), Hello{To: 1, Purpose: Control})
	if served := <-accepted; !errors.Is(err, ErrWrongRank) || !errors.Is(served, ErrWrongRank) {
		t.Errorf("the client got %v, the server %v", err, served)
	}
}
