package secure

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"testing"
	"time"
)

// TestMain lets the parallel tests run side by side, however few processors there are: most of them wait for Budget.
func TestMain(m *testing.M) {
	flag.Parse()
	Budget = 2 * time.Second
	if err := flag.Set("test.parallel", "16"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// secretOf returns a secret that another name would not give.
func secretOf(name string) Secret { return sha256.Sum256([]byte(name)) }

// process returns a process of a job of four.
func process(n int) Identity { return Identity{Job: "train-7", Epoch: 3, Process: n, Size: 4} }

// arrival is a connection that a server has accepted.
type arrival struct {
	conn  *Conn
	hello Hello
}

// serving is a server for a test.
type serving struct {
	*Server
	address  net.Addr
	accepted chan arrival
	stop     func() // ends it, and waits for that
}

// serve has the process me take connections at l, or on TCP if it is nil.
func serve(t testing.TB, cred Credentials, me Identity, l net.Listener, check func(Hello, Identity) error) *serving {
	t.Helper()
	if l == nil {
		l = listen(t, "tcp", "127.0.0.1:0")
	}
	return start(t, NewServer(cred, me), l, check)
}

func start(t testing.TB, server *Server, l net.Listener, check func(Hello, Identity) error) *serving {
	ctx, cancel := context.WithCancel(t.Context())
	s := &serving{Server: server, address: l.Addr(), accepted: make(chan arrival, 64)}
	ended := make(chan error, 1)
	go func() {
		ended <- s.Serve(ctx, l, check, func(c *Conn, h Hello) { s.accepted <- arrival{c, h} })
	}()
	s.stop = func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve returned %v", err)
		}
		ended <- context.Canceled
	}
	t.Cleanup(s.stop)
	return s
}

func listen(t testing.TB, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// dial opens a connection to s, without the handshake.
func (s *serving) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := net.Dial(s.address.Network(), s.address.String())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// call returns the client's side of a handshake with s.
func (s *serving) call(t testing.TB, cred Credentials, me Identity, h Hello) (*Conn, error) {
	t.Helper()
	return Client(t.Context(), s.dial(t), cred, me, h)
}

// arrived returns the next connection that s has accepted.
func (s *serving) arrived(t testing.TB) arrival {
	t.Helper()
	select {
	case a := <-s.accepted:
		return a
	case <-time.After(30 * time.Second):
		t.Fatalf("no connection was accepted; refused: %q", s.Refusals())
		return arrival{}
	}
}

// quiet fails the test if s has accepted a connection.
func (s *serving) quiet(t testing.TB) {
	t.Helper()
	s.stop()
	select {
	case a := <-s.accepted:
		t.Errorf("accepted %+v", a.hello)
	default:
	}
}

// talk sends a message each way.
func talk(t testing.TB, a, b net.Conn) {
	t.Helper()
	for i, pair := range [][2]net.Conn{{a, b}, {b, a}} {
		text := "message " + strconv.Itoa(i)
		sent := make(chan error, 1)
		go func() {
			_, err := io.WriteString(pair[0], text)
			sent <- err
		}()
		got := make([]byte, len(text))
		if _, err := io.ReadFull(pair[1], got); err != nil || string(got) != text {
			t.Errorf("got %q, %v, want %q", got, err, text)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
}

func TestHandshake(t *testing.T) {
	for _, network := range [][2]string{{"tcp4", "127.0.0.1:0"}, {"unix", t.TempDir() + "/socket"}} {
		for _, purpose := range []Purpose{Control, Data, Store, Join} {
			t.Run(fmt.Sprint(network[0], " ", purpose), func(t *testing.T) {
				cred := FromSecret(secretOf("ours"))
				s := serve(t, cred, process(1), listen(t, network[0], network[1]), nil)
				h := Hello{To: 1, Purpose: purpose, Encrypt: true, Comm: 1 << 60, Token: [16]byte{1, 15: 2}}
				c, err := s.call(t, cred, process(3), h)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				a := s.arrived(t)
				defer a.conn.Close()
				if h.From = 3; a.hello != h || a.conn.Peer != process(3) || c.Peer != process(1) {
					t.Errorf("%+v and %v reached %v", a.hello, a.conn.Peer, c.Peer)
				}
				talk(t, c, a.conn)
			})
		}
	}
}
