package message

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// hand has rank 1 send rank 0 frames that it makes up.
func (n *net) hand(frames ...frame) {
	for _, f := range frames {
		n.all[0].Handle(1, f.appendTo(nil))
	}
}

func eagerFrame(bytes int) frame {
	return frame{kind: eager, typ: spec.TypeUint8, data: make([]byte, bytes)}
}

func announceFrame(id uint64, bytes int) frame {
	return frame{kind: announce, typ: spec.TypeUint8, id: id, n: uint64(bytes)}
}

// TestHostile: a rank that breaks the rules is given up, and calls that wait for it fail, while a receive from another
// one goes on. Its buffers are as they were beyond what was announced.
func TestHostile(t *testing.T) {
	long := func(n *net) *Op { return n.send(0, 1, 0, 3*maxChunk, 1) }
	for what, hostile := range map[string]func(n *net){
		"no frame":      func(n *net) { n.all[0].Handle(1, []byte{1}) },
		"a wrong frame": func(n *net) { n.hand(frame{kind: seen + 1}) },
		"too many bytes of eager messages": func(n *net) {
			for range EagerCredit/(1000+overhead) + 1 {
				n.hand(eagerFrame(1000))
			}
		},
		"too many eager messages": func(n *net) {
			for range EagerCredit/overhead + 1 {
				n.hand(eagerFrame(0))
			}
		},
		"too many announcements": func(n *net) {
			for id := range MaxAnnounced + 1 {
				n.hand(announceFrame(uint64(id+1), 1<<30))
			}
		},
		"an announcement twice": func(n *net) { n.hand(announceFrame(1, 10), announceFrame(1, 10)) },
		"an announcement of what is on its way": func(n *net) {
			n.receive(0, 1, 0, make([]byte, 10))
			n.hand(announceFrame(1, 10), announceFrame(1, 10))
		},
		"more bytes than were announced": func(n *net) {
			n.receive(0, 1, 0, make([]byte, 100))
			n.hand(announceFrame(1, 10), frame{kind: data, id: 1, data: make([]byte, 8)},
				frame{kind: data, id: 1, data: make([]byte, 3)})
		},
		"an accept of what was not announced": func(n *net) { n.hand(frame{kind: accept, id: 1}) },
		"a second accept": func(n *net) {
			long(n)
			n.hand(frame{kind: accept, id: 1}, frame{kind: accept, id: 1})
		},
		"an accept of nothing": func(n *net) {
			for range EagerCredit/overhead + 1 {
				n.send(0, 1, 0, 0, 1)
			}
			n.hand(frame{kind: accept, id: 1})
		},
		"credit that was not spent": func(n *net) { n.hand(frame{kind: credit, n: 1}) },
		"more credit than was spent": func(n *net) {
			n.send(0, 1, 0, 8, 1)
			n.hand(frame{kind: credit, n: 8 + overhead + 1})
		},
		"an ack of what was not sent": func(n *net) { n.hand(frame{kind: ack, n: 1}) },
		"an ack of more than was sent": func(n *net) {
			long(n)
			n.hand(frame{kind: accept, id: 1}, frame{kind: ack, n: 3*maxChunk + 1})
		},
		"an end of what has not been sent": func(n *net) {
			long(n)
			n.hand(frame{kind: ack, id: 1})
		},
		"sight of what was not announced": func(n *net) {
			long(n)
			n.hand(frame{kind: seen, n: 2})
		},
		"bytes of what was not accepted": func(n *net) {
			n.hand(announceFrame(1, 10), frame{kind: data, id: 1, data: []byte{1}})
		},
		"bytes of what was not announced":  func(n *net) { n.hand(frame{kind: data, id: 1, data: []byte{1}}) },
		"announcements in another order":   func(n *net) { n.hand(announceFrame(2, 10), announceFrame(1, 10)) },
		"an end of what was not announced": func(n *net) { n.hand(frame{kind: ack, id: 1}) },
		"an abandon of what was not announced": func(n *net) {
			n.hand(frame{kind: abandon, id: 1, fate: canceled})
		},
		"a refusal of what was not announced": func(n *net) { n.hand(frame{kind: refuse, id: 1, fate: consumed}) },
	} {
		t.Run(what, func(t *testing.T) {
			n := newNet(3)
			waits := n.receive(0, 1, 9, make([]byte, 8))
			other, any := n.receive(0, 2, 0, make([]byte, 8)), n.receive(0, Any, 9, make([]byte, 8))
			hostile(n)
			var peer *wire.PeerError
			if err := n.broken[0]; !errors.As(err, &peer) || peer.Rank != 1 || !errors.Is(err, wire.ErrDied) {
				t.Fatalf("the communicator is given up because of %v", err)
			}
			if !waits.Over() || !errors.As(waits.err, &peer) || peer.Rank != 1 || other.Over() || any.Over() {
				t.Errorf("%v; over: %v and %v", waits.err, other.Over(), any.Over())
			}
			if arrived := n.all[0].peer(1); len(arrived.offers)+len(arrived.transfers)+len(arrived.pending) > 0 {
				t.Errorf("%+v is kept", arrived)
			}
			n.hand(eagerFrame(1), announceFrame(99, 1))
			if held := n.all[0].matcher.arrived.len(); held > EagerCredit/overhead {
				t.Errorf("%d messages are held", held)
			}
		})
	}
}

