package secure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// fault is what happens to a connection in the middle of what one side says.
type fault int

const (
	reset  fault = iota // RST
	finish              // FIN: the rest is missing
	silent              // nothing more comes
)

func (f fault) String() string { return [...]string{"RST", "FIN", "silence"}[f] }

var errCut = errors.New("cut here")

// cutting is one side's end of a connection, on which all that this side says after so many bytes is lost.
type cutting struct {
	*net.TCPConn
	after int
	fault fault
	said  atomic.Int64
}

func (c *cutting) Write(p []byte) (int, error) {
	left := c.after - int(c.said.Load())
	if len(p) <= left {
		c.said.Add(int64(len(p)))
		return c.TCPConn.Write(p)
	}
	_, _ = c.TCPConn.Write(p[:left])
	c.said.Store(int64(c.after))
	switch c.fault {
	case reset:
		_ = c.SetLinger(0)
		_ = c.TCPConn.Close()
	case finish:
		_ = c.CloseWrite()
	case silent:
		return len(p), nil
	}
	return 0, errCut
}

// tcpPair returns both ends of a connection.
func tcpPair(t testing.TB, l net.Listener) (client, server *net.TCPConn) {
	t.Helper()
	c, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return c.(*net.TCPConn), s.(*net.TCPConn)
}

// both runs the two sides of a handshake, on two ends of one connection.
func both(t testing.TB, cred [2]Credentials, client, server net.Conn) (dialled, accepted error) {
	t.Helper()
	defer client.Close()
	defer server.Close()
	v := handshakeOf(t, NewServer(cred[1], process(1)), server)
	done := make(chan error)
	go func() {
		_, _, err := v.handshake(context.Background())
		done <- err
	}()
	_, dialled = Client(context.Background(), client, cred[0], process(0), Hello{To: 1, Purpose: Data})
	return dialled, <-done
}

// handshakeOf returns the server's side of a handshake.
func handshakeOf(t testing.TB, s *Server, conn net.Conn) *serverHandshake {
	t.Helper()
	own, err := s.cred.certificate(s.me)
	if err != nil {
		t.Error(err)
	}
	return &serverHandshake{Server: s, pendingConn: s.pending.add(conn), own: own}
}

// typed reports whether err is one of the errors that callers know.
func typed(err error) bool {
	text := fmt.Sprint(err)
	return text != "" && (errors.Is(err, ErrBroken) || errors.Is(err, ErrNotCollgen))
}

// TestEveryByte cuts the connection, by RST and by FIN, after each byte that the client says and each that the server
// says: neither side takes it for a connection, and both have typed errors.
func TestEveryByte(t *testing.T) {
	t.Parallel()
	modes := bothModes(t)
	modes["secret, on a private connection"] = modes["secret"]
	for name, cred := range modes {
		private := strings.HasSuffix(name, "private connection")
		l := listen(t, "tcp", "127.0.0.1:0")
		defer l.Close()
		stride := 1
		switch {
		case testing.Short():
			stride = 41
		case name == "certificate": // most of it is the same
			stride = 7
		}
		var cuts []cut
		said := lengths(t, cred, l, private)
		for side, all := range said {
			for after := 0; after < all; after += stride {
				cuts = append(cuts, cut{side, after, reset, private}, cut{side, after, finish, private})
			}
		}
		failures := tryAll(t, cred, l, cuts)
		t.Logf("bar 4, handshake with a %s: %d bytes of the client, %d of the server: %d tries, %d failures",
			name, said[0], said[1], len(cuts), failures)
	}
}

// tryAll makes a handshake with each cut, a few at a time, and counts those that do not end as they should.
func tryAll(t *testing.T, cred [2]Credentials, l net.Listener, cuts []cut) (failures int64) {
	var failed atomic.Int64
	var running sync.WaitGroup
	room := make(chan struct{}, 32)
	for _, x := range cuts {
		room <- struct{}{}
		client, server := tcpPair(t, l)
		running.Go(func() {
			defer func() { <-room }()
			if !x.try(t, cred, client, server) {
				failed.Add(1)
			}
		})
	}
	running.Wait()
	return failed.Load()
}

// bothModes returns the credentials of a client and a server with a secret, and of two with certificates.
func bothModes(t testing.TB) map[string][2]Credentials {
	secret := FromSecret(secretOf("ours"))
	a := newAuthority(t, "ours")
	return map[string][2]Credentials{
		"secret":      {secret, secret},
		"certificate": {a.credentials(t, "rank-0.train-7"), a.credentials(t, "rank-1.train-7")},
	}
}

