package linkbase

import (
	"context"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

const (
	// MaxSleep bounds a sleep, and so how late a rank sees that its context has ended.
	MaxSleep = 10 * time.Millisecond
	// StallTime is how long a rank waits before it suspects that the other ranks are waiting for it.
	StallTime = 2 * MaxSleep
	// publishEvery is how many moves pass before a rank publishes them and looks for reasons to give up.
	publishEvery = 64
)

// Exchange has all sends and receives in flight together, and returns when all of them are complete or one has failed.
// What was sent may still be on its way then. After an error the endpoint can only be closed.
func (e *Endpoint) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	if err := e.End.Enter(); err != nil {
		return err
	}
	defer e.leave()
	if e.Lent > 0 {
		e.hooks.Reclaim()
	}
	err := e.start(sends, recvs)
	if err == nil {
		err = e.complete(ctx, 0)
	}
	return e.End.Outcome(err)
}

// start posts the messages of an Exchange, and asks for the links that they need.
func (e *Endpoint) start(sends []wire.Send, recvs []wire.Recv) error {
	if err := e.post(sends, recvs); err != nil {
		return err
	}
	for _, peer := range e.Peers {
		e.hooks.Connect(peer)
	}
	return e.hooks.Adopt()
}

// complete drives the messages until not more than left are incomplete, one fails, or a Progress is to end. It polls as
// long as Patience allows, then sleeps.
func (e *Endpoint) complete(ctx context.Context, left int) error {
	for {
		moved, err := e.advance()
		switch {
		case err != nil || e.Open <= left || e.Leaves():
			return err
		case moved:
			if e.publish() {
				err = e.failure(ctx)
			}
		case !e.spin():
			err = e.sleep(ctx, left)
		}
		if err != nil {
			return err
		}
	}
}

// advance does what can be done without waiting, and reports whether a message moved.
func (e *Endpoint) advance() (moved bool, err error) {
	if e.hooks.Poll != nil {
		if err := e.hooks.Poll(); err != nil {
			return false, err
		}
	}
	for i := 0; i < len(e.Active); i = e.next(i) {
		peer := e.Active[i]
		pushed, err := e.hooks.Push(peer)
		if err != nil {
			return moved, err
		}
		pulled, err := e.hooks.Pull(peer)
		if err != nil {
			return moved, err
		}
		if pushed || pulled {
			e.idle = time.Time{}
			e.moves++
			moved = true
		}
	}
	return moved, nil
}

// publish follows progress: the rank waits for nobody. From time to time it publishes its moves and returns true: then
// the rank looks for reasons to give up.
func (e *Endpoint) publish() bool {
	e.awaited.Clear()
	if e.moves%publishEvery != 0 {
		return false
	}
	e.progress.Store(e.moves)
	return true
}

// Idle returns for how long the rank has been unable to send or receive anything.
func (e *Endpoint) Idle() time.Duration {
	if e.idle.IsZero() {
		e.idle = time.Now()
		e.progress.Store(e.moves)
	}
	return time.Since(e.idle)
}

// spin prepares another round after one without progress. It returns false when it is time to sleep.
func (e *Endpoint) spin() bool {
	idle := e.Idle()
	if e.End.Reason() != nil || e.Changed.Load() || idle >= e.Patience || e.yields != nil && e.yields() {
		return false
	}
	e.hooks.Spin(idle)
	return true
}

// sleep waits until something can be done or there is a reason to give up, but at most MaxSleep.
func (e *Endpoint) sleep(ctx context.Context, left int) error {
	failure := e.failure(ctx) // looked for first: what the failed rank did before still counts
	if err := e.hooks.Adopt(); err != nil {
		return err
	}
	if e.hooks.Arm != nil {
		if err := e.hooks.Arm(); err != nil {
			return err
		}
	}
	moved, err := e.advance()
	if moved || err != nil || e.Open <= left || e.Leaves() {
		return err
	}
	if failure != nil {
		return failure
	}
	if err := e.hooks.Sleep(wire.AtMost(e.until, MaxSleep)); err != nil {
		return err
	}
	if e.stalled() {
		return e.diagnose()
	}
	return nil
}

// stalled follows a sleep. It returns true if the rank has waited for so long that others may be waiting for it.
func (e *Endpoint) stalled() bool {
	idle := e.Idle()
	if idle >= MaxSleep {
		e.awaited.Set(e.Active)
	}
	return idle >= StallTime
}

// diagnose returns the error of calls that disagree, if the rank has stalled because of one. It first takes what other
// ranks sent before they said what they wait for: a disagreement that is left after that is real.
func (e *Endpoint) diagnose() error {
	moved, err := e.advance()
	if moved || err != nil || e.Open == 0 {
		return err
	}
	return e.hooks.Stalled()
}

// leave ends the Exchange, even after a kernel panicked.
func (e *Endpoint) leave() {
	if e.Open > 0 {
		e.hooks.Abort()
	}
	e.clear()
	e.Leave()
}

// Leave ends the use of the endpoint unless something is lent, and releases it if it was closed meanwhile.
func (e *Endpoint) Leave() {
	if e.Lent == 0 && e.End.Leave() {
		e.hooks.Release()
	}
}

// Fail makes the Exchange in progress, and every later one, return err. The first error counts, also that of Close.
// Other ranks do not learn of it. It may be called from any goroutine.
func (e *Endpoint) Fail(err error) {
	if e.End.Fail(err) {
		e.hooks.Wake()
	}
}

// Close leaves. A rank that waits for this one gets a *wire.PeerError with this rank and wire.ErrClosed, an Exchange of
// this rank returns wire.ErrClosed. What was sent still arrives, if the other ranks take it soon.
func (e *Endpoint) Close() error {
	e.Fail(wire.ErrClosed)
	if e.End.Close() { // otherwise the Exchange in progress releases everything
		e.hooks.Release()
	}
	return nil
}
