package exec

import (
	"context"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Send lists a message to the rank to, for the next Exchange. Like all messages, one without bytes is left out: both
// ranks know its length. See sendsNothing for the exception.
func (x *Call) Send(to int, data []byte) {
	if len(data) > 0 {
		s := x.send()
		s.Peer, s.Data = to, data
	} else if x.sendsNothing() {
		x.Signal(to)
	}
}

// sendsNothing reports whether messages without bytes are sent: where all ranks know the lengths of all blocks, a rank
// that has other lengths learns so from any message.
func (x *Call) sendsNothing() bool { return x.blocks != nil && x.blocks.common != nil }

// listsReceive reports whether a receive into a place is listed. One that is sent nothing is listed here.
func (x *Call) listsReceive(from int, into []byte) bool {
	if x.receives = len(into) > 0; !x.receives && x.sendsNothing() {
		x.Await(from)
	}
	return x.receives
}

// send returns one more send, for the caller to fill in place: a processor that copies in large pieces what was just
// stored word by word has to wait for those stores.
func (x *Call) send() *wire.Send {
	n := len(x.sends)
	x.sends = slices.Grow(x.sends, 1)[:n+1]
	return &x.sends[n]
}

// recv returns one more receive, for the caller to fill in place.
func (x *Call) recv() *wire.Recv {
	n := len(x.recvs)
	x.recvs = slices.Grow(x.recvs, 1)[:n+1]
	return &x.recvs[n]
}

// Recv lists a message of the rank from that fills into.
func (x *Call) Recv(from int, into []byte) {
	if x.listsReceive(from, into) {
		r := x.recv()
		r.Peer, r.Into = from, into
	}
}

// RecvReduce lists a message of the rank from that is an operand: into = with ⊕ received, or received ⊕ with if
// receivedFirst.
func (x *Call) RecvReduce(from int, into, with []byte, receivedFirst bool) {
	if x.listsReceive(from, into) {
		r := x.recv()
		r.Peer, r.Into, r.Kernel, r.With, r.ReceivedFirst = from, into, x.Kernel, with, receivedFirst
	}
}

// Borrow is Recv for operands that only Reduce reads. Reduce may then find them where they arrived, with into
// unchanged.
func (x *Call) Borrow(from int, into []byte) {
	if x.listsReceive(from, into) {
		r := x.recv()
		r.Peer, r.Into, r.Lend = from, into, true
		x.borrowed = append(x.borrowed, into)
	}
}

// AfterSend marks the receive listed last: where the send to the same rank has the same memory, each part of it is
// overwritten only after it was sent. The step must have no other send to that rank, which might be overwritten
// earlier.
func (x *Call) AfterSend() {
	if x.receives {
		x.recvs[len(x.recvs)-1].AfterSend = true
	}
}

// Signal lists an empty message to the rank to. Unlike data without bytes it is sent.
func (x *Call) Signal(to int) {
	x.send().Peer = to
}

// Await lists an empty message of the rank from.
func (x *Call) Await(from int) {
	x.recv().Peer = from
}

// Exchange makes the messages listed since the last Exchange, concurrently, and returns when all are complete.
func (x *Call) Exchange(ctx context.Context) error {
	if len(x.loans) > 0 { // they were for the step before, also where this one has no messages
		clear(x.loans)
		x.loans = x.loans[:0]
	}
	if len(x.sends)+len(x.recvs) == 0 || x.together {
		return nil
	}
	if !x.Begun {
		x.announce()
	}
	x.lent = false // the transport reclaims what it lent
	x.Executor.EventLog.list(x, 0, 0)
	x.Executor.EventLog.step()
	err := x.Executor.Transport.Exchange(ctx, x.sends, x.recvs)
	x.Executor.EventLog.done(err)
	if err == nil && len(x.borrowed) > 0 {
		x.findLoans()
	}
	x.forget()
	return err
}

// findLoans records what the transport lent in the last Exchange.
func (x *Call) findLoans() {
	n := 0
	for i := range x.recvs {
		if !x.recvs[i].Lend {
			continue
		}
		if place, data := unsafe.SliceData(x.borrowed[n]), x.recvs[i].Into; place != unsafe.SliceData(data) {
			x.loans, x.lent = append(x.loans, loan{place, data}), true
		}
		n++
	}
	x.borrowed = x.borrowed[:0]
}

// release gives back everything that is lent.
func (x *Call) release() {
	clear(x.loans)
	x.loans = x.loans[:0]
	if x.lent {
		x.lent = false
		x.Executor.Transport.(transport.Lender).Release()
	}
}

// forget drops the listed messages, so that the caller's memory can be garbage collected. There are few: loops take
// less time than clear, which calls the runtime where there are pointers (4 ns of the 80 of BenchmarkPath).
func (x *Call) forget() {
	for i := range x.sends {
		s := &x.sends[i]
		*s = wire.Send{}
	}
	for i := range x.recvs {
		r := &x.recvs[i]
		*r = wire.Recv{}
	}
	x.sends, x.recvs = x.sends[:0], x.recvs[:0]
}

// announce tells the flight recorder and the transport about the call, which they do not know.
func (x *Call) announce() {
	x.record()
	if x.Executor.Transport != nil {
		x.Executor.Transport.Begin(x.mark)
	}
}

// record tells the flight recorder about the call, once.
func (x *Call) record() {
	if x.Begun {
		return
	}
	x.Begun = true
	if x.Executor.Recorder != nil {
		x.Executor.Recorder.Begin(x.prepared, x.Seq(), x.bytes())
	}
}

// bytes returns the length of the larger of the rank's buffers.
func (x *Call) bytes() int { return max(len(x.In.Data), len(x.Out.Data)) }

// conclude announces a call that has had no messages by an empty Exchange, so that a rank that waits for a message of
// it can see that there is none.
func (x *Call) conclude(ctx context.Context) error {
	x.announce()
	if x.Executor.Transport == nil {
		return nil
	}
	return x.Executor.Transport.Exchange(ctx, nil, nil)
}

// Copy copies from to into, unless both are the same memory.
func (x *Call) Copy(into, from []byte) {
	x.Executor.EventLog.local(x, events.Copy, into, false, from)
	if unsafe.SliceData(into) != unsafe.SliceData(from) {
		kernel.Copy(into, from)
	}
}

// Refer is Copy for an operand that only Reduce reads. Reduce reads it in from, and into remains unchanged.
func (x *Call) Refer(into, from []byte) {
	x.Executor.EventLog.local(x, events.Copy, into, true, from)
	if len(from) > 0 {
		x.loans = append(x.loans, loan{unsafe.SliceData(into), from})
	}
}

// Operand lists an operand of the next Reduce.
func (x *Call) Operand(from []byte) {
	x.Executor.EventLog.operand(x, from)
	for i := range x.loans {
		if x.loans[i].place == unsafe.SliceData(from) {
			from = x.loans[i].data
			break
		}
	}
	x.operands = append(x.operands, from)
}

// Reduce sets into to the reduction, from left to right, of the operands listed since the last Reduce.
func (x *Call) Reduce(into []byte) {
	x.Executor.EventLog.reduce(x, into)
	kernel.Fold(x.Kernel, x.Many, into, x.operands, x.Executor.spare.Need(kernel.Piece))
	clear(x.operands)
	x.operands = x.operands[:0]
}

// Finish completes a reduction in place, by the step of the op that applies once to the combination of all operands.
func (x *Call) Finish(data []byte) {
	x.Executor.EventLog.local(x, events.Finish, data, false)
	kernel.Finish(x.Op, x.Elem, data, x.Size)
}

// Seq returns the number of the call in progress or else of the last one, or 0 before the first.
func (x *Call) Seq() uint64 { return x.mark.Call.Seq }

// reset drops all references to the caller's memory.
func (x *Call) reset() {
	if len(x.sends)+len(x.recvs) > 0 { // it has failed
		x.forget()
	}
	if len(x.loans) > 0 || x.lent {
		x.release()
	}
	if len(x.operands) > 0 {
		clear(x.operands)
		x.operands = x.operands[:0]
	}
	x.In.Data, x.Out.Data, x.Scratch.Data, x.prepared = nil, nil, nil, nil
}

// MaxScratch is the most scratch memory, in bytes, that an algorithm gets: 16 GiB, or what an int can count. A program
// that runs out of memory crashes, so a larger demand is refused.
const MaxScratch = int(min(uint64(16<<30), uint64(maxInt-CacheLine)))

// Layout cuts every block into that many chunks, and provides that many slots of scratch, each as long as the longest
// chunk. If the elements cannot be divided evenly, the first chunks have one more than the others. Uneven blocks are
// not cut, and a slot is as long as the longest block of the rank's buffers. Every algorithm begins with Layout. It
// fails with ErrInvalidArgument if the numbers are out of range or the scratch exceeds 16 GiB.
func (x *Call) Layout(chunks, slots int) error {
	if chunks > 0 && chunks == x.Cuts.Chunks && slots == 0 && x.Scratch.slot == 0 { // as the call before
		return nil
	}
	return x.layOut(chunks, slots)
}

func (x *Call) layOut(chunks, slots int) error {
	if chunks < 1 || slots < 0 {
		return wire.Refuse(x.Collective.Name, "a layout of %d chunks and %d slots", chunks, slots)
	}
	if x.blocks != nil {
		return x.layoutUneven(chunks, slots)
	}
	bytes := x.Elem.Bytes()
	if x.Cuts.Chunks != chunks {
		x.Cuts = Cuts{block: x.Count * bytes, Chunks: chunks, short: x.Count / chunks * bytes, longs: x.Count % chunks,
			elem: bytes}
	}
	return x.reserve(slots, x.Cuts.length(0))
}

// layoutUneven is Layout for uneven blocks.
func (x *Call) layoutUneven(chunks, slots int) error {
	if chunks != 1 {
		return wire.Refuse(x.Collective.Name, "uneven blocks of %d chunks", chunks)
	}
	x.Cuts.uneven = x.blocks.common
	return x.reserve(slots, max(1, x.blocks.longest)) // a slot of nothing is one yet
}

// reserve provides slots of scratch, each of so many bytes.
func (x *Call) reserve(slots, slot int) error {
	if slots == 0 {
		x.Scratch.Data, x.Scratch.slot = nil, 0
		return nil
	}
	over, total := bits.Mul64(uint64(slots), uint64(slot))
	if over != 0 || total > uint64(MaxScratch) {
		return wire.Refuse(x.Collective.Name, "%d slots of %d bytes are too much scratch memory, more than 16 GiB", slots,
			slot)
	}
	x.Scratch.Data, x.Scratch.slot = x.Executor.scratch.Need(int(total)), slot
	return nil
}
