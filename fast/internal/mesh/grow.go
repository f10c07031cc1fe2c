package mesh

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// A process joins later in these steps. A member, the issuer, makes a ticket with Invite, which people or programs
// bring to the new process. That process calls JoinTicket: it connects to the issuer, gets the cards of all members and
// sends its own. The issuer gets the new card from Await and passes it to the other members by its own means; they call
// Introduce. Then all of them accept connections of the new process, and JoinTicket returns.

// sendMembers sends the cards of all members to a newcomer that has just connected, and tells it later who goes down.
func (m *Mesh) sendMembers(newcomer int) {
	m.mu.Lock()
	var cards [][]byte
	for p, x := range m.members {
		if p != newcomer && x.raw != nil && x.err == nil {
			cards = append(cards, x.raw)
		}
	}
	m.mu.Unlock()
	for _, c := range append(cards, nil) {
		m.Send(newcomer, wire.Topic{Comm: meshComm, Kind: kindMember}, c)
	}
	m.Watch(func(process int, _ error) {
		if process != m.me.Process {
			m.Send(newcomer, wire.Topic{Comm: meshComm, Kind: kindGone}, binary.LittleEndian.AppendUint32(nil, uint32(process)))
		}
	})
	m.Handle(meshComm, kindNewcomer, func(n wire.Note) {
		if err := m.Introduce(n.From, n.Body); err != nil {
			m.cfg.Log.Warn("a newcomer was given up", "process", n.From, "error", err)
			m.Fence(n.From, wire.ErrDied)
		}
	})
}

// Await waits until the process with a reserved or introduced number is connected, and returns its card, for the other
// members to Introduce. It fails with the cause of ctx's end, or with *wire.PeerError if the process is down.
func (m *Mesh) Await(ctx context.Context, number int) (card []byte, err error) {
	ctx, stop := m.whileUp(ctx, func(p int) bool { return p == number })
	defer stop()
	err = m.await(ctx, func() bool {
		x := m.members[number]
		if x == nil || x.peer == nil || x.err != nil {
			return false
		}
		card = x.raw
		return card != nil
	})
	return card, err
}

// Introduce allows a new process to connect. Its card comes from Await on the issuer of its ticket. Introduce fails if
// the card does not belong to this job, or if the number belongs to another process or was not reserved.
func (m *Mesh) Introduce(number int, card []byte) error {
	c, err := decodeCard(card, m.cfg.Credentials, m.me, number)
	if err != nil {
		return &wire.PeerError{Rank: number, Err: err}
	}
	if err := sameSettings([]Card{c, {Process: m.me.Process, Encrypt: m.cfg.Encrypt, ForceTCP: m.cfg.ForceTCP,
		ForceRDMA: m.cfg.ForceRDMA, HeartbeatTimeout: m.cfg.HeartbeatTimeout}}); err != nil {
		return &wire.PeerError{Rank: number, Err: err}
	}
	m.mu.Lock()
	x := m.members[number]
	taken := number < m.me.Size || number > m.highest || number == m.me.Process ||
		(x != nil && x.raw != nil && x.card.Token != c.Token)
	m.mu.Unlock()
	if taken {
		return &wire.PeerError{Rank: number, Err: ErrTaken}
	}
	m.know(c, slices.Clone(card))
	if number < m.me.Process {
		m.dialNewcomer(c)
	}
	return nil
}

// dialNewcomer connects in the background to a process that has a lower number and has joined later than this one.
func (m *Mesh) dialNewcomer(c Card) {
	m.start(func() {
		if m.peer(c.Process) != nil {
			return
		}
		ctx, stop := m.whileUp(m.leaving, func(p int) bool { return p == c.Process })
		defer stop()
		if err := m.dialMember(ctx, c, secure.Hello{Purpose: secure.Control, Token: m.card.Token}); err != nil {
			m.cfg.Log.Warn("another newcomer cannot be reached", "process", c.Process, "error", err)
		}
	})
}

// dialMember connects to a member, and waits until the member says that it is connected too.
func (m *Mesh) dialMember(ctx context.Context, c Card, h secure.Hello) error {
	if err := m.dialControl(ctx, c, h); err != nil {
		return err
	}
	_, err := m.Receive(ctx, wire.Topic{Comm: meshComm, Kind: kindHello, Seq: uint32(c.Process)})
	return err
}
