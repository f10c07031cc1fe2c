package mesh

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// If every process waited for all cards at once, each new card would wake all processes, which would take most of the
// time to form a large job. So the first process of a host fetches the cards, and the others get them from it. It waits
// for a few at a time, in random order, and finds most of the others published already. If no card comes for a pause, a
// process waits for all of them, to learn who is missing.
const (
	maxFetches = 8
	fetchPause = time.Second
	fetchShare = 20 * time.Millisecond // for each process
)

// lateWait is how long a process that cannot join because of a death, or its own fault, waits for processes that have
// not come yet.
const lateWait = time.Second

// joining is the state of Join. It connects to each other process as soon as it can, so that it learns of the death of
// one while it waits for another.
type joining struct {
	*Mesh
	ctx        context.Context // Join's
	reasons    reasons
	failing    context.Context // ends with the first reason to fail
	setFailing context.CancelCauseFunc
	inner      context.Context // ends with failing and with ctx
	// Cards are fetched and connections made until work ends, which goes on after a failure to tell others why.
	work       context.Context
	meeting    sync.WaitGroup
	begun      map[step]bool // guarded by m.mu
	fetches    chan struct{} // limits how many cards are fetched at once
	fetched    atomic.Int64  // when the last card came
	addressing atomic.Bool   // the addresses of all processes are needed
	passed     [][]byte      // cards that the first process of a host passes on to the others. Guarded by m.mu.
	opened     sync.Once
	listening  chan struct{} // closed when the addresses of this process are published
	arranged   chan struct{} // closed when first is known
	first      int           // the first process of this host
	secret     bool          // the processes of the job share one
	introducer *introducer   // nil: another process introduces. Guarded by m.mu.
	end        func()
}

// step is something that is done once with each process.
type step struct {
	what    string
	process int
}

func newJoining(ctx context.Context, m *Mesh) *joining {
	j := &joining{Mesh: m, ctx: ctx, begun: make(map[step]bool), fetches: make(chan struct{}, maxFetches),
		listening: make(chan struct{}),
		arranged:  make(chan struct{}), secret: m.cfg.Credentials.Key(m.me, "card") != nil}
	values := context.WithoutCancel(ctx)
	j.failing, j.setFailing = context.WithCancelCause(values)
	inner, stopInner := within(j.failing, ctx, 0)
	work, stopWork := context.WithCancel(values)
	j.inner, j.work = inner, work
	unwatch := m.Watch(j.onDown)
	j.end = func() {
		unwatch()
		stopWork()
		j.meeting.Wait()
		stopInner()
		j.setFailing(nil)
	}
	return j
}

// within returns a context that ends with outer, or some time after ctx has ended with the cause of ctx.
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

// report adds a reason to fail.
func (j *joining) report(err error, w weight) {
	if j.work.Err() != nil {
		return // everything fails once joining has ended
	}
	fault, err := faultOf(err, j.me.Process)
	j.reasons.mu.Lock()
	j.reasons.all = append(j.reasons.all, reason{err, w, fault})
	j.reasons.mu.Unlock()
	j.setFailing(err)
}

// onDown reports that a process is down. A process that has closed its mesh had joined, so this one will join too.
func (j *joining) onDown(process int, err error) {
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

// reportWait reports the failure of a wait for processes, unless there is a reason to fail already.
func (j *joining) reportWait(err error, waiting []int) error {
	if err != nil && j.failing.Err() == nil {
		if ctx := j.ctx; ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			err = &wire.TimeoutError{Waiting: waiting, Err: wire.EndedBy(ctx, err)}
		}
		j.report(err, weak)
	}
	return err
}

// joinError returns why joining has failed, after it has waited for better reasons.
func (j *joining) joinError() error {
	if w, _ := j.reasons.best(); w < certain {
		time.Sleep(rootCauseWait)
		if j.me.Process != 0 { // process 0 may keep the store: it alone knows who was refused there, and is telling now
			time.Sleep(rootCauseWait)
		}
	}
	_, err := j.reasons.best()
	var absent *wire.TimeoutError
	if errors.As(err, &absent) {
		return j.withRefusals(err)
	}
	return err
}

// Conditions that become true of each process and stay true.
func (j *joining) known(_ int, x *member) bool { return x.raw != nil }

func (j *joining) addressed(_ int, x *member) bool { return len(x.card.Addresses) > 0 }

func (j *joining) isConnected(p int, x *member) bool {
	return x.peer != nil || x.err != nil || p == j.me.Process
}

// awaitAll waits until a condition is true of all processes, or ctx ends.
func (j *joining) awaitAll(ctx context.Context, so func(int, *member) bool) error {
	p := 0
	return j.await(ctx, func() bool {
		for p < j.me.Size && so(p, j.of(p)) {
			p++
		}
		return p == j.me.Size
	})
}

// silentIntroducer returns the first process of this host, and reports whether it is connected but silent. While it is,
// it holds up all connections that it would make for this process. The caller holds m.mu.
func (j *joining) silentIntroducer() (first int, silent bool) {
	select {
	case <-j.arranged:
		x := j.of(j.first)
		return j.first, x.peer != nil && x.err == nil && j.now()-x.peer.heard.Load() > int64(j.cfg.HeartbeatTimeout)/2
	default:
		return 0, false
	}
}

// missing returns the processes that this one is waiting for.
func (j *joining) missing() (processes []int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if first, silent := j.silentIntroducer(); silent {
		return []int{first}
	}
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

// cards returns the cards of all processes, once they are known.
func (j *joining) cards() []Card {
	j.mu.Lock()
	defer j.mu.Unlock()
	cards := make([]Card, j.me.Size)
	for p := range cards {
		cards[p] = j.members[p].card
	}
	return cards
}

// direct reports whether this process and that of card c connect without TCP.
func (j *joining) direct(c *Card) bool {
	return c.Host == j.cfg.Host && c.Socket != "" && j.card.Socket != ""
}

// private reports whether the process of card c is on this host and shares a secret with this one.
func (j *joining) private(c *Card) bool {
	return j.secret && j.direct(c)
}
