package exec

import (
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// begin writes that x begins.
func (l *EventLog) begin(x *Call) {
	if events.On && l != nil {
		l.calls++
		l.Write(&events.Event{Do: events.Begin, Call: x.event()})
	}
}

// event returns x as a log describes it.
func (x *Call) event() *events.Call {
	d := x.mark.Call
	call := events.Call{Seq: d.Seq, Fingerprint: x.mark.Fingerprint, Primitive: x.Collective.Name,
		Algorithm: x.Algorithm.Name, Spec: d.Primitive,
		Schedule: d.Schedule, Type: x.Elem.String(), Element: x.Elem.Bytes(), Count: x.Count, Root: x.Root, Peer: -1,
		Depth: x.Depth, Local: x.Local,
		In: len(x.In.Data), Out: len(x.Out.Data), Shared: Overlap(x.In.Data, x.Out.Data),
		InBlocks: blocksOf(x.In.blocks), OutBlocks: blocksOf(x.Out.blocks)}
	if x.Collective.Reduces {
		call.Op = x.Op.String()
	}
	if x.Collective.PointToPoint {
		call.Peer = x.Peer
	}
	if call.Shared {
		call.InAt = int(Address(x.In.Data)) - int(Address(x.Out.Data))
	}
	return &call
}

// blocksOf returns where blocks lie as a log describes it.
func blocksOf(list []extent) (all []events.Block) {
	for _, is := range list {
		all = append(all, events.Block{At: is.from, Bytes: is.to - is.from})
	}
	return all
}

// PlaceOf returns the place of b in x's buffers.
func (x *Call) PlaceOf(b []byte) events.Place {
	if len(b) == 0 {
		return events.Place{}
	}
	for _, buffer := range []struct {
		name string
		data []byte
	}{{"scratch", x.Scratch.Data}, {"out", x.Out.Data}, {"in", x.In.Data}} {
		from, at := Address(buffer.data), Address(b)
		if n := uintptr(len(buffer.data)); from <= at && at-from <= n && uintptr(len(b)) <= n-(at-from) {
			return events.Place{Buf: buffer.name, At: int(at - from), Bytes: len(b)}
		}
	}
	return events.Place{Buf: "elsewhere", Bytes: len(b)}
}

// list records the messages of x from those indices on. They begin with the next step.
func (l *EventLog) list(x *Call, sends, recvs int) {
	if events.On && l != nil {
		for _, s := range x.sends[sends:] {
			l.listed.Sends = append(l.listed.Sends, events.Send{Peer: s.Peer, Data: x.PlaceOf(s.Data),
				Call: fingerprintOf(s.Call)})
		}
		for _, r := range x.recvs[recvs:] {
			l.listed.Recvs = append(l.listed.Recvs, x.receive(&r))
		}
	}
}

// receive returns r as a log describes it.
func (x *Call) receive(r *wire.Recv) events.Recv {
	made := events.Recv{Peer: r.Peer, Into: x.PlaceOf(r.Into), ReceivedFirst: r.ReceivedFirst, AfterSend: r.AfterSend,
		Lend: r.Lend,
		Call: fingerprintOf(r.Call)}
	if r.Kernel != nil {
		with := x.PlaceOf(r.With)
		made.With = &with
	}
	return made
}

// fingerprintOf returns the fingerprint of c, or 0 if c is nil: then a message belongs to the call in progress.
func fingerprintOf(c *wire.Call) uint64 {
	if c == nil {
		return 0
	}
	return c.Fingerprint()
}

// step writes that the listed messages begin, if there are any.
func (l *EventLog) step() {
	if events.On && l != nil && len(l.listed.Sends)+len(l.listed.Recvs) > 0 {
		l.listed.Do, l.moving = events.Step, true
		l.Write(&l.listed)
		l.listed = events.Event{}
	}
}

// done writes that the messages are complete, unless err is not nil.
func (l *EventLog) done(err error) {
	if events.On && l != nil && l.moving {
		l.moving = false
		if err == nil {
			l.Write(&events.Event{Do: events.Done})
		}
	}
}

// local writes an action of x without messages.
func (l *EventLog) local(x *Call, do events.Kind, into []byte, lent bool, from ...[]byte) {
	if events.On && l != nil && len(into) > 0 {
		made := events.Local{Into: x.PlaceOf(into), Lent: lent}
		for _, b := range from {
			made.From = append(made.From, x.PlaceOf(b))
		}
		l.Write(&events.Event{Do: do, Local: &made})
	}
}

// operand records an operand of the next reduction.
func (l *EventLog) operand(x *Call, from []byte) {
	if events.On && l != nil {
		l.operands = append(l.operands, x.PlaceOf(from))
	}
}

// reduce writes a reduction of the recorded operands.
func (l *EventLog) reduce(x *Call, into []byte) {
	if events.On && l != nil {
		if len(into) > 0 {
			l.Write(&events.Event{Do: events.Reduce, Local: &events.Local{Into: x.PlaceOf(into), From: l.operands}})
		}
		l.operands = nil
	}
}

// End writes that the calls in progress, if any, have ended. If they failed, failed says how; otherwise it is nil. A
// message of a rank to itself is not a call.
func (l *EventLog) End(failed *events.Ended) {
	if events.On && l != nil && l.calls > 0 {
		do := events.End
		if failed != nil {
			do = events.Failed
		}
		l.calls = 0
		l.Write(&events.Event{Do: do, Ended: failed})
	}
}
