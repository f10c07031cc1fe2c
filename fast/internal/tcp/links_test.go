package tcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/linkbase"
	"github.com/collgen/collgen/fast/internal/linkproto"
	"github.com/collgen/collgen/fast/internal/wire"
)

func send(e *Endpoint, to int, data []byte) error {
	return e.Exchange(context.Background(), []wire.Send{{Peer: to, Data: data}}, nil)
}

func receive(e *Endpoint, from int, into []byte) error {
	return e.Exchange(context.Background(), nil, []wire.Recv{{Peer: from, Into: into}})
}

func wantPeer(t *testing.T, err error, rank int, cause error) {
	t.Helper()
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != rank || !errors.Is(err, cause) {
		t.Errorf("got %v, want rank %d: %v", err, rank, cause)
	}
}

// TestLateLinks asks for each link once, when it is needed, and waits for it.
func TestLateLinks(t *testing.T) {
	asked := make(chan int, 10)
	e, other := New(0, 3, 3, false, func(peer int) { asked <- peer }), New(2, 3, 3, false, func(int) {})
	defer e.Close()
	defer other.Close()
	done := make(chan error)
	go func() { done <- send(e, 2, []byte{1}) }()
	if peer := <-asked; peer != 2 {
		t.Errorf("asked for rank %d", peer)
	}
	for len(e.Waiting()) == 0 {
		time.Sleep(time.Millisecond)
	}
	ends := worlds["plain"].pair(t)
	e.Attach(2, ends[0])
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	into := []byte{0}
	other.Attach(0, ends[1])
	if err := errors.Join(send(e, 2, []byte{2}), receive(other, 0, into), receive(other, 0, into)); err != nil ||
		into[0] != 2 {
		t.Error(into, err)
	}
	if len(asked) > 0 {
		t.Error("asked again")
	}
}

// TestSurplusLinks are closed, at most with a last word: a second one, one after the end, and those of ranks that there
// are not.
func TestSurplusLinks(t *testing.T) {
	e := worlds["plain"].group(t, 2)[0]
	if err := send(e, 1, nil); err != nil {
		t.Fatal(err)
	}
	ended := New(0, 2, 2, false, func(int) {})
	_ = ended.Close()
	for _, attach := range []func(c wire.Conn){
		func(c wire.Conn) { e.Attach(1, c); _ = send(e, 1, nil) },
		func(c wire.Conn) { ended.Attach(1, c) },
		func(c wire.Conn) { e.Attach(0, c) },
		func(c wire.Conn) { e.Attach(2, c) },
	} {
		ends := worlds["plain"].pair(t)
		attach(ends[0])
		_ = ends[1].SetReadDeadline(time.Now().Add(long))
		if said, err := io.ReadAll(ends[1]); err != nil || len(said) > linkproto.HeaderBytes {
			t.Errorf("%x, %v", said, err)
		}
		_ = ends[1].Close()
	}
}

// TestBroken ends the wait for a link that cannot be had, with the reason.
func TestBroken(t *testing.T) {
	for _, test := range []struct{ err, is error }{
		{errors.New("no route to host"), wire.ErrDied},
		{fmt.Errorf("it says nothing: %w", wire.ErrFrozen), wire.ErrFrozen},
		{wire.ErrFenced, wire.ErrFenced},
	} {
		var e *Endpoint
		e = New(0, 2, 2, false, func(peer int) { e.ConnectFailed(peer, test.err) })
		wantPeer(t, send(e, 1, nil), 1, test.is)
		e = New(0, 2, 2, false, func(peer int) { go e.ConnectFailed(peer, test.err) })
		err := receive(e, 1, nil)
		if wantPeer(t, err, 1, test.is); !errors.Is(err, test.err) {
			t.Errorf("%v does not say %v", err, test.err)
		}
		_ = e.Close()
	}
}

