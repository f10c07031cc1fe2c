package mesh

import (
	"context"
	"fmt"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
)

func (m *Mesh) publish(ctx context.Context, round string) error {
	if err := m.cfg.Publish(ctx, round, m.card.encode(m.cfg.Credentials, m.me)); err != nil {
		return fmt.Errorf("publishing the card of process %d: %w", m.me.Process, err)
	}
	return nil
}

// exchange publishes this process's card and fetches everybody's.
func (m *Mesh) exchange(ctx context.Context, round string) ([]Card, error) {
	if err := m.publish(ctx, round); err != nil {
		return nil, err
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cards := make([]Card, m.me.Size)
	come := make([]bool, m.me.Size)
	var work sync.WaitGroup
	for p := range cards {
		work.Go(func() {
			c, err := m.fetch(inner, round, p)
			if err != nil {
				cancel(err)
				return
			}
			cards[p], come[p] = c, true
		})
	}
	work.Wait()
	if inner.Err() == nil {
		return cards, nil
	}
	var absent []int
	for p, ok := range come {
		if !ok {
			absent = append(absent, p)
		}
	}
	return nil, m.explain(ctx, context.Cause(inner), absent)
}

// fetch fetches the card of a process.
func (m *Mesh) fetch(ctx context.Context, round string, process int) (Card, error) {
	b, err := m.cfg.Fetch(ctx, round, process)
	if err != nil {
		if ctx.Err() != nil {
			return Card{}, context.Cause(ctx)
		}
		return Card{}, fmt.Errorf("fetching the card of process %d: %w", process, err)
	}
	c, err := decodeCard(b, m.cfg.Credentials, m.me, process)
	switch {
	case err != nil:
		return Card{}, &wire.PeerError{Rank: process, Err: err}
	case c.Failure != "":
		return Card{}, &wire.PeerError{Rank: process, Err: &gaveUp{farewell{text: c.Failure}}}
	case process == m.me.Process && c.Token != m.card.Token:
		return Card{}, &wire.PeerError{Rank: process, Err: ErrTaken}
	}
	m.know(c, b)
	return c, nil
}
