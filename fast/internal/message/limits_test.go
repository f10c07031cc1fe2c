package message

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// TestAcknowledgedAtOnce: no byte that has come stays unacknowledged, because all communicators of two processes share
// what may be under way, and another one may need it.
func TestAcknowledgedAtOnce(t *testing.T) {
	n := newNet(2)
	n.receive(1, 0, 0, make([]byte, 20*maxChunk))
	s := n.send(0, 1, 0, 20*maxChunk, 1)
	n.step([2]int{0, 1}) // that it is announced
	n.step([2]int{1, 0}) // that it is accepted
	for chunks := 1; !s.Over(); chunks++ {
		before := n.all[0].peer(1).inFlight
		if !n.step([2]int{0, 1}) || !n.step([2]int{1, 0}) {
			t.Fatalf("chunk %d does not come, or is not acknowledged, of %d bytes on their way", chunks, before)
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

// TestAbandoned: sends that begin and end, with a receiver that handles nothing meanwhile, leave only so many frames on
// their way. When it does, the places are free again.
func TestAbandoned(t *testing.T) {
	n := newNet(2)
	for range 10 * MaxAnnounced {
		if err := late(n.send(0, 1, 0, EagerLimit+1, 1)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if frames := len(n.queues[[2]int{0, 1}]); frames > 2*MaxAnnounced {
		t.Errorf("%d frames are on their way", frames)
	}
	n.deliver()
	n.wantSettled(t)
	for i := range MaxAnnounced + 1 {
		n.send(0, 1, 0, EagerLimit+1, uint64(i))
	}
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
