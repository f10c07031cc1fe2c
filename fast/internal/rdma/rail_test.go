package rdma_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/rdma/fabric"
	"github.com/collgen/collgen/fast/internal/wire"
)

// carried returns how many bytes each rail of rank 0 has carried since the last look.
func (g *group) carried(before []int) (since, now []int) {
	for i, d := range g.all[0].rails {
		now = append(now, d.Carried())
		if before != nil {
			since = append(since, now[i]-before[i])
		}
	}
	return since, now
}

// known has rank 0 know data and rank 1 know into, as far as says.
func (g *group) known(data, into []byte, says [2]bool) {
	for i, b := range [][]byte{data, into} {
		if says[i] {
			g.all[i].Know(b)
		}
	}
}

// pattern returns n bytes that differ from each other and from those of other seeds.
func pattern(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((i + seed) * 7 >> 3)
	}
	return b
}

// pass has rank 0 send data to rank 1, and write other data there as soon as it has. Rank 1 compares as soon as it has
// received.
func (g *group) pass(data, into []byte) error {
	want, done := bytes.Clone(data), make(chan error)
	go func() {
		err := g.all[0].send(1, data)
		clear(data)
		done <- err
	}()
	err := g.all[1].receive(0, into)
	if err == nil && !bytes.Equal(want, into) {
		err = errors.New("it is taken for complete before it is")
	}
	return errors.Join(err, <-done)
}

// TestRails: a long message comes whole over the rails that both ranks have, each of which carries its part; without
// registered memory it goes over one, as short messages do. The numbers of stripes wrap around.
func TestRails(t *testing.T) {
	for _, rails := range [][]int{{1, 1}, {2, 2}, {3, 3}, {3, 2}, {2, 3}, {1, 3}, {3, 1},
		{rdma.MostRails, rdma.MostRails}} {
		for _, known := range [][2]bool{{true, true}, {false, true}, {true, false}, {false, false}} {
			w := world{Options: fabric.Options{MaxMessage: 1<<20 + 1000, Lazy: 2}, rails: rails, start: 1<<32 - 2}
			if rails[0] == 3 {
				w.start = 1<<30 - 3
			}
			g := w.group(t, 2)
			both := min(rails[0], rails[1])
			_, before := g.carried(nil)
			for i, n := range []int{rdma.LongBytes - 1, rdma.LongBytes, rdma.LongBytes + 1, 1_000_003, 5 << 20,
				rdma.LongBytes + 4095, 600_011} {
				data, into := pattern(n, i), make([]byte, n)
				g.known(data, into, known)
				if err := g.pass(data, into); err != nil {
					t.Fatalf("%v rails, %v, %d bytes: %v", rails, known, n, err)
				}
				var since []int
				since, before = g.carried(before)
				for rail, got := range since {
					least, most := 0, 0
					switch striped := n >= rdma.LongBytes && known == [2]bool{true, true}; {
					case striped && rail < both:
						least, most = n/both-8*4096, n/both+8*4096
					case !striped && rail == 1%both: // of ranks 0 and 1
						least, most = n, n+n/10
					}
					if got < least || got > most+2000 {
						t.Errorf("%v rails, %v, %d bytes: rail %d carries %d bytes, want %d to %d", rails, known, n, rail, got, least,
							most)
					}
				}
			}
			for _, m := range g.all {
				_ = m.Close()
			}
		}
	}
}

// TestMainRail: what is short goes over the same rail in both directions, and the pairs of a rank with others take
// turns.
func TestMainRail(t *testing.T) {
	g := world{rails: []int{2, 3, 2, 2}}.group(t, 4)
	for a, m := range g.all {
		for b := range a {
			before := []int{m.rails[0].Carried(), m.rails[1].Carried()}
			done := make(chan error)
			go func() { done <- g.all[b].receive(a, make([]byte, 999)) }()
			if err := errors.Join(m.send(b, make([]byte, 999)), <-done); err != nil {
				t.Fatal(err)
			}
			for rail := range before {
				if got, uses := m.rails[rail].Carried()-before[rail], (a+b)%2 == rail; got >= 999 != uses {
					t.Errorf("ranks %d and %d: rail %d carries %d bytes", a, b, rail, got)
				}
			}
		}
	}
}

