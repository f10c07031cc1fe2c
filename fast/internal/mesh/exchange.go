package mesh

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

func (m *Mesh) publish(ctx context.Context, round string) error {
	if err := m.cfg.Publish(ctx, round, m.card.encode(m.cfg.Credentials, m.me)); err != nil {
		return fmt.Errorf("publishing the card of process %d: %w", m.me.Process, err)
	}
	return nil
}

// If every process waited for every card at the same time, each card would wake all of them as it comes: in a large
// job, most of the time to form it. So a process waits for few at once, chosen at random, and finds most of the others
// there already. Where nothing comes for a while, it waits for all of them, and so learns who is missing.
const (
	maxFetches = 8
	fetchPause = time.Second
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

// awaitTurn waits until this process may fetch another card, and returns what to call once it has come. When joining
// fails, all may be fetched.
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

// catchUp waits for the cards whose turn may not have come when joining failed, as long as some come: their processes
// are not missing.
func (j *joining) catchUp() {
	if j.me.Size <= maxFetches {
		return
	}
	for missing, before := len(j.missing()), -1; missing != before; missing, before = len(j.missing()), missing {
		soon, cancel := context.WithTimeout(j.work, hearsay)
		_ = j.awaitAll(soon, j.known)
		cancel()
	}
}

// fetch fetches the card of a process. If it fails, there is a reason for joining to fail, or it has ended.
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
	switch {
	case err != nil:
		j.report(&wire.PeerError{Rank: process, Err: err}, certain)
	case c.Failure != "":
		j.report(&wire.PeerError{Rank: process, Err: &gaveUp{closeReason{text: c.Failure}}}, strong)
	case process == j.me.Process && c.Token != j.card.Token:
		j.report(&wire.PeerError{Rank: process, Err: ErrTaken}, certain)
	case !j.know(c, b):
		j.report(&wire.PeerError{Rank: process, Err: ErrTaken}, certain)
	default:
		return c, true
	}
	return Card{}, false
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
