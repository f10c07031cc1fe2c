package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// raw returns a connection to a server that the test speaks on itself.
func raw(t *testing.T, m *Memory) (net.Conn, <-chan error) {
	near, far := net.Pipe()
	_ = near.SetDeadline(time.Now().Add(20 * time.Second))
	served := make(chan error, 1)
	go func() { served <- Serve(t.Context(), far, m) }()
	t.Cleanup(func() { _ = near.Close() })
	return near, served
}

func say(t *testing.T, c net.Conn, f frame) {
	t.Helper()
	if _, err := c.Write(f.encode()); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, c net.Conn) frame {
	t.Helper()
	f, err := readFrame(c, maxFrame)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestServerEndsNonsense: a client that sends what no client does is sent away, and nothing stays.
func TestServerEndsNonsense(t *testing.T) {
	m := NewMemory()
	for _, f := range []frame{{kind: hello}, {kind: done}, {kind: bye}} {
		c, served := raw(t, m)
		say(t, c, f)
		if err := <-served; !errors.Is(err, errFrame) {
			t.Errorf("kind %d: %v", f.kind, err)
		}
	}
	c, served := raw(t, m)
	say(t, c, frame{id: 1, kind: get, key: "never"})
	_, _ = c.Write([]byte("GET / HTTP/1.1\r\n\r\n")[:4])
	if err := <-served; !errors.Is(err, errFrame) || len(m.waiting) != 0 {
		t.Errorf("%v; %d waits stay", err, len(m.waiting))
	}
}

// TestServerBoundsGets: no more than so many wait, no two of one number, and one that is given up makes room.
func TestServerBoundsGets(t *testing.T) {
	c, _ := raw(t, NewMemory())
	for i := range maxPending {
		say(t, c, frame{id: uint32(i), kind: get, key: fmt.Sprint(i)})
	}
	for _, id := range []uint32{0, maxPending} {
		say(t, c, frame{id: id, kind: get, key: "more"})
		if f := hear(t, c); f.kind != failed || f.id != id || !strings.Contains(string(f.value), "too many") {
			t.Errorf("%+v", f)
		}
	}
	say(t, c, frame{id: 3, kind: cancelGet})
	say(t, c, frame{id: maxPending, kind: get, key: "4"})
	say(t, c, frame{id: 1000, kind: set, key: "4", value: []byte("v")})
	heard := map[uint32]string{}
	for range 3 {
		f := hear(t, c)
		heard[f.id] = string(f.value)
	}
	if heard[4] != "v" || heard[maxPending] != "v" || len(heard) != 3 {
		t.Errorf("%v", heard)
	}
}

// TestServerLeaves: those who wait are told when the store closes, and when it just dies.
func TestServerLeaves(t *testing.T) {
	lost := func(err error) error { return fmt.Errorf("lost: %w", err) }
	for name, leave := range map[string]func(far net.Conn, cancel func()){
		"closes": func(_ net.Conn, cancel func()) { cancel() },
		"dies":   func(far net.Conn, _ func()) { _ = far.Close() },
	} {
		near, far := net.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		served := make(chan error, 1)
		m := NewMemory()
		go func() { served <- Serve(ctx, far, m) }()
		c := NewClient(near, lost)
		put(t, c, "a", "1")
		got := make(chan error)
		go func() {
			_, err := c.Get(t.Context(), "never")
			got <- err
		}()
		for m.waits() == 0 {
			time.Sleep(time.Millisecond)
		}
		leave(far, cancel)
		want := map[string]error{"closes": ErrClosed, "dies": io.EOF}[name]
		if err := <-got; !errors.Is(err, want) || !strings.HasPrefix(err.Error(), "lost: ") {
			t.Errorf("%s: %v", name, err)
		}
		if err := c.Set(t.Context(), "b", nil); !errors.Is(err, want) {
			t.Errorf("%s: then %v", name, err)
		}
		<-served
		_ = c.Close()
		cancel()
	}
}

func (m *Memory) waits() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting)
}

// TestClientHostile has a server that answers with nonsense, or to nobody, or not at all.
func TestClientHostile(t *testing.T) {
	said := func(f frame) string { return string(f.encode()) }
	for answer, want := range map[string]string{
		said(frame{id: 1, kind: failed, value: []byte("no\x1b[2J")}):      "the store answers: no?[2J",
		said(frame{id: 1, kind: get}):                                     errFrame.Error(),
		said(frame{id: 9, kind: done}) + said(frame{id: 1, kind: failed}): "the store answers: ",
		"\xff\xff\xff\xff": errFrame.Error(),
		"":                 "deadline",
	} {
		near, far := net.Pipe()
		c := NewClient(near, func(err error) error { return err })
		go func() {
			_, _ = readFrame(far, maxFrame)
			_, _ = io.WriteString(far, answer)
			_, _ = io.Copy(io.Discard, far)
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if answer == "" {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
		}
		if _, err := c.Get(ctx, "k"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", answer, err, want)
		}
		cancel()
		_ = c.Close()
		if _, err := c.Get(t.Context(), "k"); err == nil {
			t.Error("a closed client gets a value")
		}
		_ = far.Close()
	}
}

// TestClientStuck: a server that reads nothing holds nobody longer than their context.
func TestClientStuck(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	c := NewClient(near, func(err error) error { return err })
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := c.Set(ctx, "k", nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}

// TestDeaf: a peer that reads nothing holds neither a server nor a client without a limit of its own for ever.
func TestDeaf(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		c := NewClient(near, func(err error) error { return err })
		if err := c.Set(context.Background(), "k", nil); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a client whose server reads nothing: %v", err)
		}
		_, _ = c.Close(), far.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		c, served := raw(t, NewMemory())
		say(t, c, frame{id: 1, kind: set, key: "k"})
		if err := <-served; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a server whose client reads nothing: %v", err)
		}
	})
}

// TestGivenUp: requests that were given up take no places.
func TestGivenUp(t *testing.T) {
	near, far := net.Pipe()
	m := NewMemory()
	go Serve(t.Context(), far, m)
	c := NewClient(near, func(err error) error { return err })
	defer c.Close()
	for range maxPending + 1 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		if _, err := c.Get(ctx, "never"); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		cancel()
	}
	_ = m.Set(t.Context(), "key", []byte{1})
	if _, err := c.Get(t.Context(), "key"); err != nil {
		t.Error(err)
	}
}

// TestGivenUpWriting: a context that ends before the server has read the request costs the others nothing.
func TestGivenUpWriting(t *testing.T) {
	near, far := net.Pipe()
	c := NewClient(near, func(err error) error { return err })
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := c.Set(ctx, "k", []byte("v")); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	go Serve(t.Context(), far, NewMemory())
	if value, err := c.Get(t.Context(), "k"); err != nil || string(value) != "v" {
		t.Errorf("%q, %v", value, err)
	}
}
