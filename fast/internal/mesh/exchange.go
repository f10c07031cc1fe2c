package mesh

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast/internal/wire"
)

func (m *Mesh) publish(ctx context.Context, round string) error {
	if err := m.cfg.Publish(ctx, round, m.card.encode(m.cfg.Credentials, m.me)); err != nil {
		return fmt.Errorf("publishing the card of process %d: %w", m.me.Process, err)
	}
	return nil
}

// fetch fetches the card of a process. If it fails, there is a reason for joining to fail, or it has ended.
func (j *joining) fetch(round string, process int) (c Card, ok bool) {
	b, err := j.cfg.Fetch(j.work, round, process)
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

func (j *joining) connected(p int, x *member) bool {
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
	for _, so := range []func(int, *member) bool{j.known, j.connected, j.addressed} {
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