// lengths returns how many bytes client and server say in a whole handshake.
func lengths(t *testing.T, cred [2]Credentials, l net.Listener, private bool) [2]int {
	c, s := tcpPair(t, l)
	client, server := &cutting{TCPConn: c, after: 1 << 20}, &cutting{TCPConn: s, after: 1 << 20}
	if dialled, accepted := both(t, cred, as(client, private), as(server, private)); dialled != nil || accepted != nil {
		t.Fatalf("without a fault: %v; %v", dialled, accepted)
	}
	return [2]int{int(client.said.Load()), int(server.said.Load())}
}

// cut is where a handshake ends: after so many bytes of one side.
type cut struct {
	side, after int
	fault       fault
	private     bool
}

func (x cut) try(t *testing.T, cred [2]Credentials, client, server *net.TCPConn) bool {
	conns := [2]net.Conn{client, server}
	conns[x.side] = &cutting{TCPConn: [2]*net.TCPConn{client, server}[x.side], after: x.after, fault: x.fault}
	dialled, accepted := both(t, cred, as(conns[0], x.private), as(conns[1], x.private))
	errs := [2]error{dialled, accepted}
	mine, other := errs[x.side], errs[1-x.side]
	unaware := x.fault == silent && mine == nil
	if !typed(other) || !typed(mine) && !unaware {
		t.Errorf("%v after %d bytes of side %d: the client got %v, the server %v",
			x.fault, x.after, x.side, dialled, accepted)
		return false
	}
	return true
}

// TestSilence has one side fall silent at points all over the handshake: the other one gives up after Budget.
func TestSilence(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	defer l.Close()
	secret := FromSecret(secretOf("ours"))
	cred := [2]Credentials{secret, secret}
	var cuts []cut
	for side, all := range lengths(t, cred, l, false) {
		for _, after := range []int{0, 1, 12, replyBytes - 1, replyBytes, replyBytes + 1, all / 4, all / 2, all - 96,
			all - 1} {
			cuts = append(cuts, cut{side, after, silent, false})
		}
	}
	t.Logf("bar 4, handshake: %d silences, %d failures", len(cuts), tryAll(t, cred, l, cuts))
}

// TestGarbage changes one byte of what either side says: the handshake fails on at least one of them.
func TestGarbage(t *testing.T) {
	t.Parallel()
	l := listen(t, "tcp", "127.0.0.1:0")
	defer l.Close()
	secret := FromSecret(secretOf("ours"))
	cred := [2]Credentials{secret, secret}
	var running sync.WaitGroup
	for side, all := range lengths(t, cred, l, false) {
		for at := 0; at < all; at += 41 {
			client, server := tcpPair(t, l)
			conns := [2]net.Conn{client, server}
			conns[side] = &garbling{Conn: conns[side], at: at}
			running.Go(func() {
				if dialled, accepted := both(t, cred, conns[0], conns[1]); dialled == nil && accepted == nil {
					t.Errorf("byte %d of side %d was changed, and nobody minds", at, side)
				}
			})
		}
	}
	running.Wait()
}

// garbling changes a byte of what is written.
type garbling struct {
	net.Conn
	at int
}

func (c *garbling) Write(p []byte) (int, error) {
	if 0 <= c.at && c.at < len(p) {
		p = bytes.Clone(p)
		p[c.at] ^= 0x10
	}
	c.at -= len(p)
	return c.Conn.Write(p)
}

// TestSlowly has a client that says one byte at a time, and is heard to the end.
func TestSlowly(t *testing.T) {
	a, b := net.Pipe() // each write waits until it was read
	secret := FromSecret(secretOf("ours"))
	dialled, accepted := both(t, [2]Credentials{secret, secret}, &trickling{a}, &trickling{b})
	if dialled != nil || accepted != nil {
		t.Errorf("%v; %v", dialled, accepted)
	}
}

type trickling struct{ net.Conn }

func (c *trickling) Write(p []byte) (n int, err error) {
	for ; n < len(p) && err == nil; n++ {
		_, err = c.Conn.Write(p[n : n+1])
	}
	return n, err
}

func (c *trickling) Read(p []byte) (int, error) { return c.Conn.Read(p[:min(1, len(p))]) }

// TestBudgetIsForAll: a client that keeps saying a little does not get more time than one that says nothing.
func TestBudgetIsForAll(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	defer a.Close()
	go func() {
		for _, x := range []byte(magic) { // and then no more
			_, _ = a.Write([]byte{x})
		}
	}()
	secret := FromSecret(secretOf("ours"))
	_, _, err := handshakeOf(t, NewServer(secret, process(1)), b).handshake(t.Context())
	if !errors.Is(err, ErrBroken) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}
