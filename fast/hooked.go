package fast

import (
	"slices"
	"time"

	"github.com/collgen/collgen/fast/hooks"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/flight"
	"github.com/collgen/collgen/fast/internal/wire"
)

// WithHooks has h called when calls and communicators begin and end. Several are called in their order; those of a
// second option are called as well.
func WithHooks(h ...*hooks.Hooks) InitOption {
	return func(p *initConfig) {
		p.hooks = append(p.hooks, slices.DeleteFunc(slices.Clone(h), func(h *hooks.Hooks) bool { return h == nil })...)
	}
}

// hooked is the recorder of a communicator with hooks: it tells them what it tells the flight recorder. Like the calls
// of the communicator, the methods that tell of calls are for one goroutine at a time, but slow, which a timer calls.
// A nil hooked has no hooks to call.
type hooked struct {
	*flight.Track
	comm   hooks.Comm
	hooks  []*hooks.Hooks
	calls  []begun // together, since the last End
	posted []begun // each by itself
}

// begun is a call in progress.
type begun struct {
	hooks.Call
	at     time.Time
	number uint64 // as the flight recorder counts posted ones
}

// hook has the hooks of c's world told what c does.
func (c *Comm) hook() {
	if c.world == nil || len(c.world.hooks) == 0 {
		return
	}
	c.hooked = &hooked{hooks: c.world.hooks, comm: hooks.Comm{Name: c.name, ID: c.id, Rank: c.rank, Size: c.size,
		Transport: c.exec.Carrier}}
}

// Begin tells that a call begins, together with those that began since the last End.
func (h *hooked) Begin(p *exec.Prepared, seq uint64, bytes int) {
	h.Track.Begin(p, seq, bytes)
	h.calls = append(h.calls, h.begin(&p.Form, seq, bytes, 0))
}

// End tells that these calls are over.
func (h *hooked) End() {
	h.Track.End()
	h.end(h.calls, nil)
	h.calls = h.calls[:0]
}

// Post tells that a call begins that ends by itself, and returns its number.
func (h *hooked) Post(p *exec.Prepared, seq uint64, bytes int) (number uint64) {
	number = h.Track.Post(p, seq, bytes)
	h.posted = append(h.posted, h.begin(&p.Form, seq, bytes, number))
	return number
}

// Over tells that the call with that number is over.
func (h *hooked) Over(number uint64) {
	h.Track.Over(number)
	i := slices.IndexFunc(h.posted, func(b begun) bool { return b.number == number })
	if i < 0 {
		return
	}
	h.end(h.posted[i:i+1], nil)
	h.posted = slices.Delete(h.posted, i, i+1)
}

// failed tells that the calls in progress have failed with err.
func (h *hooked) failed(err error) {
	if h == nil {
		return
	}
	h.end(h.calls, err)
	h.end(h.posted, err)
	h.calls, h.posted = h.calls[:0], h.posted[:0]
}

// begin tells that a call begins.
func (h *hooked) begin(f *exec.Form, seq uint64, bytes int, number uint64) begun {
	b := begun{Call: h.call(f, f.Op(), seq, bytes), number: number}
	for _, x := range h.hooks {
		if x.CallBegun != nil {
			x.CallBegun(b.Call)
		}
	}
	b.at = time.Now()
	return b
}

// end tells that calls have ended with err.
func (h *hooked) end(calls []begun, err error) {
	for i := range calls {
		took := time.Since(calls[i].at)
		for _, x := range h.hooks {
			if x.CallEnded != nil {
				x.CallEnded(calls[i].Call, took, err)
			}
		}
	}
}

// slow tells that a call makes no progress.
func (h *hooked) slow(s *flight.Slow) {
	c := h.call(&s.Form, s.Op, s.Seq, s.Bytes)
	for _, x := range h.hooks {
		if x.CallSlow != nil {
			x.CallSlow(c, hooks.Wait{Still: s.Still, Running: s.Running, For: s.Waiting, Known: s.Known})
		}
	}
}

// call returns the description of a call for hooks. Its op is as ranks compare it.
func (h *hooked) call(f *exec.Form, op uint32, seq uint64, bytes int) hooks.Call {
	c := hooks.Call{Comm: h.comm, Seq: seq, Primitive: f.Collective.Name, Algorithm: f.Algorithm.Name, Label: f.Label(),
		Type: f.Type.String(), Count: f.Args.Count, Bytes: bytes, Root: f.Args.Root, Peer: -1}
	if f.Collective.Reduces {
		c.Op = wire.OpWords(op)
	}
	if f.Collective.PointToPoint {
		c.Root, c.Peer = 0, f.Args.Root+f.Args.Peer-h.comm.Rank
	}
	return c
}

// tell calls what f takes out of each of the hooks.
func (h *hooked) tell(f func(x *hooks.Hooks)) {
	if h == nil {
		return
	}
	for _, x := range h.hooks {
		f(x)
	}
}

// tellMade tells that the communicator was made.
func (h *hooked) tellMade() {
	h.tell(func(x *hooks.Hooks) {
		if x.CommMade != nil {
			x.CommMade(h.comm)
		}
	})
}

// tellFailed tells that the communicator was given up because of err.
func (h *hooked) tellFailed(err error) {
	h.tell(func(x *hooks.Hooks) {
		if x.CommFailed != nil {
			x.CommFailed(h.comm, err)
		}
	})
}

// tellClosed tells that this rank closes the communicator.
func (h *hooked) tellClosed() {
	h.tell(func(x *hooks.Hooks) {
		if x.CommClosed != nil {
			x.CommClosed(h.comm)
		}
	})
}

// tellShrunk tells that made was made of the ranks of c without gone.
func (h *hooked) tellShrunk(made *Comm, gone []int) {
	h.tell(func(x *hooks.Hooks) {
		if x.CommShrunk != nil && made.hooked != nil {
			x.CommShrunk(h.comm, made.hooked.comm, gone)
		}
	})
}
