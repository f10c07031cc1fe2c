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

// JoinTicket makes this process a member of a running job, with the number in the ticket. Of cfg's identity only the
// name of the job is used, if it is set; Publish and Fetch are not used. JoinTicket returns when this process is
// connected to all members that are not down. It fails with ErrTicket for a ticket of another job, with ErrTicketUsed
// for a used one, and otherwise as Join does.
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
	if err := m.joinByTicket(ctx, ticket); err != nil {
		m.fail(err)
		return nil, err
	}
	return m, nil
}

// joinByTicket joins by a ticket.
func (m *Mesh) joinByTicket(ctx context.Context, t Ticket) error {
	inner, stop := m.whileUp(ctx, func(p int) bool { return p == t.Issuer })
	defer stop()
	issuer := Card{Process: t.Issuer, Host: t.Host, Socket: t.Socket, Addresses: t.Addresses}
	if err := m.dialControl(inner, issuer, secure.Hello{Purpose: secure.Join, Token: t.Token}); err != nil {
		return m.waitError(ctx, err, []int{t.Issuer})
	}
	m.Handle(meshComm, kindGone, func(n wire.Note) { m.onMemberDown(t.Issuer, n) })
	cards, err := m.receiveCards(inner)
	if err != nil {
		return m.waitError(ctx, err, []int{t.Issuer})
	}
	if err := sameSettings(append(cards, m.card)); err != nil {
		return err
	}
	if err := m.sendCard(t.Issuer, cards); err != nil {
		return err
	}
	err = m.meetMembers(inner, cards)
	return m.waitError(ctx, err, m.unconnected(cards))
}

// receiveCards returns the cards of all members, which the issuer sends.
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

// sendCard sends this process's card to the issuer. It listens on TCP first if some member needs it.
func (m *Mesh) sendCard(issuer int, cards []Card) error {
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

// meetMembers connects to all members except those that go down meanwhile.
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

// meetMember connects to a member, unless it is connected already or goes down.
func (m *Mesh) meetMember(ctx context.Context, c Card) error {
	if m.peer(c.Process) != nil { // the issuer
		return nil
	}
	ctx, stop := m.whileUp(ctx, func(p int) bool { return p == c.Process })
	defer stop()
	err := m.dialMember(ctx, c, secure.Hello{Purpose: secure.Control, Token: m.card.Token})
	if errors.Is(err, wire.ErrDied) {
		m.down(c.Process, wire.ErrDied, nil)
	}
	if m.Down(c.Process) != nil {
		return nil
	}
	return err
}

// unconnected returns the processes of cards that are neither down nor connected to this one.
func (m *Mesh) unconnected(cards []Card) (processes []int) {
	for _, c := range cards {
		if m.peer(c.Process) == nil && m.Down(c.Process) == nil {
			processes = append(processes, c.Process)
		}
	}
	return processes
}

// onMemberDown marks a member as down when the issuer says so, unless this process is connected to it.
func (m *Mesh) onMemberDown(issuer int, n wire.Note) {
	if n.From != issuer || len(n.Body) != 4 {
		return
	}
	p := int(binary.LittleEndian.Uint32(n.Body))
	if m.Reserve(issuer, p) == nil && p != m.me.Process && m.peer(p) == nil {
		m.down(p, wire.ErrDied, nil)
	}
}
