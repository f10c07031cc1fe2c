package replay

import (
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/internal/events"
	"github.com/collgen/collgen/spec"
)

// plan identifies a schedule.
type plan struct {
	hash                           uint64
	size, root, peer, depth, local int
}

// schedule is a schedule by ranks and steps.
type schedule struct {
	*gen.Schedule
	steps [][]gen.ProgramStep
}

// Limits of what a file may have instantiated, so that a short one cannot take all memory: of the number of ranks,
// squared, times the depth, and of the number of schedules in memory.
const (
	mostWork      = 1 << 21
	mostSchedules = 64
)

// schedule returns the schedule of a call among size ranks.
func (r *replay) schedule(c *events.Call, size int) (*schedule, error) {
	p := plan{c.Schedule, size, c.Root, max(c.Peer, 0), c.Depth, c.Local}
	if s := r.schedules[p]; s != nil {
		return s, nil
	}
	a := r.algorithms[c.Schedule]
	switch {
	case a == nil:
		return nil, fmt.Errorf("none of the algorithms is %s with hash %#x", c.Algorithm, c.Schedule)
	case !a.Serves(size, c.Local):
		return nil, fmt.Errorf("%s does not serve %d ranks, %d on each host", a.FullName(), size, c.Local)
	case c.Depth > max(1, c.Count):
		return nil, fmt.Errorf("depth %d of %d elements", c.Depth, c.Count)
	case c.Depth > mostWork/size/size:
		return nil, fmt.Errorf("%d ranks with depth %d are too many", size, c.Depth)
	}
	made, err := gen.Instantiate(a, gen.Params{Size: size, Root: c.Root, Peer: max(c.Peer, 0), Depth: c.Depth,
		Local: c.Local})
	if err != nil {
		return nil, err
	}
	s := &schedule{Schedule: made}
	for rank := range made.Ranks {
		s.steps = append(s.steps, made.Ranks[rank].Steps())
	}
	if len(r.schedules) >= mostSchedules {
		clear(r.schedules)
	}
	r.schedules[p] = s
	return s, nil
}

// call is a call of one rank.
type call struct {
	*events.Call
	s     *schedule
	rank  int
	at    int  // the current step
	moved bool // whether the step's messages are complete
	local int  // how many of the step's local instructions are done
}

// settle advances to the next step with something left to do, messages or a local instruction, and returns it; nil if
// there is none.
func (c *call) settle() *gen.ProgramStep {
	steps := c.s.steps[c.rank]
	for ; c.at < len(steps); c.at, c.moved, c.local = c.at+1, false, 0 {
		s := &steps[c.at]
		if sends, recvs := c.messages(); !c.moved && len(sends)+len(recvs) > 0 {
			return s
		}
		c.moved = true
		for ; c.local < len(s.Local); c.local++ {
			if c.place(s.Local[c.local].Dst).Bytes > 0 {
				return s
			}
		}
	}
	return nil
}

// sendsNothing reports whether a message without bytes is sent: a signal, or one of uneven blocks whose lengths all
// ranks know.
func (c *call) sendsNothing(p gen.Place) bool { return p.Buf == "" || c.s.Primitive.SameCounts() }

// messages returns the step's messages with the places of this call, except those that have no bytes and are not sent.
func (c *call) messages() (sends []events.Send, recvs []events.Recv) {
	s := &c.s.steps[c.rank][c.at]
	for _, in := range s.Sends {
		if p := c.place(in.Srcs[0]); p.Bytes > 0 || c.sendsNothing(in.Srcs[0]) {
			sends = append(sends, events.Send{Peer: in.Peer, Data: p})
		}
	}
	for _, in := range s.Recvs {
		p := c.place(in.Dst)
		if p.Bytes == 0 {
			if c.sendsNothing(in.Dst) {
				recvs = append(recvs, events.Recv{Peer: in.Peer})
			}
			continue
		}
		r := events.Recv{Peer: in.Peer, Into: p, ReceivedFirst: in.ReceivedFirst, AfterSend: in.AfterSend >= 0, Lend: in.Lend}
		if in.Kind == gen.RecvReduceInstr {
			with := c.place(in.Srcs[0])
			r.With = &with
		}
		recvs = append(recvs, r)
	}
	return sends, recvs
}

// operation returns the step's next local instruction.
func (c *call) operation() (events.Kind, *events.Local) {
	in := c.s.steps[c.rank][c.at].Local[c.local]
	l := &events.Local{Into: c.place(in.Dst), Lent: in.Lend}
	for _, src := range in.Srcs {
		l.From = append(l.From, c.place(src))
	}
	switch in.Kind {
	case gen.CopyInstr:
		return events.Copy, l
	case gen.ReduceInstr:
		return events.Reduce, l
	}
	l.From = nil
	return events.Finish, l
}

// place returns a place of the schedule as the events of this call name it.
func (c *call) place(p gen.Place) events.Place {
	e := events.Place{Buf: string(p.Buf)}
	if c.s.Primitive.IsUneven() {
		e.At, e.Bytes = c.uneven(p)
	} else {
		from, to := gen.Cuts{Block: c.Count, Chunks: c.s.Chunks}.Span(p)
		e.At, e.Bytes = from*c.Element, (to-from)*c.Element
	}
	if e.Bytes == 0 {
		return events.Place{}
	}
	if at := e.At + c.InAt; p.Buf == spec.In && c.Shared && at >= 0 && at <= c.Out-e.Bytes {
		e.Buf, e.At = string(spec.Out), at
	}
	return e
}

