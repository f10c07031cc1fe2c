package mesh

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// A process joins later in these steps: a member, the issuer, makes a ticket with Invite, which people or programs
// bring to the new process. That one calls JoinTicket: it connects to the issuer, gets the cards of all members and
// sends its own. The issuer hears of it from Await, and tells the other members, which is not the mesh's business; they
// Introduce it. Then it is let in by all of them, and JoinTicket returns.

// reservation is a number that was given away.
type reservation struct {
	token [16]byte
	until time.Time // it is about to be used
	used  bool
}

// Invite reserves the next number for a new process, and makes the ticket with which it joins. Only one process of a
// job should make tickets at a time, and have the others Reserve the numbers: two may give the same number away, and
// Introduce will refuse the second one.
func (m *Mesh) Invite() (Ticket, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return Ticket{}, wire.ErrClosed
	case m.highest >= maxProcess:
		return Ticket{}, errors.New("there are no more numbers for processes")
	case len(m.me.Job) > maxJob:
		return Ticket{}, fmt.Errorf("a ticket has room for a job's name of %d bytes, and not %d", maxJob, len(m.me.Job))
	}
	m.highest++
	r := new(reservation)
	_, _ = rand.Read(r.token[:])
	m.tickets[m.highest] = r
	return Ticket{Job: m.me.Job, Epoch: m.me.Epoch, Size: m.me.Size, Issuer: m.me.Process, Number: m.highest, Token: r.token,
		Host: m.card.Host, Socket: m.card.Socket, Addresses: m.card.Addresses}, nil
}

// maxClaim is how many numbers another process may have given away, all in all.
const maxClaim = 1 << 16

// Reserve takes note that another process, by, has given a number away. It fails if that cannot be.
func (m *Mesh) Reserve(by, number int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	more := number - m.highest
	if more <= 0 {
		return nil
	}
	x := m.of(by)
	if more > maxClaim-x.claimed || number > maxProcess {
		return &wire.PeerError{Rank: by, Err: fmt.Errorf("it gives away too many numbers: %d, after %d", number, m.highest)}
	}
	x.claimed += more
	m.highest = number
	return nil
}

// redeeming is how long a ticket may be in use until somebody else may try it.
const redeeming = 4 * time.Second

// present checks a ticket. It is called with m.mu held.
func (m *Mesh) present(h secure.Hello) error {
	r := m.tickets[h.From]
	switch {
	case r == nil || subtle.ConstantTimeCompare(r.token[:], h.Token[:]) == 0:
		return ErrTicket
	case r.used:
		return ErrTicketUsed
	case time.Now().Before(r.until):
		return fmt.Errorf("%w: the ticket is being used", secure.ErrBusy)
	}
	r.until = time.Now().Add(redeeming)
	return nil
}

// redeem takes note that a ticket was used, or could not be after all.
func (m *Mesh) redeem(h secure.Hello, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.tickets[h.From]
	r.used, r.until = r.used || ok, time.Time{}
}

// welcome tells a newcomer, which has just connected, who the members are, and later who goes down.
func (m *Mesh) welcome(newcomer int) {
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

// Await waits until the process with a number that was reserved or introduced is connected, and returns its card, for
// the other members to Introduce. It fails with the cause of ctx's end, or *wire.PeerError if the process is down.
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

// Introduce lets in a new process, whose card the issuer of its ticket got from Await. It fails if the card is not one
// of this job's, or the number is another process's or was not given away.
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
	taken := number < m.me.Size || number > m.highest || number == m.me.Process || (x != nil && x.raw != nil && x.card.Token != c.Token)
	m.mu.Unlock()
	if taken {
		return &wire.PeerError{Rank: number, Err: ErrTaken}
	}
	m.know(c, slices.Clone(card))
	if number < m.me.Process {
		m.approach(c)
	}
	return nil
}
