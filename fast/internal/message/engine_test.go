package message

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// net is the control plane of some ranks. It delivers frames when it is told to. Nothing here waits, so there is one
// goroutine, but for what a rank sends to itself.
type net struct {
	all     []*Engine
	budgets []Budget
	queues  map[[2]int][][]byte // by sender and receiver
	broken  []error             // by rank, why it has given the communicator up
	process int                 // of all ranks, if they may read each other's memory
}

// plug is what one rank sees of it.
type plug struct {
	net  *net
	rank int
}

func (p plug) Send(to int, _ uint8, body []byte) {
	way := [2]int{p.rank, to}
	p.net.queues[way] = append(p.net.queues[way], slices.Clone(body))
}
func (p plug) Process(int) int               { return p.net.process }
func (p plug) Share(rank int) (*Budget, int) { return &p.net.budgets[p.rank], rank }
func (p plug) Broken(err error)              { p.net.broken[p.rank] = err }

// newNet returns so many ranks.
func newNet(size int) *net {
	n := &net{queues: make(map[[2]int][][]byte), budgets: make([]Budget, size), broken: make([]error, size)}
	for rank := range size {
		n.all = append(n.all, New(rank, size, plug{n, rank}))
	}
	return n
}

// step delivers the next frame on a way, and reports whether there was one.
func (n *net) step(way [2]int) bool {
	q := n.queues[way]
	if len(q) == 0 {
		return false
	}
	n.queues[way] = q[1:]
	n.all[way[1]].Handle(way[0], q[0])
	return true
}

// reads has rank's receives read the messages that are to be read where they lie, and reports whether there was one.
func (n *net) reads(rank int) (any bool) {
	var all []*Op
	for o := range n.all[rank].waiting {
		if len(o.toRead) > 0 {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b *Op) int { return cmp.Compare(a.order, b.order) })
	for _, o := range all {
		<-o.toRead
		o.read(func() bool { return false })
	}
	return len(all) > 0
}

// deliver delivers all frames, and those that are sent because of them.
func (n *net) deliver() {
	for more := true; more; {
		more = false
		for from := range n.all {
			more = n.all[from].serves() || more
			more = n.reads(from) || more
			for to := range n.all {
				for n.step([2]int{from, to}) {
					more = true
				}
			}
		}
	}
}

// serves waits until no goroutine handles what a rank has sent to itself, and reports whether one has.
func (e *Engine) serves() (has bool) {
	for is := true; is; runtime.Gosched() {
		e.mu.Lock()
		is = e.serving
		e.mu.Unlock()
		has = has || is
	}
	return has
}

// send has a rank begin to send so many bytes, which begin with the number.
func (n *net) send(from, to, tag, length int, number uint64) *Op {
	return n.all[from].Send(&Request{Name: "Send", Peer: to, Tag: tag, Type: spec.TypeUint8, Buf: pack(length, number)})
}

// receive has a rank begin to receive bytes into buf.
func (n *net) receive(rank, from, tag int, buf []byte) *Op {
	return n.all[rank].Receive(&Request{Name: "Recv", Peer: from, Tag: tag, Type: spec.TypeUint8, Buf: buf})
}

// pack returns so many bytes, at least 8, that begin with a number and repeat it.
func pack(length int, number uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, number)
	return bytes.Repeat(b, length/8+1)[:length]
}

// late ends o as the end of its context does.
func late(o *Op) error {
	_, err := o.end(&wire.TimeoutError{Err: context.DeadlineExceeded})
	return err
}

// wantSettled checks that nothing is under way between the ranks, and that senders and receivers agree on that.
func (n *net) wantSettled(t rapid.TB) {
	t.Helper()
	for rank, e := range n.all {
		window, credit := 0, 0
		for to, p := range e.peers {
			there := n.all[to].peer(rank)
			if p.inFlight != 0 || len(p.pending)+len(p.active)+p.backlog.len() > 0 ||
				len(there.transfers)+len(there.offers) > 0 || p.announced != 0 {
				t.Errorf("rank %d to %d: %+v, and there %+v", rank, to, p.sender, there.arrival)
			}
			unreceived := 0
			for _, m := range elements(&n.all[to].matcher.arrived) {
				if m.source == rank && m.id == 0 {
					unreceived += m.length + overhead
				}
			}
			if there.due != 0 {
				t.Errorf("rank %d to %d: %d bytes that have come were not acknowledged", rank, to, there.due)
			}
			if p.used != there.held || there.owed+unreceived != there.held {
				t.Errorf("rank %d to %d: credit of %d is used, and %d held, for %d bytes, with %d owed", rank, to,
					p.used, there.held, unreceived, there.owed)
			}
			if to != rank {
				credit += p.used
				window += p.inFlight
			}
		}
		spent := 0
		for from, s := range n.budgets[rank].to {
			if s.due != 0 {
				t.Errorf("rank %d: %d bytes from process %d are counted as not acknowledged", rank, s.due, from)
			}
			spent += s.credit
			window -= s.window
		}
		if window != 0 || spent != credit {
			t.Errorf("rank %d: %d bytes of the window and %d of the credit are lost", rank, window, credit-spent)
		}
		if len(e.waiting) > 0 || n.broken[rank] != nil {
			t.Errorf("rank %d: %d calls wait; %v", rank, len(e.waiting), n.broken[rank])
		}
	}
}

