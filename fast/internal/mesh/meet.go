package mesh

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// request fetches the card of a process and connects to it, once.
func (j *joining) request(process int) {
	if !j.begins(roundHost, process) {
		return
	}
	j.meeting.Go(func() {
		c, ok := j.fetch(roundHost, process)
		switch {
		case !ok:
		case j.direct(&c):
			j.connect(&c)
		default:
			if c.Host != j.cfg.Host {
				j.open(false)
			}
			select {
			case <-j.listening: // publish our own addresses before waiting for those of others
				j.requestAddresses(process)
			case <-j.work.Done():
			}
		}
	})
}

// requestAddresses fetches the card with a process's addresses, once, and connects to it if that needs them.
func (j *joining) requestAddresses(process int) {
	if !j.begins(roundAddress, process) {
		return
	}
	j.meeting.Go(func() {
		if c, ok := j.fetch(roundAddress, process); ok && !j.direct(&c) {
			j.connect(&c)
		}
	})
}

// connect connects to the process of card c, once. The process with the higher number dials.
func (j *joining) connect(c *Card) {
	if c.Process != j.me.Process && j.begins("connect", c.Process) {
		j.reached(c.Process, j.reach(c))
	}
}

// begins reports whether something is done with a process for the first time.
func (j *joining) begins(what string, process int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	x := step{what, process}
	before := j.begun[x]
	j.begun[x] = true
	return !before
}

// fetchRest fetches all cards that this process needs and does not know.
func (j *joining) fetchRest() {
	for _, p := range j.fetchOrder() {
		c := j.cardOf(p)
		switch known := c.Host != ""; {
		case !known:
			j.request(p)
		case len(c.Addresses) == 0 && (j.addressing.Load() || !j.direct(&c)):
			j.requestAddresses(p)
		}
	}
}

// fetchLate fetches all cards once none has come for a time: nobody may be there to pass them on.
func (j *joining) fetchLate() {
	pause := max(fetchPause, time.Duration(j.me.Size)*fetchShare)
	for j.work.Err() == nil {
		sleep(j.work, pause)
		if j.now()-j.fetched.Load() >= int64(pause) {
			j.fetchRest()
		}
	}
}

// publish publishes this process's card.
func (m *Mesh) publish(ctx context.Context, round string) error {
	if err := m.cfg.Publish(ctx, round, m.card.encode(m.cfg.Credentials, m.me)); err != nil {
		return fmt.Errorf("publishing the card of process %d: %w", m.me.Process, err)
	}
	return nil
}

// The rounds in which cards are published. In the first round, they say on which host a process is. The second round
// adds addresses, and is needed only if some connections use TCP.
const (
	roundHost    = "host"
	roundAddress = "address"
)

// fetchOrder returns the processes in the order in which this one fetches their cards: its own first, which shows
// whether another process has taken its number, then that of process 0, and then the others at random.
func (j *joining) fetchOrder() []int {
	order := rand.Perm(j.me.Size)
	for i, process := range []int{j.me.Process, 0} {
		if at := slices.Index(order, process); at > i {
			order[i], order[at] = order[at], order[i]
		}
	}
	return order
}

// awaitTurn waits until this process may fetch another card. The caller has to call done once the card has come. After
// a failure there is no limit.
func (j *joining) awaitTurn() (done func()) {
	for {
		select {
		case j.fetches <- struct{}{}:
			return func() {
				j.fetched.Store(j.now())
				<-j.fetches
			}
		case <-j.inner.Done():
			return func() {}
		case <-time.After(fetchPause):
			if j.now()-j.fetched.Load() >= int64(fetchPause) {
				return func() { j.fetched.Store(j.now()) }
			}
		}
	}
}

// catchUp waits, after joining has failed, for the cards that were not fetched yet, as long as some come. Their
// processes are not missing.
func (j *joining) catchUp() {
	if j.me.Size <= maxFetches {
		return
	}
	j.fetchRest()
	patient, stop := context.WithTimeout(j.work, lateWait)
	defer stop()
	for missing, before := len(j.missing()), -1; missing != before; missing, before = len(j.missing()), missing {
		soon, cancel := context.WithTimeout(patient, rootCauseWait)
		_ = j.awaitAll(soon, j.known)
		cancel()
	}
}