// TestBrokenRail has one of two rails break in the midst of many messages: both ranks learn of it from their own
// devices, and the one whose it is says which.
func TestBrokenRail(t *testing.T) {
	for rail := range 2 {
		w := worlds["two rails"]
		w.MaxMessage = 64 << 10
		g := w.group(t, 2)
		data, into := make([]byte, 4<<20), make([]byte, 4<<20)
		why := errors.New("the device failed (status 19)")
		time.AfterFunc(2*time.Millisecond, func() { g.Break(g.all[0].rails[rail], why) })
		done := make(chan error)
		go func() {
			var err error
			for err == nil {
				err = g.all[0].send(1, data)
			}
			done <- err
		}()
		var err error
		for err == nil {
			err = g.all[1].receive(0, into)
		}
		wantDied(t, err, 0, "sim1") // rank 0 has broken all its queue pairs
		if err := <-done; !errors.Is(err, why) {
			t.Errorf("rail %d: the sender gets %v", rail, err)
		} else {
			wantDied(t, err, 1, "sim0"+"ab"[rail:rail+1])
		}
	}
}

// TestRailPortFails: a rank one of whose ports fails says which.
func TestRailPortFails(t *testing.T) {
	g := worlds["two rails"].group(t, 2)
	if s, r := g.both([]byte{1}, make([]byte, 1)); s != nil || r != nil {
		t.Fatal(s, r)
	}
	done := make(chan error)
	go func() { done <- g.all[0].receive(1, make([]byte, 1)) }()
	for len(g.all[0].Waiting()) == 0 {
		time.Sleep(time.Millisecond)
	}
	gone := errors.New("port 1 is down")
	g.all[0].rails[1].FailPort(gone)
	if err := <-done; !errors.Is(err, gone) || errors.Is(err, wire.ErrDied) || !bytes.Contains([]byte(err.Error()),
		[]byte("sim0b")) {
		t.Error(err)
	}
}

// TestKeyZero has the memory where a message goes be that of key 0.
func TestKeyZero(t *testing.T) {
	g := worlds["usual"].group(t, 2)
	data, into := pattern(rdma.LongBytes, 3), make([]byte, rdma.LongBytes)
	g.known(data, into, [2]bool{true, true})
	if !g.all[1].Register(into) {
		t.Fatal("it is not registered")
	}
	if err := g.pass(data, into); err != nil {
		t.Error(err)
	}
}

// TestArmed: who sleeps is woken by a completion of any rail.
func TestArmed(t *testing.T) {
	g := worlds["two rails"].group(t, 2)
	go func() { _ = g.all[0].receive(1, make([]byte, 1)) }()
	soon(t, "arming", func() {
		for i := 0; i < len(g.all[0].rails); time.Sleep(time.Millisecond) {
			if g.all[0].rails[i].Armed() {
				i++
			}
		}
	})
}

// TestLastWord: a rank that sends a long message and closes has sent it, though its last word goes over another queue
// pair than most of it, and can come before that.
func TestLastWord(t *testing.T) {
	s := newStranger(t, 2)
	into := make([]byte, rdma.LongBytes)
	s.rank0.Know(into)
	ended := make(chan error)
	go func() { ended <- s.rank0.Exchange(t.Context(), nil, []wire.Recv{{Peer: 1, Into: into}}) }()
	first, at := rdma.SegmentOf(rdma.LongBytes)
	s.leaveEarly(uint64(at), first)
	select {
	case err := <-ended:
		t.Fatal(err)
	case <-time.After(50 * time.Millisecond): // it has heard the last word by now, as a rule
	}
	s.writeOver(0, 0, nil, rdma.Part)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
