package secure

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// limited is a listener whose process is out of descriptors for a while.
type limited struct {
	net.Listener
	failures int
	with     error
}

func (l *limited) Accept() (net.Conn, error) {
	if l.failures > 0 {
		l.failures--
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", l.with)}
	}
	return l.Listener.Accept()
}

// TestNoDescriptors: a listener that is out of descriptors goes on when there are some.
func TestNoDescriptors(t *testing.T) {
	for _, errno := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ECONNABORTED} {
		cred := FromSecret(secretOf("ours"))
		s := serve(t, cred, process(1), &limited{listen(t, "tcp", "127.0.0.1:0"), 3, errno}, nil)
		c, err := s.call(t, cred, process(3), Hello{To: 1, Purpose: Control})
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		_ = s.arrived(t).conn.Close()
	}
}

// TestStarved: a listener without descriptors is told of after eight tries; clients that go before they are accepted
// are not.
func TestStarved(t *testing.T) {
	for errno, want := range map[error]bool{syscall.EMFILE: true, syscall.ECONNABORTED: false} {
		s := NewServer(FromSecret(secretOf("ours")), process(1))
		ctx, cancel := context.WithCancel(t.Context())
		starved := false
		s.Starved = func(error) {
			starved = true
			cancel()
		}
		l := &limited{listen(t, "tcp", "127.0.0.1:0"), 9, errno}
		_ = l.Listener.Close() // so that Serve ends after nine failures
		if err := s.Serve(ctx, l, nil, nil); err == nil {
			t.Error("it goes on without a listener")
		}
		if starved != want || strings.Contains(strings.Join(s.Refusals(), ""), "no room") != want {
			t.Errorf("%v: starved is %v, refused are %q", errno, starved, s.Refusals())
		}
		cancel()
	}
}

// TestListenerFails: one that cannot go on ends Serve, with its error.
func TestListenerFails(t *testing.T) {
	for _, x := range []struct {
		l    net.Listener
		me   Identity
		want error
	}{
		{&limited{listen(t, "tcp", "127.0.0.1:0"), 1, syscall.EINVAL}, process(1), syscall.EINVAL},
		{closed(listen(t, "tcp", "127.0.0.1:0")), process(1), net.ErrClosed},
	} {
		err := NewServer(FromSecret(secretOf("ours")), x.me).Serve(t.Context(), x.l, nil, nil)
		if !errors.Is(err, x.want) {
			t.Errorf("got %v, want %v", err, x.want)
		}
		if _, err := x.l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the listener is open: %v", err)
		}
	}
}

func closed(l net.Listener) net.Listener {
	_ = l.Close()
	return l
}