// TestManyConnections attaches connections without end to a rank that makes no call: it keeps the first one.
func TestManyConnections(t *testing.T) {
	e, other := New(0, 2, 2, false, func(int) {}), New(1, 2, 2, false, func(int) {})
	defer e.Close()
	defer other.Close()
	e.ConnectFailed(1, errors.New("not yet"))
	ends := worlds["plain"].pair(t)
	e.Attach(1, ends[0])
	other.Attach(0, ends[1])
	before := openFiles(t)
	for range 100 {
		ends := worlds["plain"].pair(t)
		_ = ends[1].Close()
		e.Attach(1, ends[0])
		e.ConnectFailed(1, errors.New("once more"))
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors are open, %d before", after, before)
	}
	into := []byte{0}
	if err := errors.Join(send(other, 0, []byte{7}), receive(e, 1, into)); err != nil || into[0] != 7 {
		t.Errorf("got %d, %v", into, err)
	}
}

// TestNoRoomToAttach: who has no descriptor for a connection that the other rank has says so, and closes it no sooner
// than all.
func TestNoRoomToAttach(t *testing.T) {
	e := New(0, 2, 2, false, func(int) {})
	ends := worlds["plain"].pair(t)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	none := unix.Rlimit{Cur: 1, Max: limit.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &none); err != nil {
		t.Fatal(err)
	}
	e.Attach(1, ends[0])
	err := receive(e, 1, nil)
	if failed := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); failed != nil {
		t.Fatal(failed)
	}
	if !errors.Is(err, wire.ErrExhausted) {
		t.Errorf("receiving: %v", err)
	}
	endsWithin := func(d time.Duration) bool {
		_ = ends[1].SetReadDeadline(time.Now().Add(d))
		_, err := ends[1].Read(make([]byte, 100))
		return !errors.Is(err, os.ErrDeadlineExceeded)
	}
	if endsWithin(100 * time.Millisecond) {
		t.Error("the connection is closed before the endpoint")
	}
	_ = e.Close()
	if !endsWithin(time.Minute) {
		t.Error("the connection stays open after the endpoint")
	}
}

// TestComesAllTheSame attaches a connection after it was said that there will be none, and before any call has needed
// it: what was sent over it comes.
func TestComesAllTheSame(t *testing.T) {
	for name, said := range map[string]error{"closed": wire.ErrClosed, "broken": errors.New("no route to host")} {
		t.Run(name, func(t *testing.T) {
			all := make([]*Endpoint, 3)
			for rank := range all {
				all[rank] = New(rank, len(all), len(all), false, func(int) {})
				defer all[rank].Close()
			}
			late, others := worlds["plain"].pair(t), worlds["plain"].pair(t)
			all[0].Attach(2, others[0])
			all[2].Attach(0, others[1])
			all[1].Attach(0, late[1])
			all[0].ConnectFailed(1, said)
			if err := errors.Join(send(all[0], 2, nil), send(all[1], 0, []byte{7}), all[1].Close()); err != nil {
				t.Fatal(err)
			}
			all[0].Attach(1, late[0])
			into := []byte{0}
			if err := receive(all[0], 1, into); err != nil || into[0] != 7 {
				t.Errorf("got %d, %v", into, err)
			}
			wantPeer(t, receive(all[0], 1, into), 1, wire.ErrClosed)
		})
	}
}

// TestAlreadyClosed attaches a connection that is closed.
func TestAlreadyClosed(t *testing.T) {
	ends := worlds["plain"].pair(t)
	_, _ = ends[0].Close(), ends[1].Close()
	e := New(0, 2, 2, false, func(int) {})
	defer e.Close()
	e.Attach(1, ends[0])
	wantPeer(t, send(e, 1, nil), 1, wire.ErrDied)
}

// TestDrain closes a rank as soon as it has sent, while the other one has not begun to receive, and has sent something
// itself that will never be received. What was sent still comes.
func TestDrain(t *testing.T) {
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			all := w.group(t, 2)
			if err := send(all[1], 0, make([]byte, 1000)); err != nil {
				t.Fatal(err)
			}
			data := make([]byte, 8<<10)
			for i := range data {
				data[i] = byte(i * 7)
			}
			if err := errors.Join(send(all[0], 1, data), all[0].Close()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Millisecond)
			into := make([]byte, len(data))
			if err := receive(all[1], 0, into); err != nil || string(into) != string(data) {
				t.Error(err)
			}
			wantPeer(t, receive(all[1], 0, into), 0, wire.ErrClosed)
		})
	}
}