// TestBools: whatever bytes come as bools, the receiver has 0 or 1, also if the call fails.
func TestBools(t *testing.T) {
	n := newNet(2)
	receive := func(buf []byte) *Op {
		return n.all[0].Receive(&Request{Name: "Recv", Peer: 1, Type: spec.TypeBool, Buf: buf})
	}
	whole, part := make([]byte, 3), make([]byte, 20)
	one, other := receive(whole), receive(part)
	n.hand(frame{kind: eager, typ: spec.TypeBool, data: []byte{0, 1, 77}},
		frame{kind: announce, typ: spec.TypeBool, id: 1, n: 20},
		frame{kind: data, id: 1, data: []byte{2, 0, 255, 1, 128, 0, 0, 0, 3}}, frame{kind: abandon, id: 1, fate: canceled})
	if !one.Over() || !bytes.Equal(whole, []byte{0, 1, 1}) {
		t.Errorf("a message of bools: %v", whole)
	}
	if !other.Over() || other.err == nil || !bytes.Equal(part[:9], []byte{1, 0, 1, 1, 1, 0, 0, 0, 1}) {
		t.Errorf("a part of a message of bools: %v, %v", part, other.err)
	}
	short, full := []byte{7, 7, 7}, []byte{7, 7, 7}
	less, more := receive(short), receive(full)
	n.hand(frame{kind: eager, typ: spec.TypeBool, data: []byte{77}},
		frame{kind: eager, typ: spec.TypeBool, data: make([]byte, 4)})
	if !less.Over() || !bytes.Equal(short, []byte{1, 7, 7}) || !errors.Is(more.err, ErrTruncated) ||
		!bytes.Equal(full, []byte{7, 7, 7}) {
		t.Errorf("beside a shorter message is %v, of a longer one %v, %v", short, full, more.err)
	}
}