// TestNoCredentials: who has nothing to show does not begin.
func TestNoCredentials(t *testing.T) {
	l := listen(t, "tcp", "127.0.0.1:0")
	err := NewServer(FromSecret(Secret{}), process(1)).Serve(t.Context(), l, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "no secret") {
		t.Errorf("without a secret: %v", err)
	}
	for _, me := range []Identity{{Process: -1}, {Size: -1}} {
		a, b := net.Pipe()
		_, err := Client(t.Context(), a, FromSecret(secretOf("ours")), me, Hello{To: 1})
		if err == nil || Transient(err) {
			t.Errorf("%v: %v", me, err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the connection is open: %v", err)
		}
	}
}

// TestStop ends a server with handshakes in all stages: nothing of them is left.
func TestStop(t *testing.T) {
	before := runtime.NumGoroutine()
	cred := FromSecret(secretOf("ours"))
	s := serve(t, cred, process(1), nil, nil)
	stages := [][]byte{nil, []byte(magic), encodePreamble(cred, process(3), 1, false), {22, 3, 1, 0, 99, 1}}
	var conns []net.Conn
	for i, says := range stages {
		c := s.dial(t)
		if i == len(stages)-1 {
			if err := answerChallenge(c, cred, process(3), 1); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.Write(says); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	for s.inside() < len(stages) {
		runtime.Gosched()
	}
	start := time.Now()
	s.stop()
	t.Logf("stopped after %v", time.Since(start))
	for i, c := range conns {
		if err := ends(c); err != nil {
			t.Errorf("stage %d: %v", i, err)
		}
	}
	if _, err := net.Dial("tcp", s.address.String()); err == nil {
		t.Error("somebody still listens")
	}
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond) // those of the runtime's poller and of ctx are not waited for
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// ends waits for the other side to close c.
func ends(c net.Conn) error {
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}

// TestCancelledClient: ctx's end ends a client's handshake, and its cause is the error.
func TestCancelledClient(t *testing.T) {
	cause := errors.New("no longer wanted")
	for _, early := range []bool{true, false} {
		a, b := net.Pipe()
		ctx, cancel := context.WithCancelCause(t.Context())
		if early {
			cancel(cause)
		} else {
			go func() {
				_, _ = io.ReadFull(b, make([]byte, preambleBytes)) // the client waits for an answer then
				cancel(cause)
			}()
		}
		_, err := Client(ctx, a, FromSecret(secretOf("ours")), process(3), Hello{To: 1, Purpose: Control})
		if !errors.Is(err, cause) || Transient(err) {
			t.Errorf("early: %v: got %v", early, err)
		}
		if err := ends(b); err != nil {
			t.Error(err)
		}
	}
}

// TestNoDeadlines: what the handshake and its caller's ctx set on a connection is gone when it is handed on.
func TestNoDeadlines(t *testing.T) {
	t.Parallel()
	cred := FromSecret(secretOf("ours"))
	s := serve(t, cred, process(1), nil, nil)
	ctx, cancel := context.WithTimeout(t.Context(), Budget)
	c, err := Client(ctx, s.dial(t), cred, process(3), Hello{To: 1, Purpose: Control})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a := s.arrived(t)
	defer a.conn.Close()
	<-ctx.Done()
	cancel()
	time.Sleep(Budget / 10) // the server's began a little later
	talk(t, c, a.conn)
}

// TestRoom: when all places are taken, the first connection that has proved nothing is evicted, and is told so; those
// who have proved that they belong to the job stay.
func TestRoom(t *testing.T) {
	t.Parallel()
	cred := FromSecret(secretOf("ours"))
	s := serve(t, cred, process(1), nil, nil)
	proved := s.dial(t)
	defer proved.Close()
	if err := answerChallenge(proved, cred, process(3), 1); err != nil {
		t.Fatal(err)
	}
	var silent []net.Conn
	for range process(1).Size + extraHandshakes - 1 {
		c := s.dial(t)
		silent = append(silent, c)
		for s.awaited() < len(silent) {
			runtime.Gosched()
		}
	}
	c, err := s.call(t, cred, process(2), Hello{To: 1, Purpose: Control})
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	b := make([]byte, replyBytes)
	_, err = readFirst(silent[0], b)
	if told := decodeReply(b); err != nil || !errors.Is(told, ErrBusy) || !Transient(told) {
		t.Errorf("the first one got %q, %v", b, err)
	}
	if a := s.arrived(t); a.hello.From != 2 {
		t.Errorf("%+v", a.hello)
	}
	if told := fmt.Sprint(s.Refusals()); !strings.Contains(told, ErrBusy.Error()) {
		t.Errorf("the server keeps %q", told)
	}
	own, err := cred.certificate(process(3))
	if err != nil {
		t.Fatal(err)
	}
	hello := encodeHello(Hello{From: 3, To: 1, Purpose: Control}, process(3))
	if err := sendHello(tls.Client(proved, tlsConfig(own)), hello); err != nil {
		t.Errorf("the one that had proved itself: %v", err)
	}
	for _, c := range append(silent, proved) {
		_ = c.Close()
	}
}

// awaited returns how many pending connections have a deadline for their next message.
func (s *serving) awaited() (n int) {
	s.pending.mutex.Lock()
	defer s.pending.mutex.Unlock()
	for _, v := range s.pending.all {
		if !v.proved && !v.lateAt.IsZero() {
			n++
		}
	}
	return n
}

// TestOverheard: who plays again what a member of the job has said before TLS, from anywhere and many times, holds up a
// member about as long as strays do that say nothing.
func TestOverheard(t *testing.T) {
	cred := FromSecret(secretOf("ours"))
	s := serve(t, cred, process(1), nil, nil)
	said := record(t, s, cred).said
	for name, says := range map[string][]byte{"nothing": nil, "the preamble": said[:preambleBytes],
		"the preamble and the answer": said[:preambleBytes+macBytes], "all": said} {
		for range 10 * (process(1).Size + extraHandshakes) {
			c := s.dial(t)
			defer c.Close()
			if _, err := c.Write(says); err != nil && says == nil {
				t.Fatal(err)
			}
		}
		start := time.Now()
		err := ErrBusy
		for ; Transient(err); _, err = s.call(t, cred, process(3), Hello{To: 1, Purpose: Control}) {
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.arrived(t).conn.Close()
		took := time.Since(start)
		t.Logf("200 that say %s hold up a member for %v", name, took)
		if took > 8*time.Second { // nine times Budget if they cannot be sent away
			t.Errorf("200 that say %s hold up a member for %v", name, took)
		}
	}
}

// TestBackPressure: more processes of the job than there are places, at once: all come in.
func TestBackPressure(t *testing.T) {
	me := Identity{Job: "train-7", Size: 1}
	cred := FromSecret(secretOf("ours"))
	server := NewServer(cred, me)
	server.pending.limit = 2
	s := start(t, server, listen(t, "tcp", "127.0.0.1:0"), nil)
	var running sync.WaitGroup
	for n := 1; n <= 40; n++ {
		running.Go(func() {
			newcomer := me
			newcomer.Process = n
			c, err := s.call(t, cred, newcomer, Hello{To: 0, Purpose: Join})
			for Transient(err) {
				sleep(t.Context(), rand.N(10*time.Millisecond))
				c, err = s.call(t, cred, newcomer, Hello{To: 0, Purpose: Join})
			}
			if err != nil {
				t.Error(err)
				return
			}
			_ = c.Close()
		})
	}
	running.Wait()
	for range 40 {
		_ = s.arrived(t).conn.Close()
	}
}

// TestSeveralListeners: one server, on a socket and on TCP.
func TestSeveralListeners(t *testing.T) {
	cred := FromSecret(secretOf("ours"))
	s := serve(t, cred, process(1), nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	l := listen(t, "unix", t.TempDir()+"/socket")
	ended := make(chan error)
	go func() {
		ended <- s.Serve(ctx, l, nil, func(c *Conn, h Hello) { s.accepted <- arrival{c, h} })
	}()
	for _, address := range []net.Addr{s.address, l.Addr()} {
		conn, err := net.Dial(address.Network(), address.String())
		if err != nil {
			t.Fatal(err)
		}
		c, err := Client(t.Context(), conn, cred, process(3), Hello{To: 1, Purpose: Control})
		if err != nil {
			t.Fatal(err)
		}
		_ = c.Close()
		_ = s.arrived(t).conn.Close()
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAnySize: a server that does not know the job's size takes processes of any.
func TestAnySize(t *testing.T) {
	cred := FromSecret(secretOf("ours"))
	s := serve(t, cred, Identity{Job: "train-7", Epoch: 3, Process: StoreProcess}, nil, nil)
	c, err := s.call(t, cred, process(0), Hello{To: StoreProcess, Purpose: Store})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a := s.arrived(t)
	defer a.conn.Close()
	if a.conn.Peer != process(0) {
		t.Errorf("%v", a.conn.Peer)
	}
}

// TestCloseDoesNotWait: for a peer that reads nothing, as the Close of TLS does, for 5 s.
func TestCloseDoesNotWait(t *testing.T) {
	cred := FromSecret(secretOf("ours"))
	s := NewServer(cred, process(1))
	a, b := net.Pipe() // takes nothing that is not read
	accepted := make(chan *Conn)
	go func() {
		c, _, err := handshakeOf(t, s, b).handshake(context.Background())
		if err != nil {
			t.Error(err)
		}
		accepted <- c
	}()
	c, err := Client(t.Context(), a, cred, process(3), Hello{To: 1, Purpose: Control})
	peer := <-accepted
	if err != nil || peer == nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := c.Close(); err != nil || time.Since(start) > 4*time.Second {
		t.Errorf("closed after %v: %v", time.Since(start), err)
	}
	if _, err := peer.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the other side got %v", err)
	}
}
