// Package inproc carries messages between ranks that are goroutines of one process. Nothing is copied on the way: the
// receiver copies, or reduces, straight out of the sender's memory, and the sender's Exchange returns when it has.
package inproc

import (
	"context"
	"runtime"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Begin sets the call that the following messages belong to. Nothing reads it after the last Exchange of the call.
func (e *Endpoint) Begin(call wire.Mark) {
	e.call = call
	e.past[e.begun%history] = *call.Call
	e.begun++
}

// Exchange makes all sends and receives concurrently, and returns when all of them are complete or one has failed. No
// rank reads the memory of sends after that. After an error the endpoint is only good for Close.
func (e *Endpoint) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if err := e.given(); err != nil {
		return err
	}
	e.slept = time.Time{}
	defer e.forget() // also if a kernel panics
	if err := e.list(sends, recvs); err != nil {
		return err
	}
	return e.complete(ctx, 0, nil)
}

// forget ends all use of the caller's memory, by other ranks and by e itself, so that it can be garbage collected.
func (e *Endpoint) forget() {
	if e.open > 0 {
		left := e.waiting()
		e.left.Store(&left)
		e.withdraw()
	}
	clear(e.out)
	clear(e.in)
	e.out, e.in, e.open = e.out[:0], e.in[:0], 0
}

// Close closes the endpoint. A rank that waits for this one gets a *wire.PeerError with this rank and wire.ErrClosed,
// and an Exchange of this rank fails with wire.ErrClosed.
func (e *Endpoint) Close() error {
	e.Fail(wire.ErrClosed)
	if e.closed.CompareAndSwap(false, true) {
		e.net.asleep.Add(1)
		for rank := range e.net.endpoints {
			e.net.wake(rank)
		}
	}
	return nil
}

// list prepares the messages of an Exchange, or more that are posted.
func (e *Endpoint) list(sends []wire.Send, recvs []wire.Recv) error {
	e.open += len(sends) + len(recvs)
	for i := range sends {
		if err := wire.CheckPeer(e.rank, sends[i].Peer, len(e.net.endpoints)); err != nil {
			return err
		}
		e.out = append(e.out, outgoing{Send: &sends[i], call: e.call.Of(sends[i].Call),
			link: e.net.link(e.rank, sends[i].Peer)})
	}
	bounces := 0
	for i := range recvs {
		if err := wire.CheckPeer(e.rank, recvs[i].Peer, len(e.net.endpoints)); err != nil {
			return err
		}
		r := incoming{Recv: &recvs[i], call: e.call.Of(recvs[i].Call), link: e.net.link(recvs[i].Peer, e.rank)}
		r.number = r.link.listed
		r.link.listed++
		if r.AfterSend && isSent(r.Into, r.Peer, sends) {
			r.own = e.net.link(e.rank, r.Peer)
			r.bounce = e.bounce(bounces, min(len(r.Into), e.net.segment))
			bounces++
		}
		e.in = append(e.in, r)
	}
	return nil
}

// isSent reports whether one of sends goes to peer from memory of into. If a call is not in place, the send that a
// receive marked AfterSend follows may have other memory.
func isSent(into []byte, peer int, sends []wire.Send) bool {
	from := uintptr(unsafe.Pointer(unsafe.SliceData(into)))
	for i := range sends {
		at := uintptr(unsafe.Pointer(unsafe.SliceData(sends[i].Data)))
		if sends[i].Peer == peer && from < at+uintptr(len(sends[i].Data)) && at < from+uintptr(len(into)) {
			return true
		}
	}
	return false
}

// bounce returns the i-th buffer for a receive marked AfterSend.
func (e *Endpoint) bounce(i, size int) []byte {
	if i == len(e.bounces) {
		e.bounces = append(e.bounces, nil)
	}
	if len(e.bounces[i]) < size {
		e.bounces[i] = make([]byte, size)
	}
	return e.bounces[i]
}

// complete drives the listed messages until not more than left are incomplete, one fails, or a Progress is to end.
func (e *Endpoint) complete(ctx context.Context, left int, until context.Context) error {
	for looks := 0; e.open > left; looks++ {
		moved, err := e.advance()
		if err != nil {
			return err
		}
		if e.leaves(until) {
			return nil
		}
		if moved {
			looks, e.slept = 0, time.Time{}
			if e.moves%64 != 0 {
				continue
			}
			e.progress.Store(e.moves)
			if e.open > left && (ctx.Err() != nil || e.given() != nil) {
				return e.failure(ctx)
			}
			continue
		}
		if looks < yields {
			runtime.Gosched()
			continue
		}
		e.progress.Store(e.moves)
		if err := e.sleep(ctx, until); err != nil {
			return err
		}
	}
	return nil
}

// yields is how often a rank checks without success whether it can go on, and yields to other goroutines, before it
// sleeps. Spinning never pays: ranks are goroutines, and the one waited for may need this processor.
const yields = 20

// sleep waits until another rank has done something that concerns this one, or until there is a reason to give up.
func (e *Endpoint) sleep(ctx, until context.Context) error {
	e.state.Store(drowsy)
	// From now on, a rank that does something wakes this one. This sees what was done before. Failures are checked
	// first, because a failure does not undo what the failed rank did before it.
	failure := e.failure(ctx)
	moved, err := e.advance()
	if err == nil && !moved {
		err = failure
	}
	if moved || err != nil || e.leaves(until) {
		e.rise()
		return err
	}
	if e.slept.IsZero() {
		e.slept = time.Now()
	}
	how := resting
	if e.isStuck() {
		how = asleep
	}
	if !e.state.CompareAndSwap(drowsy, how) {
		<-e.token
		return nil
	}
	if how == asleep && e.net.asleep.Add(1) == int64(len(e.net.endpoints)) && e.riseFrom(asleep) {
		e.net.unstick(e)
		return e.verdict
	}
	e.wait(ctx, until)
	return e.verdict
}

// wait waits for e's token, or the end of a context. Until may be nil.
func (e *Endpoint) wait(ctx, until context.Context) {
	var left <-chan struct{}
	if until != nil {
		left = until.Done()
	}
	select {
	case <-e.token:
		return
	case <-ctx.Done():
	case <-left:
	}
	e.rise()
}

// rise ends e's sleep, or takes the token if another rank has ended it.
func (e *Endpoint) rise() {
	if !e.riseFrom(drowsy) && !e.riseFrom(asleep) && !e.riseFrom(resting) {
		<-e.token
	}
}