// TestLateFrames: frames about messages that are over or were given up on this side meanwhile break no rule.
func TestLateFrames(t *testing.T) {
	n := newNet(2)
	s := n.send(0, 1, 0, 3*maxChunk, 1)
	r := n.receive(0, 1, 0, make([]byte, 100))
	n.hand(announceFrame(1, 10), frame{kind: data, id: 1, data: make([]byte, 8)})
	if err := errors.Join(late(s), late(r)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	n.hand(frame{kind: accept, id: 1}, frame{kind: ack, id: 1}, frame{kind: refuse, id: 1, fate: consumed},
		frame{kind: data, id: 1, data: make([]byte, 2)}, frame{kind: abandon, id: 1, fate: deadline})
	if n.broken[0] != nil {
		t.Error(n.broken[0])
	}
	acked := 0
	for _, b := range n.queues[[2]int{0, 1}] {
		if f, _ := decode(b); f.kind == ack {
			acked += int(f.n)
		}
	}
	if acked != 10 {
		t.Errorf("%d bytes were acknowledged", acked)
	}
}

// TestEitherGivesUp: when the context of one side ends while the bytes are on their way, the call of the other side
// fails with an error that says so, and nothing is written to the buffer any more.
func TestEitherGivesUp(t *testing.T) {
	for what, gives := range map[string]int{"the sender": 0, "the receiver": 1} {
		for _, why := range []error{context.Canceled, context.DeadlineExceeded} {
			n := newNet(2)
			buf := make([]byte, Window+8*maxChunk)
			ops := []*Op{n.send(0, 1, 0, len(buf), 1), n.receive(1, 0, 0, buf)}
			n.step([2]int{0, 1})
			n.step([2]int{1, 0})
			n.step([2]int{0, 1})
			if ops[0].Over() || ops[1].Over() || buf[maxChunk-1] == 0 && buf[maxChunk-8] == 0 || buf[maxChunk] != 0 {
				t.Fatal("one chunk should have come")
			}
			_, err := ops[gives].end(&wire.TimeoutError{Err: why})
			then := slices.Clone(buf)
			n.deliver()
			var peer *wire.PeerError
			var timeout *wire.TimeoutError
			if !errors.Is(err, why) {
				t.Error(err)
			}
			if err := ops[1-gives].err; !errors.As(err, &peer) || peer.Rank != gives || !errors.As(err, &timeout) ||
				!errors.Is(err, why) || !slices.Equal(timeout.Waiting, []int{1 - gives}) {
				t.Errorf("%s gives up: %v", what, err)
			}
			if gives == 1 && !bytes.Equal(buf, then) {
				t.Error("the buffer was written to after the call")
			}
			n.wantSettled(t)
			o := n.receive(1, 0, 0, make([]byte, 8))
			if n.send(0, 1, 0, 8, 1); o.Over() {
				t.Error("it is over before anything has come")
			}
			if n.deliver(); !o.Over() || o.err != nil {
				t.Error(o.err)
			}
		}
	}
}

// TestEndedTellsNothing: a rank whose communicator has ended gives up messages whose bytes are on their way, and does
// not say that a context was canceled. The other one learns of the end, and so what its call has failed with.
func TestEndedTellsNothing(t *testing.T) {
	for _, reads := range []bool{false, true} {
		for _, why := range []error{wire.ErrClosed, wire.ErrAborted} {
			for ends := range 2 {
				n := newNet(2)
				if reads {
					n.process = os.Getpid()
				}
				buf := make([]byte, Window+8*maxChunk)
				ops := []*Op{n.send(0, 1, 0, len(buf), 1), n.receive(1, 0, 0, buf)}
				n.step([2]int{0, 1})
				n.step([2]int{1, 0})
				if why == wire.ErrClosed {
					n.all[ends].Leave()
				}
				if _, err := ops[ends].end(why); err != why {
					t.Error(err)
				}
				for n.step([2]int{0, 1}) || n.step([2]int{1, 0}) {
				}
				if ops[1-ends].Over() {
					t.Errorf("rank %d has ended with %v, and the other call with %v", ends, why, ops[1-ends].err)
				}
				n.all[1-ends].Gone(ends, why)
				if err := ops[1-ends].err; !errors.Is(err, why) || errors.Is(err, context.Canceled) {
					t.Errorf("rank %d has ended with %v, and the other call with %v", ends, why, err)
				}
			}
		}
	}
}

// TestAbandonedIsAcknowledged: all bytes that have come are acknowledged when their message is given up, also where so
// few have come that it was not worth a frame yet.
func TestAbandonedIsAcknowledged(t *testing.T) {
	for what, give := range map[string]func(n *net, s, r *Op) error{
		"by the sender":   func(_ *net, s, _ *Op) error { return late(s) },
		"by the receiver": func(n *net, _, r *Op) error { n.deliverTo(1); return late(r) },
		"by both":         func(n *net, s, r *Op) error { n.deliverTo(1); return errors.Join(late(s), late(r)) },
	} {
		n := newNet(2)
		n.send(0, 1, 0, 3*maxChunk, 1)
		s := n.send(0, 1, 0, 2*Window, 2)
		n.receive(1, 0, 0, make([]byte, 3*maxChunk))
		r := n.receive(1, 0, 0, make([]byte, 2*Window))
		n.deliverTo(1)
		for n.step([2]int{1, 0}) { // of the 4 chunks that are sent now, the last one is of the second message
		}
		if err := give(n, s, r); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
		n.deliver()
		n.wantSettled(t)
	}
}

// deliverTo delivers what the other one of two ranks has sent to a rank.
func (n *net) deliverTo(rank int) {
	for n.step([2]int{1 - rank, rank}) {
	}
}

// FuzzHandle: whatever frames come, what is held is bounded, no buffer is exceeded, and all calls end.
func FuzzHandle(f *testing.F) {
	var all []byte
	for _, x := range frames() {
		b := x.appendTo(nil)
		all = append(append(all, byte(min(len(b), 255))), b[:min(len(b), 255)]...)
	}
	from := make([]byte, EagerLimit+8)
	from[0] = 1
	at := uint64(uintptr(unsafe.Pointer(&from[0])))
	x := placed(uint64(len(from)), place{at, at, 1}.encode())
	x.tag = 2
	f.Add(append([]byte{headBytes + placeBytes}, x.appendTo(nil)...))
	f.Add(all)
	f.Add(append([]byte{headBytes}, frames()[3].appendTo(nil)...))
	f.Fuzz(func(t *testing.T, script []byte) {
		n := newNet(2)
		n.process = os.Getpid()
		long := bytes.Repeat([]byte{0xff}, EagerLimit+40)
		buf := long[EagerLimit:]
		ops := []*Op{n.receive(0, 1, 2, long[:EagerLimit+8:EagerLimit+8]), n.receive(0, 1, Any, buf[8:16:16]),
			n.receive(0, Any, 1, buf[16:24:24]),
			n.send(0, 1, 0, 3*maxChunk, 1), n.send(0, 1, 0, 8, 1),
			n.all[0].Probe(&Request{Name: "Probe", Peer: 1, Tag: 3})}
		for len(script) > 0 {
			length := min(int(script[0]), len(script)-1)
			n.all[0].Handle(1, script[1:1+length])
			script = script[1+length:]
			n.reads(0)
			p := n.all[0].peer(1)
			if p.held > EagerCredit && n.broken[0] == nil || len(p.offers) > MaxAnnounced || p.inFlight > Window ||
				p.used < 0 {
				t.Fatalf("%+v", p)
			}
		}
		if len(bytes.Trim(buf[24:], "\xff")) > 0 {
			t.Errorf("beyond the buffers is %x", buf[24:])
		}
		for _, o := range ops {
			if _, err := o.end(wire.ErrAborted); !o.Over() || o.what == receives && err == nil && o.status.Count > EagerLimit+8 {
				t.Errorf("%+v, %v", o, err)
			}
		}
	})
}
