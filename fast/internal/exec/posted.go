package exec

import (
	"context"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// Posted is a point-to-point call, or a send and a receive that are one, whose messages are in flight beside those of
// others. It stays where it is until it is over.
type Posted struct {
	calls   []Request
	descs   [2]wire.Call
	numbers [2]uint64 // as the flight recorder counts them; 0: it knows nothing of that one
	sends   []wire.Send
	recvs   []wire.Recv
	send    [1]wire.Send
	recv    [1]wire.Recv
}

// Post puts the messages of calls in flight. P is over when Posted.Over says so, or Progress has failed.
func (e *Executor) Post(ctx context.Context, p *Posted, calls []Request) error {
	x := &e.Call
	x.together = true
	defer func() { x.together = false }()
	p.calls, p.numbers = calls, [2]uint64{}
	p.sends, p.recvs = p.send[:0], p.recv[:0]
	for i := range calls {
		if err := e.list(ctx, &calls[i], &p.descs[i], &p.numbers[i]); err != nil {
			return err
		}
	}
	p.sends, p.recvs = append(p.sends, x.sends...), append(p.recvs, x.recvs...)
	x.running = false
	x.reset()
	if e.Transport == nil || p.descs[0].Seq == 0 {
		return nil
	}
	for i := range p.sends {
		p.sends[i].Idle = true
	}
	for i := range p.recvs {
		p.recvs[i].Idle = true
	}
	e.EventLog.step()
	return e.Transport.Post(p.sends, p.recvs)
}

// Over reports whether all messages of p are over.
func (p *Posted) Over() bool {
	for i := range p.sends {
		if !p.sends[i].Over {
			return false
		}
	}
	for i := range p.recvs {
		if !p.recvs[i].Over {
			return false
		}
	}
	return true
}

// Heed says whether this rank begins no other call before p is over.
func (e *Executor) Heed(p *Posted, heeds bool) {
	changed := false
	for i := range p.sends {
		changed = changed || p.sends[i].Idle == heeds
		p.sends[i].Idle = !heeds
	}
	for i := range p.recvs {
		changed = changed || p.recvs[i].Idle == heeds
		p.recvs[i].Idle = !heeds
	}
	if !changed || e.Recorder == nil {
		return
	}
	for _, number := range p.numbers {
		if number > 0 {
			e.Recorder.Heed(number, heeds)
		}
	}
}

// End ends p, which is over, or has failed. What it has received as bools is some then.
func (e *Executor) End(p *Posted, failed bool) {
	for i := range p.calls {
		if r := &p.calls[i]; r.Type == spec.TypeBool {
			kernel.Tidy(r.Dst)
		}
		if number := p.numbers[i]; number > 0 && !failed && e.Recorder != nil {
			e.Recorder.Over(number)
		}
	}
	p.calls, p.send, p.recv = nil, [1]wire.Send{}, [1]wire.Recv{}
	p.sends, p.recvs = nil, nil
}

// Number returns the number of the first call of p, or 0 for a message of a rank to itself.
func (p *Posted) Number() uint64 { return p.descs[0].Seq }

// IsBehind reports whether a message of p waits for one of before, which was posted earlier.
func (p *Posted) IsBehind(before *Posted) bool {
	sends := len(p.sends) > 0 && len(before.sends) > 0 && p.sends[0].Peer == before.sends[0].Peer
	return sends || len(p.recvs) > 0 && len(before.recvs) > 0 && p.recvs[0].Peer == before.recvs[0].Peer
}