// TestCredit: a rank that receives nothing holds no more than the credit, and as many announcements as may be. The
// sender keeps the rest, and all arrive in order when the rank receives.
func TestCredit(t *testing.T) {
	for _, to := range []int{0, 1} {
		n := newNet(2)
		const length, deliveries, messages = 100, 128, MaxAnnounced + 1024
		atOnce := EagerCredit / (length + overhead)
		sends := make([]*Op, messages)
		for i := range sends {
			if sends[i] = n.send(0, to, i%3, length, uint64(i)); i%deliveries == 0 {
				n.deliver()
			}
		}
		n.deliver()
		over := 0
		for _, o := range sends {
			if o.Over() {
				over++
			}
		}
		if over != atOnce {
			t.Errorf("%d sends are over, want %d", over, atOnce)
		}
		held, arrived := n.all[to].peer(0).held, n.all[to].matcher.arrived.len()
		if held > EagerCredit || arrived != atOnce+MaxAnnounced {
			t.Errorf("%d bytes and %d messages are held", held, arrived)
		}
		for first := 0; first < messages; first += deliveries {
			var bufs [deliveries][length]byte
			var got [deliveries]*Op
			for i := range got {
				got[i] = n.receive(to, Any, Any, bufs[i][:])
			}
			n.deliver()
			for i, o := range got {
				number := first + i
				if !o.Over() || o.err != nil || !bytes.Equal(bufs[i][:], pack(length, uint64(number))) || o.status.Tag != number%3 {
					t.Fatalf("message %d: %+v", number, o)
				}
			}
		}
		n.wantSettled(t)
		if n.all[0].peer(to).used >= EagerCredit/4 {
			t.Errorf("%d bytes of the credit were not returned", n.all[0].peer(to).used)
		}
	}
}

// TestAnnouncedPassCredit: a receive that matches a message gets it, even if messages before it have spent the credit.
func TestAnnouncedPassCredit(t *testing.T) {
	n := newNet(2)
	for range 200 {
		n.send(0, 1, 1, 1000, 0)
	}
	o := n.send(0, 1, 2, 1000, 7)
	r := n.receive(1, 0, 2, make([]byte, 1000))
	if n.deliver(); !o.Over() || !r.Over() || r.err != nil {
		t.Error("the send or the receive waits")
	}
}

// TestUnseen: a rank that handles nothing has few announcements on their way to it. When it does, a receive gets the
// last of many messages, which no receive has matched before.
func TestUnseen(t *testing.T) {
	n := newNet(2)
	const many = 20 * MaxUnseen
	for tag := range many {
		n.send(0, 1, tag, 2*EagerLimit, uint64(tag))
	}
	if frames := len(n.queues[[2]int{0, 1}]); frames > EagerCredit/overhead+MaxUnseen {
		t.Errorf("%d frames are on their way", frames)
	}
	buf := make([]byte, 2*EagerLimit)
	r := n.receive(1, 0, many-1, buf)
	if n.deliver(); !r.Over() || binary.LittleEndian.Uint64(buf) != many-1 {
		t.Errorf("the receive is over: %v; %x", r.Over(), buf[:8])
	}
}

