package rdma_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma/fabric"
	"github.com/collgen/collgen/fast/internal/wire"
)

// long is longer than anything takes here, on any machine.
const long = 60 * time.Second

func (m member) send(to int, data []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	return m.Exchange(ctx, []wire.Send{{Peer: to, Data: data}}, nil)
}

func (m member) receive(from int, into []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	return m.Exchange(ctx, nil, []wire.Recv{{Peer: from, Into: into}})
}

// both has rank 0 send and rank 1 receive at once.
func (g *group) both(data, into []byte) (sender, receiver error) {
	done := make(chan error)
	go func() { done <- g.all[0].send(1, data) }()
	receiver = g.all[1].receive(0, into)
	return <-done, receiver
}

func wantDied(t *testing.T, err error, rank int, words ...string) {
	t.Helper()
	var peer *wire.PeerError
	if !errors.As(err, &peer) || peer.Rank != rank || !errors.Is(err, wire.ErrDied) {
		t.Errorf("got %v, want the death of rank %d", err, rank)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%v does not say %q", err, w)
		}
	}
}

// TestDeath ends a process without a word: who waits for it learns that from its own device, whether it sends or
// receives.
func TestDeath(t *testing.T) {
	for name, wait := range map[string]func(m member) error{
		"receives":       func(m member) error { return m.receive(0, make([]byte, 1)) },
		"sends":          func(m member) error { return m.send(0, make([]byte, 100<<10)) },
		"sends for long": func(m member) error { return m.send(0, make([]byte, 1<<20)) },
	} {
		g := worlds["usual"].group(t, 2)
		if s, r := g.both([]byte{1}, make([]byte, 1)); s != nil || r != nil {
			t.Fatal(s, r)
		}
		g.Cut(g.all[0].device)
		start := time.Now()
		err := wait(g.all[1])
		for ; err == nil && time.Since(start) < long; err = wait(g.all[1]) { // what fits into the slots is sent
		}
		wantDied(t, err, 0, "sim1", "does not answer")
		t.Logf("%s: after %v: %v", name, time.Since(start), err)
	}
}

// TestPortFails: a rank whose port fails says so, and does not blame others.
func TestPortFails(t *testing.T) {
	g := worlds["usual"].group(t, 2)
	done := make(chan error)
	go func() { done <- g.all[0].receive(1, make([]byte, 1)) }()
	for len(g.all[0].Waiting()) == 0 {
		time.Sleep(time.Millisecond)
	}
	gone := errors.New("port 1 is down")
	g.all[0].device.FailPort(gone)
	if err := <-done; !errors.Is(err, gone) || !strings.Contains(err.Error(), "sim0") || errors.Is(err, wire.ErrDied) {
		t.Error(err)
	}
}

// TestBrokenPair breaks a queue pair in the midst of many writes.
func TestBrokenPair(t *testing.T) {
	for _, w := range []string{"usual", "registered", "few slots"} {
		g := worlds[w].group(t, 2)
		data, into := make([]byte, 4<<20), make([]byte, 4<<20)
		why := errors.New("the device failed (status 19)")
		time.AfterFunc(time.Millisecond, func() { g.Break(g.all[0].device, why) })
		var errs [2]error
		for errs[0] == nil && errs[1] == nil {
			done := make(chan error)
			go func() {
				err := g.all[0].send(1, data)
				if err != nil { // which the control plane would do
					g.all[1].Fail(&wire.PeerError{Rank: 0, Err: wire.ErrAborted})
				}
				done <- err
			}()
			errs[1] = g.all[1].receive(0, into)
			errs[0] = <-done
		}
		if errs[0] == nil { // all was posted when the pair broke
			errs[0] = g.all[0].send(1, data)
		}
		if !errors.Is(errs[0], why) {
			t.Errorf("%s: the sender gets %v", w, errs[0])
		}
		wantDied(t, errs[0], 1)
	}
}

// TestMemlock has a device refuse memory: the rank says why, and the other one hears it.
func TestMemlock(t *testing.T) {
	w := worlds["usual"]
	w.Registered = 1 << 20 // enough for one link
	g := w.group(t, 3)
	if s, r := g.both([]byte{1}, make([]byte, 1)); s != nil || r != nil {
		t.Fatal(s, r)
	}
	done := make(chan error)
	go func() { done <- g.all[2].receive(0, make([]byte, 1)) }()
	err := g.all[0].send(2, []byte{1})
	if err == nil || !strings.Contains(err.Error(), "rank 2") || !strings.Contains(err.Error(), "RLIMIT_MEMLOCK") {
		t.Errorf("the rank itself: %v", err)
	}
	wantDied(t, <-done, 0, "RLIMIT_MEMLOCK")
}

