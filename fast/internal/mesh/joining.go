package mesh

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// joining is a process on its way into its job. It connects to each other one as soon as it can, so that it hears of
// the death of one while it waits for another.
type joining struct {
	*Mesh
	ctx      context.Context // Join's
	reasons  reasons
	doubt    context.Context // ends when there is the first reason to fail
	doubting context.CancelCauseFunc
	inner    context.Context // ends with doubt and with ctx
	// Cards are fetched and connections made in work, which goes on when joining has failed: then others hear why.
	work      context.Context
	meeting   sync.WaitGroup
	fetches   chan struct{} // taken by those that fetch a card
	fetched   atomic.Int64  // when a card came last
	opened    sync.Once
	listening chan struct{} // closed when it is published at which addresses this process listens
	arranged  chan struct{} // closed when first is known
	first     int           // the first process of this host
	secret    bool          // the processes of the job share one
	end       func()
}

func newJoining(ctx context.Context, m *Mesh) *joining {
	j := &joining{Mesh: m, ctx: ctx, fetches: make(chan struct{}, maxFetches), listening: make(chan struct{}), arranged: make(chan struct{}),
		secret: m.cfg.Credentials.Key(m.me, "card") != nil}
	values := context.WithoutCancel(ctx)
	j.doubt, j.doubting = context.WithCancelCause(values)
	inner, stopInner := within(j.doubt, ctx, 0)
	work, stopWork := context.WithCancel(values)
	j.inner, j.work = inner, work
	unwatch := m.Watch(j.fell)
	j.end = func() {
		unwatch()
		stopWork()
		j.meeting.Wait()
		stopInner()
		m.keepNoCounts()
		j.doubting(nil)
	}
	return j
}

// within is outer, which ends too some time after ctx has ended, with its cause.
func within(outer, ctx context.Context, after time.Duration) (context.Context, func()) {
	inner, cancel := context.WithCancelCause(outer)
	stop := context.AfterFunc(ctx, func() {
		sleep(inner, after)
		cancel(context.Cause(ctx))
	})
	return inner, func() {
		stop()
		cancel(nil)
	}
}

// meet gets to know a process, and connects to it: who has the higher number dials.
func (j *joining) meet(process int) {
	c, ok := j.fetch(roundHost, process)
	if ok && c.Host != j.cfg.Host {
		j.open(false)
	}
	if ok && !j.direct(&c) {
		select {
		case <-j.listening: // who waits for others' addresses has published its own before
			c, ok = j.fetch(roundAddress, process)
		case <-j.work.Done():
			ok = false
		}
	}
	if ok && process != j.me.Process {
		j.reached(process, j.reach(&c))
	}
}

// starve reports that this process has no room for the connections of others.
func (j *joining) starve() {
	select {
	case err := <-j.starved:
		j.report(noRoom(err), certain)
	case <-j.work.Done():
	}
}

// noRoom returns err, which is for want of descriptors or memory, in words.
func noRoom(err error) error { return fmt.Errorf("this process cannot take connections: %w", err) }

func (j *joining) reach(c *Card) error {
	if c.Process > j.me.Process { // it calls this one
		_, err := j.routesTo(c, secure.Control)
		return err
	}
	if j.introduced(c) {
		return nil
	}
	return j.dialControl(j.work, *c, secure.Hello{Purpose: secure.Control, Token: j.card.Token})
}

// reached takes the result of reach.
func (j *joining) reached(process int, err error) {
	switch {
	case err == nil:
	case errors.Is(err, wire.ErrDied):
		j.down(process, errGone, nil)
	default:
		j.report(err, certain)
	}
}

// direct reports whether this process and that of card c are connected without TCP.
func (j *joining) direct(c *Card) bool {
	return c.Host == j.cfg.Host && c.Socket != "" && j.card.Socket != ""
}

// open has this process listen on TCP, once, and say so, or say that it cannot.
func (j *joining) open(alone bool) {
	j.opened.Do(func() {
		err := j.listenTCP(alone)
		if err != nil {
			j.card.Failure = err.Error()
			j.report(err, certain)
		}
		if failed := j.publish(j.work, roundAddress); failed != nil {
			j.report(failed, weak)
		} else if err == nil {
			close(j.listening)
		}
	})
}

// latecomers is how long a process that cannot join because of a death, or a fault of its own, waits for those who have
// not come yet.
const latecomers = time.Second

// linger gives those who are not connected yet time to hear why this process leaves.
func (j *joining) linger(why error) {
	longest := afterword
	if j.cfg.Fault != nil { // they hear it of its card alone
		longest = latecomers
	}
	var gave *gaveUp
	if f := closeReasonOf(why); f.blame == blameDead && !errors.As(why, &gave) { // who gave up has said so itself
		longest = latecomers
		for _, p := range f.ranks { // who does not come any more
			if j.peer(p) == nil {
				j.down(p, errGone, nil)
			}
		}
	}
	outer, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), longest)
	defer cancel()
	patient, stop := within(outer, j.ctx, afterword)
	defer stop()
	_ = j.awaitAll(patient, j.isConnected)
}