// TestBacklog: what has waited in the sender keeps its place, and goes as soon as there is credit for it.
func TestBacklog(t *testing.T) {
	const length = 1000
	n := newNet(2)
	spent := 0
	for n.send(0, 1, 0, length, 1).Over() {
		spent++
	}
	for range MaxAnnounced - 1 { // the last one above was announced
		n.send(0, 1, 0, length, 1)
	}
	waits := n.send(0, 1, 1, length, 2)
	if n.deliver(); waits.Over() || waits.id != 0 {
		t.Fatal("it does not wait for credit")
	}
	for range spent {
		n.receive(1, 0, 0, make([]byte, length))
	}
	if n.deliver(); !waits.Over() {
		t.Error("it waits although there is credit")
	}
	long := n.send(0, 1, 1, 2*EagerLimit, 3)
	short := n.send(0, 1, 1, length, 4)
	if n.deliver(); long.id != 0 || short.Over() {
		t.Error("a message has overtaken one that waits")
	}
	for _, number := range []uint64{2, 3, 4} {
		n.receive(1, 0, 0, make([]byte, 2*EagerLimit)) // so that one more can be announced
		n.deliver()
		buf := make([]byte, 2*EagerLimit)
		n.receive(1, 0, 1, buf)
		if n.deliver(); binary.LittleEndian.Uint64(buf) != number {
			t.Errorf("message %x has come, want %d", buf[:8], number)
		}
	}
}

// TestWindow: a sender has at most a window under way to one rank, whatever messages it is of, and the communicators of
// a process together at most their budget.
func TestWindow(t *testing.T) {
	const comms, length = 8, 3 << 20
	var all []*net
	var ops []*Op
	for range comms {
		n := newNet(2)
		if all = append(all, n); len(all) > 1 {
			n.budgets = all[0].budgets
		}
		for range 2 {
			ops = append(ops, n.send(0, 1, 0, length, 1), n.receive(1, 0, 0, make([]byte, length)))
		}
	}
	most := 0
	for more := true; more; {
		more = false
		total := 0
		for _, n := range all {
			under := 0
			for _, b := range n.queues[[2]int{0, 1}] {
				under += len(b) - headBytes
			}
			if under > Window {
				t.Fatalf("%d bytes are under way", under)
			}
			total += under
		}
		most = max(most, total)
		for _, n := range all { // all announcements and accepts first, so that all want to send
			more = n.step([2]int{0, 1}) || more
			for n.step([2]int{1, 0}) {
				more = true
			}
		}
	}
	if most > sharedWindow || most < sharedWindow-2*maxChunk {
		t.Errorf("at most %d bytes were under way, of %d", most, sharedWindow)
	}
	for i, o := range ops {
		if !o.Over() || o.err != nil {
			t.Errorf("call %d: over %v, %v", i, o.Over(), o.err)
		}
	}
	for _, n := range all {
		for _, e := range n.all {
			e.Leave()
		}
	}
	for rank := range 2 {
		for process, s := range all[0].budgets[rank].to {
			if s.window != 0 || s.credit != 0 {
				t.Errorf("rank %d to %d: %+v", rank, process, s)
			}
		}
	}
}

// TestLeaveGivesBack: what a communicator has of the budget is free when it is closed, and when the rank is gone.
func TestLeaveGivesBack(t *testing.T) {
	for what, end := range map[string]func(e *Engine){
		"left": (*Engine).Leave,
		"gone": func(e *Engine) { e.Gone(1, wire.ErrClosed) },
	} {
		n := newNet(2)
		n.send(0, 1, 0, 100, 0)
		n.send(0, 1, 0, 3<<20, 0)
		n.receive(1, 0, 0, make([]byte, 100))
		n.receive(1, 0, 0, make([]byte, 3<<20))
		n.step([2]int{0, 1})
		n.step([2]int{0, 1})
		n.step([2]int{1, 0})
		s := n.budgets[0].to[1]
		before := *s
		end(n.all[0])
		if before.window != Window || before.credit != 100+overhead || s.window != 0 || s.credit != 0 {
			t.Errorf("%s: %+v, and before %+v", what, s, before)
		}
	}
}

// TestLeaveSendsNothing: once this rank has closed the communicator, none of the sends that wait succeeds because
// another one has ended, and none takes anything of the budget.
func TestLeaveSendsNothing(t *testing.T) {
	n := newNet(2)
	var waits []*Op
	for len(waits) < 2*MaxAnnounced {
		if o := n.send(0, 1, 0, 100, 1); !o.Over() {
			waits = append(waits, o)
		}
	}
	n.receive(1, 0, 0, make([]byte, 100))
	n.all[0].Leave()
	for i, o := range waits {
		if _, err := o.end(wire.ErrClosed); err != wire.ErrClosed {
			t.Fatalf("send %d: %v", i, err)
		}
	}
	if s := n.budgets[0].to[1]; s.credit != 0 || s.window != 0 {
		t.Errorf("%+v is taken", s)
	}
}
