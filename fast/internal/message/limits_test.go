package message

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// TestAcknowledged: what has come is acknowledged before the sender may send nothing more, but not each chunk, because
// each wakes it.
func TestAcknowledged(t *testing.T) {
	const chunks = 20
	n := newNet(2)
	n.receive(1, 0, 0, make([]byte, chunks*maxChunk))
	s := n.send(0, 1, 0, chunks*maxChunk, 1)
	acks := 0
	n.step([2]int{0, 1}) // that it is announced
	n.step([2]int{1, 0}) // that it is accepted
	for n.step([2]int{0, 1}) {
		if due := n.all[1].peer(0).due; due >= maxDue {
			t.Fatalf("%d bytes are not acknowledged", due)
		}
		for n.step([2]int{1, 0}) {
			acks++
		}
	}
	if most := chunks*maxChunk/maxDue + 1; !s.Over() || acks > most {
		t.Errorf("the send is over: %v; %d acknowledgements, at most %d are needed", s.Over(), acks, most)
	}
	n.wantSettled(t)
}

// TestAcknowledgedOverall: many communicators of two processes, which share what may be under way, all end their
// messages, whichever chunk comes next. None waits for what another one has not acknowledged.
func TestAcknowledgedOverall(t *testing.T) {
	const comms = 4 * sharedWindow / maxDue
	all := make([]*net, comms)
	var sends []*Op
	for i := range all {
		all[i] = newNet(2)
		all[i].budgets = all[0].budgets
		all[i].receive(1, 0, 0, make([]byte, 2*Window))
		sends = append(sends, all[i].send(0, 1, 0, 2*Window, 1))
	}
	for more := true; more; {
		more = false
		for _, n := range all { // one frame of each, so that all have some bytes that have come
			more = n.step([2]int{0, 1}) || more
			for n.step([2]int{1, 0}) {
				more = true
			}
			if due := n.budgets[1].to[0]; due != nil && due.due > sharedDue {
				t.Fatalf("%d bytes are not acknowledged", due.due)
			}
		}
	}
	for i, s := range sends {
		if !s.Over() {
			t.Fatalf("message %d of %d does not come", i, comms)
		}
	}
}

// TestCreditIsReturned: when everything was received, hardly any credit is out, so that it does not add up over
// communicators.
func TestCreditIsReturned(t *testing.T) {
	for _, length := range []int{0, 8, 1000, EagerLimit} {
		n := newNet(2)
		for i := range 20 {
			n.send(0, 1, 0, length, uint64(i))
			n.receive(1, 0, 0, make([]byte, length))
			n.deliver()
			if used := n.all[0].peer(1).used; used >= leastRepaid {
				t.Fatalf("after %d messages of %d bytes, all received, credit of %d is out", i+1, length, used)
			}
		}
		n.wantSettled(t)
	}
}

// TestCreditOverall: however many communicators of two processes have received messages, for each of which too little
// credit is to be returned to be worth a frame, the next one goes at once.
func TestCreditOverall(t *testing.T) {
	const length = leastRepaid - overhead - 1
	first := newNet(2)
	for i := range 2 * sharedCredit / (length + overhead) {
		n := newNet(2)
		n.budgets = first.budgets
		s := n.send(0, 1, 0, length, 1)
		n.receive(1, 0, 0, make([]byte, length))
		if !s.Over() {
			t.Fatalf("the message on communicator %d waits", i)
		}
		if n.deliver(); i%2 == 0 {
			continue
		}
		for rank := range 2 { // what has ended owes nothing
			n.all[rank].Leave()
		}
	}
	to, from := first.budgets[0].to[1], first.budgets[1].to[0]
	if to.credit > sharedOwed+leastRepaid || from.owed > sharedOwed+leastRepaid || to.credit < from.owed {
		t.Errorf("credit of %d is out, and %d is owed", to.credit, from.owed)
	}
}

// TestAbandoned: sends that begin and end, with a receiver that handles nothing meanwhile, leave only so many frames on
// their way. When it does, the places are free again.
func TestAbandoned(t *testing.T) {
	n := newNet(2)
	for range 10 * MaxUnseen {
		if err := late(n.send(0, 1, 0, EagerLimit+1, 1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if frames := len(n.queues[[2]int{0, 1}]); frames > 2*MaxUnseen {
		t.Errorf("%d frames are on their way", frames)
	}
	n.deliver()
	n.wantSettled(t)
	for i := range MaxAnnounced + 1 {
		if n.send(0, 1, 0, EagerLimit+1, uint64(i)); i%MaxUnseen == 0 {
			n.deliver()
		}
	}
	n.deliver()
	if p := n.all[0].peer(1); p.announced != MaxAnnounced || p.backlog.len() != 1 {
		t.Errorf("%d messages are announced, and %d wait", p.announced, p.backlog.len())
	}
}

// TestLongToItself: a long message of a rank to itself comes whole, and another send can end by its context meanwhile.
func TestLongToItself(t *testing.T) {
	const length = 5 * localAtOnce * maxChunk
	n := newNet(1)
	buf := make([]byte, length)
	r := n.receive(0, 0, 0, buf)
	s := n.send(0, 0, 0, length, 7)
	unmatched := n.send(0, 0, 1, length, 8)
	if err := late(unmatched); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	<-s.done
	<-r.done
	if s.err != nil || r.err != nil || !bytes.Equal(buf, pack(length, 7)) {
		t.Errorf("%v, %v, or other bytes", s.err, r.err)
	}
}