// uneven returns where a place of uneven blocks begins in its buffer, and how long it is, in bytes. A slot of scratch
// is as long as the longest block.
func (c *call) uneven(p gen.Place) (at, bytes int) {
	switch p.Buf {
	case spec.In:
		return c.InBlocks[p.At].At, c.InBlocks[p.At].Bytes
	case spec.Out:
		return c.OutBlocks[p.At].At, c.OutBlocks[p.At].Bytes
	case spec.Scratch:
		slot := 1
		for _, b := range slices.Concat(c.InBlocks, c.OutBlocks) {
			slot = max(slot, b.Bytes)
		}
		return p.At * slot, c.known()[p.Length[0]].Bytes
	}
	return 0, 0
}

// known returns the blocks whose lengths all ranks know, if there are any.
func (c *call) known() []events.Block {
	switch {
	case !c.s.Primitive.SameCounts():
		return nil
	case len(c.OutBlocks) > 1:
		return c.OutBlocks
	}
	return c.InBlocks
}

// checkBlocks compares the number of blocks with the schedule's, their places with the lengths of the buffers, and
// their lengths with the call's count.
func (c *call) checkBlocks() error {
	p := &c.s.Ranks[c.rank]
	for _, b := range []struct {
		name          string
		chunks, bytes int
		blocks        []events.Block
	}{{"in", p.In, c.In, c.InBlocks}, {"out", p.Out, c.Out, c.OutBlocks}} {
		if b.chunks > 0 && b.chunks != len(b.blocks) || len(b.blocks) == 0 {
			return fmt.Errorf("%s has %d blocks, and those of the schedule are %d", b.name, len(b.blocks), b.chunks)
		}
		for i, is := range b.blocks {
			if is.At > b.bytes || is.Bytes > b.bytes-is.At {
				return fmt.Errorf("block %d of %s has %d bytes from %d on, and %s has %d", i, b.name, is.Bytes, is.At, b.name,
					b.bytes)
			}
		}
	}
	sum := 0
	for _, b := range c.known() {
		sum += b.Bytes
	}
	if sum != c.Count*c.Element {
		return fmt.Errorf("the blocks have %d bytes, and the call has %d elements of %d bytes", sum, c.Count, c.Element)
	}
	return nil
}

// checkBuffers compares the lengths of the buffers with those of the schedule's blocks.
func (c *call) checkBuffers() error {
	p := &c.s.Ranks[c.rank]
	switch uneven := c.s.Primitive.IsUneven(); {
	case uneven:
		return c.checkBlocks()
	case len(c.InBlocks)+len(c.OutBlocks) > 0:
		return fmt.Errorf("%s has blocks of one length, and the log says where each lies", c.s.Algorithm)
	}
	for _, b := range []struct {
		name        string
		chunks, got int
	}{{"in", p.In, c.In}, {"out", p.Out, c.Out}} {
		if want := b.chunks / c.s.Chunks * c.Count * c.Element; b.chunks > 0 && b.got != want {
			return fmt.Errorf("%s has %d bytes, and the blocks of the schedule %d", b.name, b.got, want)
		}
	}
	return nil
}

// number returns the key of numbers for a call.
func (m *member) number(c *events.Call) pair {
	if c.Peer < 0 {
		return pair{-1, -1}
	}
	return pair{c.Root, c.Peer}
}

// begin processes the begin of a call.
func (m *member) begin(r *replay, c *events.Call) error {
	of := m.number(c)
	switch {
	case m.failed:
		return errors.New("a call has failed, and the communicator with it")
	case slices.ContainsFunc(m.calls, func(other *call) bool {
		return other.Peer < 0 || c.Peer < 0 || other.moved
	}):
		return errors.New("the call before has not ended")
	case len(m.lent) > 0:
		return errors.New("memory that was lent in the call before is not free")
	case c.Seq != m.numbers[of]+1:
		return fmt.Errorf("call %d comes after call %d", c.Seq, m.numbers[of])
	case c.Peer >= 0 && (c.Root == c.Peer || c.Root != m.rank && c.Peer != m.rank):
		return fmt.Errorf("rank %d takes no part in it", m.rank)
	}
	size := len(m.comm.ranks)
	if c.Root >= size || c.Peer >= size {
		return fmt.Errorf("there are %d ranks", size)
	}
	s, err := r.schedule(c, size)
	if err != nil {
		return err
	}
	made := &call{Call: c, s: s, rank: m.rank}
	if err := made.checkBuffers(); err != nil {
		return err
	}
	m.calls = append(m.calls, made)
	m.numbers[of]++
	return nil
}

// end processes the end of all running calls.
func (m *member) end(r *replay) error {
	if m.current != nil {
		return errors.New("messages are in flight")
	}
	if len(m.calls) == 0 {
		return errors.New("no call has begun")
	}
	for _, c := range m.calls {
		if s := c.settle(); s != nil {
			return fmt.Errorf("step %d of %s is not done: %s", s.Number, c.s.Algorithm, c.due())
		}
		r.report.Calls[fmt.Sprintf("%s over %s", c.s.Algorithm, m.comm.transport)]++
	}
	m.calls = m.calls[:0]
	return nil
}

// fail processes the failure of the running calls. If the communicator stays healthy, they were refused and get no
// number.
func (m *member) fail(e *events.Ended) error {
	if e.State == "Healthy" {
		for _, c := range m.calls {
			m.numbers[m.number(c.Call)]--
		}
	}
	m.failed = m.failed || e.State != "Healthy"
	m.calls, m.current = nil, nil
	return nil
}
