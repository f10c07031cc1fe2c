package mesh

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// arrival is a connection that was handed out.
type arrival struct {
	from int
	conn wire.Conn
}

func arrivals(m *Mesh, comm uint64) chan arrival {
	c := make(chan arrival, 10)
	m.HandleConns(comm, func(from int, conn wire.Conn) { c <- arrival{from, conn} })
	return c
}

// TestData: connections for data come to the communicator that they are for, whether it is there already or not, with
// keys or without.
func TestData(t *testing.T) {
	for name, way := range ways(t) {
		if name == "local" {
			continue
		}
		for _, encrypt := range []bool{false, true} {
			for _, early := range []bool{false, true} {
				job := newJob(t, 2, func(c *Config) {
					c.Encrypt = encrypt
					way(c)
				})
				var come chan arrival
				if early {
					come = arrivals(job[0], 5)
				}
				a, err := job[1].Dial(soon(t), 0, 5)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				if !early {
					come = arrivals(job[0], 5)
				}
				b := <-come
				defer b.conn.Close()
				if b.from != 1 || (a.Seal != nil) != encrypt || (b.conn.Open != nil) != encrypt {
					t.Errorf("%s: from %d, encrypted %v, want %v", name, b.from, b.conn.Open != nil, encrypt)
				}
				talk(t, a, b.conn)
				talk(t, b.conn, a)
			}
		}
	}
}

// talk sends something from a to b, sealed if there are keys.
func talk(t *testing.T, a, b wire.Conn) {
	t.Helper()
	text := []byte("some bytes")
	sent, nonce := text, make([]byte, 12)
	if a.Seal != nil {
		sent = a.Seal.Seal(nil, nonce, text, nil)
	}
	if _, err := a.Write(sent); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(sent))
	_, err := io.ReadFull(b, got)
	if err == nil && b.Open != nil {
		got, err = b.Open.Open(nil, nonce, got, nil)
	}
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestDataRefused: there is no connection with a process that is down, has no address or is not of the job, nor for a
// communicator that is forgotten.
func TestDataRefused(t *testing.T) {
	job := newJob(t, 4, forceTCP)
	job[2].kill()
	eventually(t, func() bool { return job[0].Down(2) != nil })
	_, err := job[0].Dial(soon(t), 2, 5)
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != 2 || !errors.Is(err, wire.ErrDied) {
		t.Error(err)
	}
	if _, err = job[0].Dial(soon(t), 9, 5); !errors.As(err, &peer) || peer.Rank != 9 {
		t.Error(err)
	}
	job[0].Forget(5)
	c, err := job[1].Dial(soon(t), 0, 5)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Error("a connection for a communicator that is forgotten stays")
	}
	job[3].Fence(1, wire.ErrDied)
	if _, err = job[1].Dial(soon(t), 3, 5); !errors.Is(err, wire.ErrFenced) {
		t.Error(err)
	}
	local := newJob(t, 2, nil)
	if _, err := local[0].Dial(soon(t), 1, 5); !errors.As(err, &peer) || peer.Rank != 1 {
		t.Error(err)
	}
}

// TestDialTimeout: a try that takes too long is not the end of the call, unless its context has ended: on a busy host
// the next try succeeds.
func TestDialTimeout(t *testing.T) {
	d := net.Dialer{Timeout: 1}
	_, late := d.Dial("tcp", "127.0.0.1:1")
	var timeout net.Error
	if !errors.As(late, &timeout) || !timeout.Timeout() {
		t.Fatalf("dialling for a nanosecond ends with %v", late)
	}
	if err := dialError(t.Context(), late); refused(err) || !errors.Is(err, secure.ErrBroken) {
		t.Errorf("the call ends: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := dialError(ended, late); !refused(err) {
		t.Errorf("the call goes on after its context: %v", err)
	}
}

// TestDialEnds: a dialler that waits in vain ends when the other process goes down, or this mesh is closed.
func TestDialEnds(t *testing.T) {
	for name, x := range map[string]struct {
		end  func(job []*Mesh)
		want error
	}{
		"down":   {func(job []*Mesh) { job[1].kill() }, wire.ErrDied},
		"closed": {func(job []*Mesh) { job[0].Close() }, wire.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 2, forceTCP)
			job[1].mu.Lock()
			job[1].members[0].raw = nil // as if it had not heard of process 0: who calls is to try again
			job[1].mu.Unlock()
			done := make(chan error)
			go func() {
				_, err := job[0].Dial(soon(t), 1, 5)
				done <- err
			}()
			eventually(t, func() bool { return len(job[1].server.Refusals()) > 0 })
			x.end(job)
			if err := <-done; !errors.Is(err, x.want) {
				t.Error(err)
			}
		})
	}
}

// TestLobby: connections that nobody fetches are closed after some time, when there are too many, or with the mesh.
func TestLobby(t *testing.T) {
	job := newJob(t, 2, func(c *Config) {
		c.ForceTCP, c.HeartbeatTimeout = true, 5*time.Second // so often it looks for old connections
	})
	dial := func(comm uint64) wire.Conn {
		c, err := job[0].Dial(soon(t), 1, comm)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	waiting := func() int {
		job[1].pending.mu.Lock()
		defer job[1].pending.mu.Unlock()
		return len(job[1].pending.waiting)
	}
	isClosed := func(c wire.Conn) {
		t.Helper()
		_ = c.SetReadDeadline(time.Now().Add(time.Minute))
		if n, err := c.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
			t.Errorf("the connection is open: %v", err)
		}
		c.Close()
	}
	first, second := dial(1), dial(2)
	eventually(t, func() bool { return waiting() == 2 })
	job[1].Forget(2)
	isClosed(second)
	job[1].pending.expire(time.Now().Add(pendingTime / 2))
	if n := waiting(); n != 1 {
		t.Errorf("%d are waiting", n)
	}
	job[1].pending.mu.Lock()
	job[1].pending.waiting[0].since = time.Now().Add(-2 * pendingTime)
	job[1].pending.mu.Unlock()
	isClosed(first)
	first = dial(3)
	eventually(t, func() bool { return waiting() == 1 })
	for range maxPending {
		job[1].pending.add(pendingConn{comm: 4, conn: wire.Conn{TCPConn: new(net.TCPConn)}})
	}
	isClosed(first)
	job[1].pending.closeIf(func(pendingConn) bool { return true })
	last := dial(5)
	eventually(t, func() bool { return waiting() == 1 })
	job[1].Close()
	isClosed(last)
}

// TestPurposes: a process cannot be called for what it does not do.
func TestPurposes(t *testing.T) {
	job := newJob(t, 2, forceTCP)
	for _, x := range []struct {
		from int
		h    secure.Hello
		want error
	}{
		{0, secure.Hello{Purpose: secure.Control, Token: job[0].card.Token}, secure.ErrRefused}, // the higher number calls
		{1, secure.Hello{Purpose: secure.Control, Token: job[1].card.Token}, ErrTaken},
		{1, secure.Hello{Purpose: secure.Store}, secure.ErrRefused},
		{1, secure.Hello{Purpose: secure.Join}, ErrTicket},
		{1, secure.Hello{Purpose: secure.Data, Encrypt: true}, secure.ErrRefused}, // process 0 does not
	} {
		c := job[x.from].cardOf(1 - x.from)
		if _, err := job[x.from].call(soon(t), &c, x.h); !errors.Is(err, x.want) {
			t.Errorf("%v from %d: %v", x.h.Purpose, x.from, err)
		}
	}
}