// TestPlanted: what the fabric is there for is seen by what is tested over it. A device that tells of bytes before they
// are there spoils messages, also those of several rails, and a rank that takes slots for more than there are is found
// out.
func TestPlanted(t *testing.T) {
	misplaced, striped := worlds["slow device"].group(t, 2), worlds["two rails"].group(t, 2)
	misplaced.all[0].device.Misplaced, striped.all[0].rails[0].Misplaced = true, true // of striped it is not the main one
	overbooked := worlds["few slots"].group(t, 2)
	if s, r := overbooked.both([]byte{1}, make([]byte, 1)); s != nil || r != nil {
		t.Fatal(s, r)
	}
	overbooked.all[0].Overbook()
	for name, g := range map[string]*group{"misplaced": misplaced, "striped": striped, "overbooked": overbooked} {
		seen := false
		for range 50 {
			data, into := bytes.Repeat([]byte{7}, 300<<10), make([]byte, 300<<10)
			g.known(data, into, [2]bool{name == "striped", name == "striped"})
			go func() { time.Sleep(time.Millisecond); _ = g.all[0].send(1, data) }()
			err := g.all[1].receive(0, into)
			if seen = err != nil || !bytes.Equal(data, into); seen {
				t.Logf("%s: %v, all bytes are there: %v", name, err, bytes.Equal(data, into))
				break
			}
		}
		if !seen {
			t.Errorf("%s: nobody sees it", name)
		}
	}
}

// TestNothingLeft: an endpoint gives back all it has of its device, however it ends.
func TestNothingLeft(t *testing.T) {
	for name, end := range map[string]func(g *group){
		"close": func(*group) {},
		"fail":  func(g *group) { g.all[0].Fail(wire.ErrFrozen) },
		"death": func(g *group) { g.Break(g.all[0].device, errors.New("the device failed")) },
		"midway": func(g *group) {
			time.AfterFunc(time.Millisecond, func() { g.all[1].Fail(wire.ErrFrozen) })
			_ = g.all[1].receive(0, make([]byte, 1))
		},
	} {
		w := worlds["registered"]
		w.rails = []int{1, 2}
		if name == "death" {
			w.rails = []int{2}
		}
		g := w.group(t, 2)
		if s, r := g.both(make([]byte, 1<<20), make([]byte, 1<<20)); s != nil || r != nil {
			t.Fatal(s, r)
		}
		end(g)
		for _, m := range g.all {
			_ = m.Close()
		}
		for _, m := range g.all {
			for start := time.Now(); m.left() > 0; time.Sleep(time.Millisecond) {
				if time.Since(start) > long {
					t.Fatalf("%s: %d pairs and regions of rank %d are left", name, m.left(), m.Rank)
				}
			}
		}
	}
}

// TestLeftEarly: of a rank that leaves before anybody wanted to talk to it, nothing is made; who sends to it then is
// told.
func TestLeftEarly(t *testing.T) {
	g := worlds["registered"].group(t, 2)
	m := g.all[0]
	m.Left(1, true)
	if n := m.device.Left(); n != 0 {
		t.Errorf("it takes %d pairs and regions to see that a rank has left", n)
	}
	if err := m.send(1, make([]byte, 1)); !errors.Is(err, wire.ErrClosed) {
		t.Errorf("sending to it: %v", err)
	}
}

// TestLongMessages has a message of 20 MiB between memory that is registered at both ends, one of them, or neither, on
// a device that takes 8 MiB at a time: it goes straight to its place, and comes whole.
func TestLongMessages(t *testing.T) {
	const n = 20 << 20
	for _, known := range [][2]bool{{false, false}, {false, true}, {true, false}, {true, true}} {
		g := world{Options: fabric.Options{MaxMessage: 8 << 20}}.group(t, 2)
		data, into := make([]byte, n), make([]byte, n)
		for i := range data {
			data[i] = byte(i * 7 >> 3)
		}
		for i, b := range [][]byte{data, into} {
			if known[i] {
				g.all[i].Know(b)
				g.all[i].Know(b)
			}
		}
		if s, r := g.both(data, into); s != nil || r != nil || !bytes.Equal(data, into) {
			t.Errorf("%v: %v, %v", known, s, r)
		}
		slots := g.all[1].Taken(0)
		if direct := slots < 10; direct != known[1] {
			t.Errorf("%v: %d segments came through slots", known, slots)
		}
		for i, b := range [][]byte{data, into} {
			if err := errors.Join(g.all[i].Forget(b), g.all[i].Forget(b)); err != nil || g.all[i].device.Left() != 2 {
				t.Errorf("%v: rank %d has %d pairs and regions: %v", known, i, g.all[i].device.Left(), err)
			}
		}
	}
}

// TestContradiction: of ranks that receive in a ring, one is in another call than the rest. It learns of it from the
// one that waits for it, and so does the one that it waits for; the third, which waits for one in the same call, learns
// nothing.
func TestContradiction(t *testing.T) {
	g := worlds["usual"].group(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	errs := make([]error, 3)
	var odd, all sync.WaitGroup
	for rank, m := range g.all {
		ranks := &odd
		if rank == 2 {
			ranks = &all
		}
		ranks.Go(func() {
			m.Begin(wire.NewMark(&wire.Call{Seq: 1, Primitive: 1, Root: uint32(min(rank, 1))}))
			errs[rank] = m.Exchange(ctx, nil, []wire.Recv{{Peer: (rank + 1) % 3, Into: make([]byte, 1)}})
		})
	}
	odd.Wait()
	cancel()
	all.Wait()
	for rank, other := range []int{2, 0} {
		var differs *wire.MismatchError
		if !errors.As(errs[rank], &differs) || differs.Rank != other || differs.Field != "root" {
			t.Errorf("rank %d: %v", rank, errs[rank])
		}
	}
	if !errors.Is(errs[2], context.Canceled) {
		t.Errorf("rank 2: %v", errs[2])
	}
}
