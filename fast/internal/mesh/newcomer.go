package mesh

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// JoinTicket makes this process one of a running job, with the number that the ticket says: of cfg's identity only the
// name of the job counts, and only if it is given. Publish and Fetch are not used. It returns when all members that are
// not down have let it in. A ticket that is not this job's, or was used, is ErrTicket or ErrTicketUsed; the other
// errors are those of Join.
func JoinTicket(ctx context.Context, cfg Config, ticket Ticket) (*Mesh, error) {
	if cfg.Identity.Job != "" && cfg.Identity.Job != ticket.Job {
		return nil, fmt.Errorf("%w: it is for job %q, and not %q", ErrTicket, ticket.Job, cfg.Identity.Job)
	}
	cfg.Identity = ticket.identity()
	m, err := newMesh(cfg)
	if err != nil {
		return nil, err
	}
	m.begin()
	if err := m.enter(ctx, ticket); err != nil {
		m.fail(err)
		return nil, err
	}
	return m, nil
}

// enter joins by a ticket.
func (m *Mesh) enter(ctx context.Context, t Ticket) error {
	inner, stop := m.whileUp(ctx, func(p int) bool { return p == t.Issuer })
	defer stop()
	issuer := Card{Process: t.Issuer, Host: t.Host, Socket: t.Socket, Addresses: t.Addresses}
	if err := m.dialControl(inner, issuer, secure.Hello{Purpose: secure.Join, Token: t.Token}); err != nil {
		return m.explain(ctx, err, []int{t.Issuer})
	}
	m.Handle(meshComm, kindGone, func(n wire.Note) { m.gone(t.Issuer, n) })
	cards, err := m.receiveCards(inner)
	if err != nil {
		return m.explain(ctx, err, []int{t.Issuer})
	}
	if err := sameSettings(append(cards, m.card)); err != nil {
		return err
	}
	if err := m.show(t.Issuer, cards); err != nil {
		return err
	}
	err = m.meetMembers(inner, cards)
	return m.explain(ctx, err, m.strangers(cards))
}

// receiveCards takes the cards of all members from the issuer.
func (m *Mesh) receiveCards(ctx context.Context) (cards []Card, err error) {
	for {
		n, err := m.Receive(ctx, wire.Topic{Comm: meshComm, Kind: kindMember})
		if err != nil || len(n.Body) == 0 {
			return cards, err
		}
		c, err := decodeCard(n.Body, m.cfg.Credentials, m.me, -1)
		if err != nil {
			return nil, &wire.PeerError{Rank: n.From, Err: err}
		}
		if c.Process < m.me.Process {
			m.know(c, n.Body)
			cards = append(cards, c)
		}
	}
}

// show sends this process's card to the issuer. Whether it listens on TCP is as the members need it.
func (m *Mesh) show(issuer int, cards []Card) error {
	if tcp, alone := needTCP(append([]Card{m.card}, cards...)); tcp {
		if err := m.listenTCP(alone); err != nil {
			return err
		}
	}
	raw := m.card.encode(m.cfg.Credentials, m.me)
	m.know(m.card, raw)
	m.Send(issuer, wire.Topic{Comm: meshComm, Kind: kindNewcomer}, raw)
	return nil
}

// meetMembers connects to the members, apart from those that go down meanwhile.
func (m *Mesh) meetMembers(ctx context.Context, cards []Card) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var dialling sync.WaitGroup
	for _, c := range cards {
		dialling.Go(func() {
			if err := m.meetMember(ctx, c); err != nil {
				cancel(err)
			}
		})
	}
	dialling.Wait()
	return context.Cause(ctx)
}

// meetMember connects to a member, if this process is not connected to it yet, unless it goes down.
func (m *Mesh) meetMember(ctx context.Context, c Card) error {
	if m.peer(c.Process) != nil { // the issuer
		return nil
	}
	ctx, stop := m.whileUp(ctx, func(p int) bool { return p == c.Process })
	defer stop()
	err := m.visit(ctx, c, secure.Hello{Purpose: secure.Control, Token: m.card.Token})
	if errors.Is(err, wire.ErrDied) {
		m.down(c.Process, wire.ErrDied, nil)
	}
	if m.Down(c.Process) != nil {
		return nil
	}
	return err
}

// strangers returns the processes of cards that are not down and that this one is not connected to.
func (m *Mesh) strangers(cards []Card) (processes []int) {
	for _, c := range cards {
		if m.peer(c.Process) == nil && m.Down(c.Process) == nil {
			processes = append(processes, c.Process)
		}
	}
	return processes
}

// gone takes the issuer's word that a member is down, unless this process is connected to it and knows better.
func (m *Mesh) gone(issuer int, n wire.Note) {
	if n.From != issuer || len(n.Body) != 4 {
		return
	}
	p := int(binary.LittleEndian.Uint32(n.Body))
	if m.Reserve(issuer, p) == nil && p != m.me.Process && m.peer(p) == nil {
		m.down(p, wire.ErrDied, nil)
	}
}