// TestCloseInTheMiddle closes a rank while it sends a message that is not received: it does not come, but its receiver
// learns that the rank has closed.
func TestCloseInTheMiddle(t *testing.T) {
	for name, w := range worlds {
		t.Run(name, func(t *testing.T) {
			all := w.group(t, 2)
			done := make(chan error)
			go func() { done <- send(all[0], 1, make([]byte, 64<<20)) }()
			for len(all[0].Waiting()) == 0 {
				time.Sleep(time.Millisecond)
			}
			_ = all[0].Close()
			if err := <-done; err != wire.ErrClosed {
				t.Error(err)
			}
			wantPeer(t, receive(all[1], 0, make([]byte, 64<<20)), 0, wire.ErrClosed)
		})
	}
}

// TestNothingStays counts files and goroutines after the ends of groups.
func TestNothingStays(t *testing.T) {
	for name, end := range map[string]func(e *Endpoint){
		"close": func(e *Endpoint) { _, _ = e.Close(), e.Close() },
		"fail":  func(e *Endpoint) { e.Fail(wire.ErrFrozen); _ = e.Close() },
	} {
		files, goroutines := openFiles(t), runtime.NumGoroutine()
		for range 5 {
			all := worlds["plain"].group(t, 3)
			done := make(chan error)
			go func() { done <- send(all[0], 1, make([]byte, 64<<20)) }()
			for len(all[0].Waiting()) == 0 {
				time.Sleep(time.Millisecond)
			}
			for _, e := range all {
				end(e)
			}
			if err := <-done; err == nil {
				t.Errorf("%s: the Exchange succeeds", name)
			}
		}
		start := time.Now()
		for ; openFiles(t) > files || runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
			if time.Since(start) > long {
				t.Fatalf("%s: %d files and %d goroutines, before %d and %d",
					name, openFiles(t), runtime.NumGoroutine(), files, goroutines)
			}
		}
	}
}

// openFiles returns how many files this process has open, where that is known.
func openFiles(t *testing.T) int {
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(files)
}

// TestUnexpected has a rank wait in vain for another one, which has sent it long messages before: they are kept.
func TestUnexpected(t *testing.T) {
	for _, name := range []string{"plain", "encrypted"} {
		t.Run(name, func(t *testing.T) {
			all := worlds[name].group(t, 2)
			early := make([][]byte, 5)
			for i := range early {
				early[i] = slices.Repeat([]byte{byte(i + 1)}, 20<<10)
				if err := send(all[1], 0, early[i]); err != nil {
					t.Fatal(err)
				}
			}
			done := make(chan error)
			go func() { done <- send(all[0], 1, make([]byte, 32<<20)) }()
			for len(all[0].Waiting()) == 0 {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(3 * linkbase.StallTime)
			if err := errors.Join(receive(all[1], 0, make([]byte, 32<<20)), <-done); err != nil {
				t.Fatal(err)
			}
			for _, want := range early {
				got := make([]byte, len(want))
				if err := receive(all[0], 1, got); err != nil || string(got) != string(want) {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestLookingAhead has a rank look ahead, while it waits in vain, beyond the part of a message that has come. The rest
// of the message is then received to its place, and the last word behind it is heard.
func TestLookingAhead(t *testing.T) {
	all := worlds["plain"].group(t, 2)
	const n = 24 << 20
	slow := false
	kernel := func(dst, a, b []byte) {
		if !slow {
			slow = true
			time.Sleep(4 * linkbase.StallTime)
		}
		copy(dst, b)
	}
	done := make(chan error)
	go func() {
		into := make([]byte, n)
		err := all[1].Exchange(context.Background(), []wire.Send{{Peer: 0, Data: make([]byte, n)}},
			[]wire.Recv{{Peer: 0, Into: into, With: into, Kernel: kernel}})
		done <- errors.Join(err, all[1].Close())
	}()
	if err := errors.Join(send(all[0], 1, make([]byte, n)), receive(all[0], 1, make([]byte, n)), <-done); err != nil {
		t.Fatal(err)
	}
	if in := &all[0].links[1].in; in.scanned == 0 {
		t.Error("it has not looked ahead")
	}
	wantPeer(t, receive(all[0], 1, nil), 1, wire.ErrClosed)
}
