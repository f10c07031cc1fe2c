//go:build linux

package shm

import (
	"bytes"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// A wake-up that is lost costs a nap and nothing else, so that no test of messages sees it. These look at the doorbell.

// TestWhatIsAwaitedWakes: whatever messages are not complete, a rank that sleeps is woken by who sends one of them, and
// by who takes one. It is not by a rank that it waits for no message of, if it waits for those of one rank, or of none.
func TestWhatIsAwaitedWakes(t *testing.T) {
	all := group(t, 4)
	defer closeGroup(all)
	e := all[0]
	for state := range 1 << 8 { // of each peer: no message, one that is complete, or one that is not, each way
		e.out, e.in = e.out[:0], e.in[:0]
		var senders, readers []int
		for peer := 1; peer <= 3; peer++ {
			bits := state >> (2 * (peer - 1))
			e.in = append(e.in, incoming{Recv: &wire.Recv{Peer: peer}, link: &e.links[peer], done: bits&1 == 0})
			if bits&1 != 0 {
				senders = append(senders, peer)
			}
			e.out = append(e.out, outgoing{Send: &wire.Send{Peer: peer}, link: &e.links[peer], done: bits&2 == 0})
			if bits&2 != 0 {
				readers = append(readers, peer)
			}
		}
		if state >= 1<<6 { // the same, listed in another order
			slices.Reverse(e.in)
			slices.Reverse(e.out)
		}
		for peer := 1; peer <= 3; peer++ {
			if got, may := wakes(all[peer], e, all[peer].wakeReceiver), slices.Contains(senders, peer); !got && may || got &&
				!may && len(senders) < 2 {
				t.Errorf("rank 0 waits for messages of %v, and that of rank %d wakes it: %v", senders, peer, got)
			}
			if got, want := wakes(all[peer], e, all[peer].wakeSender), len(readers) > 0; got != want {
				t.Errorf("rank 0 waits for slots of %v, and one that rank %d gives back wakes it: %v", readers, peer, got)
			}
		}
	}
	e.out, e.in = e.out[:0], e.in[:0]
	e.own.sleeping.Store(0)
}

// wakes reports whether by's wake rings e, which sleeps for what it has listed.
func wakes(by, e *Endpoint, wake func(*control)) bool {
	before := e.own.doorbell.Load()
	e.own.sleeping.Store(e.want())
	wake(by.links[e.rank].control)
	return e.own.doorbell.Load() != before
}

// TestEverythingWakes: a rank that sleeps is woken by each way in which a message comes, and in which its place is
// given back.
func TestEverythingWakes(t *testing.T) {
	own := &wire.Call{Seq: 9}
	for _, x := range []struct {
		name  string
		bytes int
		call  *wire.Call
		group func(tester, int) []*Endpoint
		ranks int
		lend  bool
	}{
		{"nothing", 0, nil, group, 2, false},
		{"a line", 8, nil, group, 2, false},
		{"a line, in a call of its own", 8, own, group, 2, false},
		{"a slot", 1000, nil, group, 2, false},
		{"a full slot", 70000, nil, group, 2, false},
		{"several slots", 300007, nil, group, 2, false},
		{"a multicast slot", 1000, nil, group, 3, false},
		{"a full multicast slot", 70000, nil, group, 3, false},
		{"a slot that is lent", 1000, nil, group, 2, true},
		{"the sender's process", 300007, nil, openGroup, 2, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			all := x.group(t, x.ranks)
			defer closeGroup(all)
			data := bytes.Repeat([]byte{7}, x.bytes)
			var sends []wire.Send
			for to := 1; to < x.ranks; to++ {
				sends = append(sends, wire.Send{Peer: to, Data: data, Call: x.call})
			}
			for _, e := range all[1:] {
				e.own.sleeping.Store(asleep | wantsCredit)
			}
			begin(t, all[0], sends)
			for _, e := range all[1:] {
				if e.own.doorbell.Load() == 0 {
					t.Errorf("rank %d sleeps on", e.rank)
				}
				all[0].own.sleeping.Store(asleep | wantsCredit | nobody<<wantsShift)
				before := all[0].own.doorbell.Load()
				r := []wire.Recv{{Peer: 0, Into: make([]byte, x.bytes), Call: x.call, Lend: x.lend}}
				if err := e.Exchange(t.Context(), nil, r); err != nil || !bytes.Equal(r[0].Into, data) {
					t.Errorf("rank %d has not received what was sent (%v)", e.rank, err)
				}
				if e.Release(); all[0].own.doorbell.Load() == before {
					t.Errorf("rank 0 sleeps on when rank %d has taken its message", e.rank)
				}
			}
			if _, err := all[0].advance(); err != nil || all[0].open > 0 {
				t.Errorf("rank 0: %d messages are not complete (%v)", all[0].open, err)
			}
			all[0].forget()
		})
	}
}

// begin has e send what it can, and not wait.
func begin(t *testing.T, e *Endpoint, sends []wire.Send) {
	t.Helper()
	sent := e.sendShort(sends)
	if err := e.list(sends, nil, sent, 0); err != nil {
		t.Fatal(err)
	}
	for moved := true; moved; {
		var err error
		if moved, err = e.advance(); err != nil {
			t.Fatal(err)
		}
	}
}
