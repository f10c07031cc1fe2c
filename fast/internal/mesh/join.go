package mesh

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// The rounds in which cards are published: in the first one they say on which host a process is; in the second one, which
// there is only if some connections have to be TCP's, at which addresses.
const (
	roundHost    = "host"
	roundAddress = "address"
)

// meshComm is the number under which meshes talk among themselves.
const meshComm = 1<<64 - 1

// What they talk about.
const (
	kindReady    uint8 = iota + 1 // to process 0: the sender is connected to all
	kindGo                        // from process 0: all are
	kindMember                    // to a newcomer: a member's card, or nothing after the last one
	kindNewcomer                  // from a newcomer: its card
	kindGone                      // to a newcomer: a member is down
	kindHello                     // to a newcomer: the sender, whose number is the Seq, is connected to it
)

// Join connects this process with all others of its job. It returns when all are connected to all, and fails on all if it
// fails on one, apart from those that had just heard of success; they find the others down.
//
// It fails with *wire.TimeoutError if processes had not come when ctx ended, and then says who was refused meanwhile;
// with *wire.PeerError if a process died, gave up or refused this one; or in words.
func Join(ctx context.Context, cfg Config) (*Mesh, error) {
	m, err := newMesh(cfg)
	if err != nil {
		return nil, err
	}
	m.begin()
	if err := m.join(ctx); err != nil {
		m.fail(err)
		return nil, err
	}
	return m, nil
}

// begin makes this process's first card, and has it listen.
func (m *Mesh) begin() {
	m.card = Card{Process: m.me.Process, Host: m.cfg.Host, Freeze: m.cfg.Freeze, ForceTCP: m.cfg.ForceTCP}
	_, _ = rand.Read(m.card.Token[:])
	m.card.Socket = m.listenLocal()
	m.work.Go(m.watchOver)
}

func (m *Mesh) join(ctx context.Context) error {
	cards, err := m.exchange(ctx, roundHost)
	if err != nil {
		return err
	}
	if tcp, alone := needTCP(cards); tcp {
		if err := m.listenTCP(alone); err != nil {
			m.card.Failure = err.Error()
			return errors.Join(err, m.publish(ctx, roundAddress))
		}
		if cards, err = m.exchange(ctx, roundAddress); err != nil {
			return err
		}
	}
	inner, stop := m.whileUp(ctx, func(int) bool { return true })
	defer stop()
	if err := m.meet(inner, cards, m.summon); err != nil {
		return m.explain(ctx, err, m.missing(cards))
	}
	return m.settle(ctx, inner)
}

// needTCP tells whether processes have to be reached by TCP, and whether all of them are on one host. All processes come
// to the same result.
func needTCP(cards []Card) (tcp, alone bool) {
	alone = true
	for _, c := range cards {
		alone = alone && c.Host == cards[0].Host
		tcp = tcp || c.ForceTCP || c.Socket == ""
	}
	return tcp || !alone, alone
}

// meet makes or awaits the control connections to the processes of all cards: who has the higher number dials, which summon
// does.
func (m *Mesh) meet(ctx context.Context, cards []Card, summon func(context.Context, Card, secure.Hello) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var dialling, probing sync.WaitGroup
	defer probing.Wait()
	defer dialling.Wait()
	defer cancel(nil)
	try := func(err error) {
		if err != nil {
			cancel(err)
		}
	}
	for _, c := range cards {
		switch {
		case c.Process < m.me.Process:
			hello := secure.Hello{Purpose: secure.Control, Token: m.card.Token}
			dialling.Go(func() { try(summon(ctx, c, hello)) })
		case c.Process > m.me.Process:
			probing.Go(func() { try(m.probe(ctx, c)) })
		}
	}
	if err := m.await(ctx, func() bool { return len(m.unconnected(cards)) == 0 }); err != nil {
		return err
	}
	dialling.Wait()
	return context.Cause(ctx)
}

// unconnected are the processes of cards that are not down and that this one is not connected to. It is called with m.mu
// held.
func (m *Mesh) unconnected(cards []Card) (processes []int) {
	for _, c := range cards {
		if x := m.members[c.Process]; c.Process != m.me.Process && x.peer == nil && x.err == nil {
			processes = append(processes, c.Process)
		}
	}
	return processes
}

// missing is unconnected for those who do not hold m.mu.
func (m *Mesh) missing(cards []Card) []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unconnected(cards)
}

// settle has all processes learn that all are connected to all: process 0 hears it from each and tells them. Inner is ctx
// until a process is down.
func (m *Mesh) settle(ctx, inner context.Context) error {
	if m.me.Process != 0 {
		m.Send(0, wire.Topic{Comm: meshComm, Kind: kindReady}, nil)
		_, err := m.Receive(inner, wire.Topic{Comm: meshComm, Kind: kindGo})
		if err != nil && ctx.Err() != nil { // others may be about to say why
			err = m.lastChance(ctx, err)
		}
		return m.explain(ctx, err, []int{0})
	}
	ready := []int{0}
	for len(ready) < m.me.Size {
		n, err := m.Receive(inner, wire.Topic{Comm: meshComm, Kind: kindReady})
		if err != nil {
			return m.explain(ctx, err, others(m.me.Size, ready))
		}
		ready = append(ready, n.From)
	}
	for p := range m.me.Size {
		if p != 0 {
			m.Send(p, wire.Topic{Comm: meshComm, Kind: kindGo}, nil)
		}
	}
	return nil
}

// lastChance waits a little longer for process 0, after ctx has ended.
func (m *Mesh) lastChance(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), lastWords, err)
	defer cancel()
	ctx, stop := m.whileUp(ctx, func(int) bool { return true })
	defer stop()
	_, err = m.Receive(ctx, wire.Topic{Comm: meshComm, Kind: kindGo})
	return err
}

// others are the processes of size that are not among some.
func others(size int, some []int) (rest []int) {
	for p := range size {
		if !slices.Contains(some, p) {
			rest = append(rest, p)
		}
	}
	return rest
}