// fetch fetches the card of a process. If it fails, it has reported the reason, or joining has ended.
func (j *joining) fetch(round string, process int) (c Card, ok bool) {
	done := j.awaitTurn()
	b, err := j.cfg.Fetch(j.work, round, process)
	done()
	if err != nil {
		// A process that this one was introduced to is known all the same. All others may have joined, and the store be
		// closed.
		if c = j.cardOf(process); c.Host != "" && (round == roundHost || len(c.Addresses) > 0) {
			return c, true
		}
		j.report(fmt.Errorf("fetching the card of process %d: %w", process, err), weak)
		return Card{}, false
	}
	c, err = decodeCard(b, j.cfg.Credentials, j.me, process)
	if err != nil {
		j.report(&wire.PeerError{Rank: process, Err: err}, certain)
		return Card{}, false
	}
	ok = j.learn(c, b)
	if ok && (len(c.Addresses) > 0 || !j.private(&c)) {
		j.passOn(b)
	}
	return c, ok
}

// learn stores a card. If it shows that joining fails, learn has reported the reason and reports false.
func (j *joining) learn(c Card, raw []byte) bool {
	switch {
	case c.Failure != "":
		j.report(&wire.PeerError{Rank: c.Process, Err: &gaveUp{closeReason{text: c.Failure}}}, strong)
	case c.Process == j.me.Process && c.Token != j.card.Token, !j.know(c, raw):
		j.report(&wire.PeerError{Rank: c.Process, Err: ErrTaken}, certain)
	default:
		return true
	}
	return false
}

// open listens on TCP, once, and publishes the addresses or the failure.
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

// introduced reports whether another process introduces this one to that of card c. It is false when joining ends
// first.
func (j *joining) introduced(c *Card) bool {
	if !j.private(c) {
		return false
	}
	select {
	case <-j.arranged:
		return j.first != j.me.Process && j.first != c.Process
	case <-j.work.Done():
		return false
	}
}

// reached handles the result of reach.
func (j *joining) reached(process int, err error) {
	switch {
	case err == nil:
	case errors.Is(err, wire.ErrDied):
		j.down(process, errGone, nil)
	default:
		j.report(err, certain)
	}
}

// A process looks every probePause whether the next one still listens, and less often in a large job, so that what all
// of them together do does not grow with it.
const (
	probePause = 250 * time.Millisecond
	probeShare = 4 * time.Millisecond // for each process
)

// probe looks whether those that are to connect to this process, or to be introduced to it, still listen: at one after
// the other, so that what it costs does not grow with the job, and again at one where nobody does.
func (j *joining) probe() {
	absent := make(map[int]*absence)
	pause := max(probePause, time.Duration(j.me.Size)*probeShare)
	for process := j.me.Process + 1; ; {
		if sleep(j.work, pause); j.work.Err() != nil {
			return
		}
		c, routes := j.nextAwaited(process)
		if len(routes) == 0 {
			continue
		}
		process = c.Process
		if absent[process] == nil {
			absent[process] = new(absence)
		}
		nobody := nobodyListens(j.work, routes)
		if absent[process].proved(routes, nobody) && j.peer(process) == nil { // it may have joined and left meanwhile
			j.reached(process, &wire.PeerError{Rank: process, Err: wire.ErrDied})
		}
		if !nobody {
			process++
		}
	}
}

// nextAwaited returns the next reachable process, cyclically from number first on, that has to connect to this one, and
// the ways to it. There are none if there is no such process.
func (j *joining) nextAwaited(first int) (c Card, routes []route) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.me.Size {
		p := (first + i) % j.me.Size
		x := j.members[p]
		if x == nil || x.raw == nil || j.isConnected(p, x) || p < j.me.Process && !j.private(&x.card) {
			continue
		}
		if routes, err := j.routesTo(&x.card, secure.Control); err == nil {
			return x.card, routes
		}
	}
	return c, nil
}
