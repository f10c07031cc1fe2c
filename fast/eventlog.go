package fast

import (
	"sync"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// This file has what a rank writes down of its protocols' doing, in programs that are built for that (events.On).

// eventFile is where a process writes it. It is made with the process's first communicator.
type eventFile struct {
	dir  string // "": nowhere
	head events.Header
	once sync.Once
	log  *events.Log
	err  error
}

// open makes the file, once.
func (f *eventFile) open(process int) error {
	f.once.Do(func() {
		if f.dir != "" {
			f.head.Process = process
			f.log, f.err = events.Create(f.dir, f.head)
		}
	})
	return f.err
}

// eventFile returns that of a process, which is one of size.
func (p *initConfig) eventFile(size int) eventFile {
	return eventFile{dir: p.eventDir, head: events.Header{Size: size, Job: plainText(p.job)}}
}

// eventLog writes down what a communicator does.
type eventLog struct {
	*events.Trail
	listed   events.Event   // the messages of the step that is to begin
	operands []events.Place // of the next reduction
	moving   bool           // messages are in flight
	calls    int            // that have begun and not ended
}

// follow has what c does written to log.
func (c *Comm) follow(log *events.Log) {
	if log == nil {
		return
	}
	m := &events.Member{Name: c.name, Rank: c.rank, Size: c.size, Processes: c.processes(), Transport: c.carrier}
	if t, ok := c.transport.(transport.Ringed); ok {
		m.Slots, m.Lines = t.Rings()
	}
	c.eventLog = &eventLog{Trail: log.Join(c.id, m)}
	if t, ok := c.transport.(transport.Follower); ok {
		t.Follow(c.eventLog.Trail)
	}
}

// followCall writes that x begins, a call of that description.
func (x *Call) followCall(mark wire.Mark) {
	if x.c.eventLog == nil {
		return
	}
	d := mark.Call
	call := events.Call{Seq: d.Seq, Fingerprint: mark.Fingerprint, Primitive: x.k.Name, Algorithm: x.a.Name, Spec: d.Primitive,
		Schedule: d.Schedule, Type: x.elem.String(), Element: x.elem.Bytes(), Count: x.count, Root: x.Root, Peer: -1, Depth: x.Depth,
		In: len(x.In.data), Out: len(x.Out.data), Shared: overlap(x.In.data, x.Out.data)}
	if x.k.Reduces {
		call.Op = x.op.String()
	}
	if x.k.PointToPoint {
		call.Peer = x.Peer
	}
	if call.Shared {
		call.InAt = int(address(x.In.data)) - int(address(x.Out.data))
	}
	x.c.eventLog.calls++
	x.c.eventLog.Write(&events.Event{Do: events.Begin, Call: &call})
}

// placeOf says where in x's buffers b is.
func (x *Call) placeOf(b []byte) events.Place {
	if len(b) == 0 {
		return events.Place{}
	}
	for _, buffer := range []struct {
		name string
		data []byte
	}{{"scratch", x.Scratch.data}, {"out", x.Out.data}, {"in", x.In.data}} {
		from, at := address(buffer.data), address(b)
		if n := uintptr(len(buffer.data)); from <= at && at-from <= n && uintptr(len(b)) <= n-(at-from) {
			return events.Place{Buf: buffer.name, At: int(at - from), Bytes: len(b)}
		}
	}
	return events.Place{Buf: "elsewhere", Bytes: len(b)}
}

// followList takes note of the messages of x from those indices on. They begin with followStep.
func (x *Call) followList(sends, recvs int) {
	t := x.c.eventLog
	if t == nil {
		return
	}
	for _, s := range x.sends[sends:] {
		t.listed.Sends = append(t.listed.Sends, events.Send{Peer: s.Peer, Data: x.placeOf(s.Data), Call: fingerprintOf(s.Call)})
	}
	for _, r := range x.recvs[recvs:] {
		made := events.Recv{Peer: r.Peer, Into: x.placeOf(r.Into), ReceivedFirst: r.ReceivedFirst, AfterSend: r.AfterSend, Lend: r.Lend,
			Call: fingerprintOf(r.Call)}
		if r.Kernel != nil {
			with := x.placeOf(r.With)
			made.With = &with
		}
		t.listed.Recvs = append(t.listed.Recvs, made)
	}
}

// fingerprintOf is 0 for messages of the call in progress.
func fingerprintOf(c *wire.Call) uint64 {
	if c == nil {
		return 0
	}
	return c.Fingerprint()
}

// followStep writes that the messages which were listed begin, if there are any.
func (c *Comm) followStep() {
	t := c.eventLog
	if t == nil || len(t.listed.Sends)+len(t.listed.Recvs) == 0 {
		return
	}
	t.listed.Do, t.moving = events.Step, true
	t.Write(&t.listed)
	t.listed = events.Event{}
}

// followDone writes that they are complete, unless err says that one is not.
func (c *Comm) followDone(err error) {
	if t := c.eventLog; t != nil && t.moving {
		t.moving = false
		if err == nil {
			t.Write(&events.Event{Do: events.Done})
		}
	}
}

// followLocal writes what x does by itself.
func (x *Call) followLocal(do events.Kind, into []byte, lent bool, from ...[]byte) {
	if x.c.eventLog == nil || len(into) == 0 {
		return
	}
	made := events.Local{Into: x.placeOf(into), Lent: lent}
	for _, b := range from {
		made.From = append(made.From, x.placeOf(b))
	}
	x.c.eventLog.Write(&events.Event{Do: do, Local: &made})
}

// followOperand takes note of an operand of the next reduction, and followReduce writes that.
func (x *Call) followOperand(from []byte) {
	if t := x.c.eventLog; t != nil {
		t.operands = append(t.operands, x.placeOf(from))
	}
}

func (x *Call) followReduce(into []byte) {
	t := x.c.eventLog
	if t == nil {
		return
	}
	if len(into) > 0 {
		t.Write(&events.Event{Do: events.Reduce, Local: &events.Local{Into: x.placeOf(into), From: t.operands}})
	}
	t.operands = nil
}

// followCallEnd writes that the calls that have begun are over, and why if they have failed. What a rank sends to
// itself is none.
func (c *Comm) followCallEnd(err error) {
	if c.eventLog == nil || c.eventLog.calls == 0 {
		return
	}
	do := events.End
	if err != nil {
		do = events.Failed
	}
	c.eventLog.calls = 0
	c.followEnd(do, err)
}

// followEnd writes that something of c has ended, and why.
func (c *Comm) followEnd(do events.Kind, err error) {
	if c.eventLog == nil {
		return
	}
	e := events.Event{Do: do}
	if err != nil {
		e.Ended = &events.Ended{State: c.State().String(), Error: plainText(err.Error())}
		if c.track != nil {
			e.Ended.Blames = c.track.atFault(err)
		}
	}
	c.eventLog.Write(&e)
}

// followNotice writes that the others are told n, or that one has told it.
func (c *Comm) followNotice(do events.Kind, from int, n *notice) {
	if c.eventLog == nil {
		return
	}
	c.eventLog.Write(&events.Event{Do: do, Notice: &events.Notice{From: from, By: n.By, State: n.State.String(), Rank: n.Rank, Down: n.Down}})
}

// followAgreement writes what all ranks have agreed on.
func (c *Comm) followAgreement(what agree.Call, seq uint64, v *agree.Value, err error) {
	if c.eventLog == nil {
		return
	}
	e := events.Event{Do: events.Agree, Agreed: &events.Agreed{Seq: seq, What: what.String(), Flags: v.Flags, Gone: v.Gone.Members()}}
	if err != nil {
		e.Ended = &events.Ended{Error: plainText(err.Error())}
	}
	c.eventLog.Write(&e)
}
