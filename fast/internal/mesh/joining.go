package mesh

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

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

// report takes a reason to fail.
func (j *joining) report(err error, w weight) {
	if j.work.Err() != nil {
		return // joining has ended, and everything with it
	}
	fault, err := faultOf(err, j.me.Process)
	j.reasons.mu.Lock()
	j.reasons.all = append(j.reasons.all, reason{err, w, fault})
	j.reasons.mu.Unlock()
	j.doubting(err)
}

// fell reports that a process is down. One that has closed its mesh had joined, and so will this one.
func (j *joining) fell(process int, err error) {
	switch {
	case errors.Is(err, wire.ErrClosed):
	case process == j.me.Process:
		j.report(err, certain)
	case errors.Is(err, wire.ErrFenced):
		j.report(&wire.PeerError{Rank: process, Err: err}, certain)
	case errors.Is(err, wire.ErrExhausted):
		j.report(noRoom(err), certain)
	case errors.Is(err, errGone), errors.Is(err, errUnmet):
		j.report(&wire.PeerError{Rank: process, Err: err}, weak)
	default:
		j.report(&wire.PeerError{Rank: process, Err: err}, strong)
	}
}

// late sees to it that there is a reason if joining fails with err, which is that ctx has ended if there is none yet.
func (j *joining) late(err error, waiting []int) error {
	if err != nil && j.doubt.Err() == nil {
		if ctx := j.ctx; ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			err = &wire.TimeoutError{Waiting: waiting, Err: wire.EndedBy(ctx, err)}
		}
		j.report(err, weak)
	}
	return err
}

// joinError returns why joining has failed, all in all.
func (j *joining) joinError() error {
	if w, _ := j.reasons.best(); w < certain {
		time.Sleep(hearsay)
		if j.me.Process != 0 { // which may have the store: then it alone knows who was sent away there, and says so now
			time.Sleep(hearsay)
		}
	}
	_, err := j.reasons.best()
	var absent *wire.TimeoutError
	if errors.As(err, &absent) {
		return j.withRefusals(err)
	}
	return err
}

// What has to be so of each process in the end, and then stays so.
func (j *joining) known(_ int, x *member) bool { return x.raw != nil }

func (j *joining) addressed(_ int, x *member) bool { return len(x.card.Addresses) > 0 }

func (j *joining) isConnected(p int, x *member) bool {
	return x.peer != nil || x.err != nil || p == j.me.Process
}

// awaitAll waits until something is so of all processes, or until there is a reason to fail, or ctx has ended.
func (j *joining) awaitAll(ctx context.Context, so func(int, *member) bool) error {
	p := 0
	return j.await(ctx, func() bool {
		for p < j.me.Size && so(p, j.of(p)) {
			p++
		}
		return p == j.me.Size
	})
}

// missing returns the processes that this one waits for.
func (j *joining) missing() (processes []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, so := range []func(int, *member) bool{j.known, j.isConnected, j.addressed} {
		for p := range j.me.Size {
			if !so(p, j.of(p)) {
				processes = append(processes, p)
			}
		}
		if len(processes) > 0 {
			break
		}
	}
	return processes
}

// cards returns those of all processes, once they are known.
func (j *joining) cards() []Card {
	j.mu.Lock()
	defer j.mu.Unlock()
	cards := make([]Card, j.me.Size)
	for p := range cards {
		cards[p] = j.members[p].card
	}
	return cards
}

// direct reports whether this process and that of card c are connected without TCP.
func (j *joining) direct(c *Card) bool {
	return c.Host == j.cfg.Host && c.Socket != "" && j.card.Socket != ""
}

// private reports whether the process of card c is on this host, and shares a secret with this one.
func (j *joining) private(c *Card) bool {
	return j.secret && j.direct(c)
}
