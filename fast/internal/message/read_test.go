package message

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/cma"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// newReadingNet returns two ranks that read each other's memory, which is that of this process.
func newReadingNet(t *testing.T) *net {
	var r cma.Reader
	word, into := uint64(7), make([]byte, 8)
	at := uintptr(unsafe.Pointer(&word))
	if got, err := r.Read(os.Getpid(), into, at, at); err != nil || got != word || into[0] != 7 {
		t.Skip("the system does not let a process read its own memory: ", err)
	}
	n := newNet(2)
	n.process = os.Getpid()
	return n
}

// kinds returns the kinds of the frames on a way.
func (n *net) kinds(from, to int) (kinds []kind) {
	for _, b := range n.queues[[2]int{from, to}] {
		f, _ := decode(b)
		kinds = append(kinds, f.kind)
	}
	return kinds
}

// TestRead: a long message takes two frames, however long it is, and shorter ones are sent as always.
func TestRead(t *testing.T) {
	for _, length := range []int{EagerLimit, EagerLimit + 1, piece, 2*piece + 1} {
		for _, first := range []string{"send", "receive"} {
			n := newReadingNet(t)
			buf := make([]byte, length+8)
			var s, r *Op
			if first == "receive" {
				r = n.receive(1, 0, 0, buf)
			}
			s = n.send(0, 1, 0, length, 7)
			there := n.kinds(0, 1)
			n.step([2]int{0, 1})
			if first == "send" {
				r = n.receive(1, 0, 0, buf)
			}
			reads := n.reads(1)
			back := n.kinds(1, 0)
			n.deliver()
			long := length > EagerLimit
			if reads != long || long && (there[0] != announce || len(back) != 1 || back[0] != ack) || len(there) != 1 {
				t.Errorf("%d bytes, %s first: frames %v and %v, read: %v", length, first, there, back, reads)
			}
			if !s.Over() || !r.Over() || s.err != nil || r.err != nil || r.status.Count != length ||
				!bytes.Equal(buf[:length], pack(length, 7)) || buf[length] != 0 {
				t.Errorf("%d bytes, %s first: %v, %v, %v", length, first, s.err, r.err, r.status)
			}
			n.wantSettled(t)
		}
	}
}

// TestCannotRead: what cannot be read, or is not what was announced, is sent.
func TestCannotRead(t *testing.T) {
	const length = 3 * maxChunk
	for what, spoil := range map[string]func(n *net, l *place){
		"no memory":             func(_ *net, l *place) { l.at = 1 },
		"beyond all memory":     func(_ *net, l *place) { l.at = 1<<64 - 1 },
		"no seal":               func(_ *net, l *place) { l.seal = 1 << 63 },
		"another value":         func(_ *net, l *place) { l.unique++ },
		"another process":       func(n *net, _ *place) { n.process = os.Getppid() },
		"no process":            func(n *net, _ *place) { n.process = 1<<31 - 1 },
		"it was found out once": func(n *net, _ *place) { n.all[1].peer(0).unreadable = true },
		"it is not allowed now": func(n *net, _ *place) { n.process = 0 },
	} {
		n := newReadingNet(t)
		buf := make([]byte, length)
		s, way := n.send(0, 1, 0, length, 7), [2]int{0, 1}
		f, _ := decode(n.queues[way][0])
		at, _ := placeOf(f.data)
		spoil(n, &at)
		f.data = at.encode()
		n.queues[way][0] = f.appendTo(nil)
		r := n.receive(1, 0, 0, buf)
		n.step(way)
		n.reads(1)
		if back := n.kinds(1, 0); len(back) != 1 || back[0] != accept || r.Over() || r.moved > 0 {
			t.Errorf("%s: the answer is %v, over: %v", what, back, r.Over())
		}
		if n.deliver(); !s.Over() || !r.Over() || s.err != nil || r.err != nil || !bytes.Equal(buf, pack(length, 7)) {
			t.Errorf("%s: %v, %v, or other bytes", what, s.err, r.err)
		}
		n.wantSettled(t)
	}
}

// endings are what can happen to a message while rank 1 is about to read it, with the rank whose call ends by itself,
// and whether the read has the receive end.
var endings = map[string]struct {
	happens func(n *net, s, r *Op)
	gives   int
	ends    bool
}{
	"the sender gives up":              {func(_ *net, s, _ *Op) { _ = late(s) }, 0, false},
	"the sender gives up, and it came": {func(n *net, s, _ *Op) { _ = late(s); n.step([2]int{0, 1}) }, 0, false},
	"the receiver gives up":            {func(*net, *Op, *Op) {}, 1, true},
}

// TestEndsWhileRead: when a call ends while its message is read, it returns at once, and the other one fails because of
// that. What the sender writes to its buffer then is never taken for the message, and of the receiver's buffer nothing
// is written any more.
func TestEndsWhileRead(t *testing.T) {
	for what, ending := range endings {
		n := newReadingNet(t)
		data, buf := bytes.Repeat([]byte{1}, EagerLimit+1), make([]byte, EagerLimit+1)
		s := n.all[0].Send(&Request{Name: "Send", Peer: 1, Type: spec.TypeBool, Buf: data})
		r := n.all[1].Receive(&Request{Name: "Recv", Peer: 0, Type: spec.TypeBool, Buf: buf})
		n.step([2]int{0, 1})
		<-r.toRead
		r.read(func() bool {
			if ending.happens(n, s, r); s.Over() {
				copy(data, bytes.Repeat([]byte{2}, len(data))) // the sender's program goes on
			}
			return ending.ends
		})
		if ending.ends {
			_ = late(r)
		}
		n.deliver()
		ops := []*Op{s, r}
		var peer *wire.PeerError
		if !errors.Is(ops[ending.gives].err, context.DeadlineExceeded) || !errors.As(ops[1-ending.gives].err, &peer) ||
			peer.Rank != ending.gives || !errors.Is(peer, context.DeadlineExceeded) {
			t.Errorf("%s: %v and %v", what, s.err, r.err)
		}
		if i := bytes.IndexByte(buf, 2); i >= 0 {
			t.Errorf("%s: byte %d is no bool", what, i)
		}
		n.wantSettled(t)
	}
}

// TestGoneWhileRead: a receive fails when the rank goes whose message it reads. Its goroutine stops, and leaves bools.
func TestGoneWhileRead(t *testing.T) {
	n := newReadingNet(t)
	data, buf := bytes.Repeat([]byte{2}, 3*piece), make([]byte, 3*piece)
	n.all[0].Send(&Request{Name: "Send", Peer: 1, Type: spec.TypeBool, Buf: data})
	r := n.all[1].Receive(&Request{Name: "Recv", Peer: 0, Type: spec.TypeBool, Buf: buf})
	n.step([2]int{0, 1})
	<-r.toRead
	pieces := 0
	r.read(func() bool {
		if pieces++; pieces == 2 {
			n.all[1].Gone(0, wire.ErrDied)
		}
		return false
	})
	if !errors.Is(r.err, wire.ErrDied) || buf[0] != 1 || bytes.IndexByte(buf, 2) >= 0 || buf[2*piece] != 0 {
		t.Errorf("%v, and the pieces begin with %d and %d", r.err, buf[0], buf[2*piece])
	}
	if len(n.queues[[2]int{1, 0}]) > 0 {
		t.Error("a rank that is gone is answered")
	}
}

// TestWaitReads: who waits for a receive reads the message, also if the receive was posted before.
func TestWaitReads(t *testing.T) {
	n := newReadingNet(t)
	buf := make([]byte, 2*EagerLimit)
	r := n.receive(1, 0, 0, buf)
	data := pack(len(buf), 7)
	s := n.all[0].Send(&Request{Name: "Send", Peer: 1, Type: spec.TypeUint8, Buf: data})
	n.step([2]int{0, 1})
	if status, err := r.Wait(t.Context(), nil); err != nil || status.Count != len(buf) || !bytes.Equal(buf, data) {
		t.Errorf("%v, %v", status, err)
	}
	if n.deliver(); !s.Over() || s.err != nil || s.seal.Load() != 0 {
		t.Errorf("%v, and the seal is %d", s.err, s.seal.Load())
	}
	runtime.KeepAlive(data)
}

// TestHostileReads: a rank breaks the rules that sends bytes while they are read, or that acknowledges what it has
// asked for and not got.
func TestHostileReads(t *testing.T) {
	for what, hostile := range map[string]func(n *net){
		"bytes of what is read": func(n *net) {
			n.receive(0, 1, 0, make([]byte, EagerLimit+1))
			f := announceFrame(1, EagerLimit+1)
			f.data = place{1 << 20, 1 << 20, 1}.encode()
			n.hand(f, frame{kind: data, id: 1, data: []byte{1}})
		},
		"an end of what was accepted": func(n *net) {
			n.send(0, 1, 0, 3*Window, 1)
			n.hand(frame{kind: accept, id: 1}, frame{kind: ack, id: 1})
		},
		"an end of what cannot be read": func(n *net) {
			n.process = 0
			n.send(0, 1, 0, EagerLimit+1, 1)
			n.hand(frame{kind: ack, id: 1})
		},
	} {
		n := newReadingNet(t)
		if hostile(n); !errors.Is(n.broken[0], wire.ErrDied) {
			t.Errorf("%s: the communicator is given up because of %v", what, n.broken[0])
		}
	}
}
