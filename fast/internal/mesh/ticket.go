package mesh

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Ticket lets one process join a running job. It says where the job is and carries a token that can be used once. It
// contains no secret, so the process also needs the job's credentials.
type Ticket struct {
	Job       string
	Epoch     uint32
	Size      int // of the job at its start
	Issuer    int // the process that made the ticket
	Number    int // the number of the new process
	Token     [16]byte
	Host      string // the issuer's, as in its card
	Socket    string
	Addresses []netip.AddrPort
}

const (
	ticketVersion = 1
	maxJob        = 255
	maxTicket     = 1 << 10 // bytes, before they are encoded as text
	sumBytes      = 4
	ticketPrefix  = "collgen-"
)

// String encodes the ticket as letters, digits, '-' and '_'.
func (t Ticket) String() string {
	b := binary.LittleEndian.AppendUint32([]byte{ticketVersion}, t.Epoch)
	for _, n := range [...]int{t.Size, t.Issuer, t.Number} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	b = append(b, t.Token[:]...)
	b = appendText(b, t.Job, maxJob)
	b = appendText(b, t.Host, maxHost)
	b = appendText(b, t.Socket, maxSocket)
	b = appendAddresses(b, t.Addresses)
	sum := sha256.Sum256(b)
	return ticketPrefix + base64.RawURLEncoding.EncodeToString(append(b, sum[:sumBytes]...))
}

// ParseTicket decodes the text of a ticket. It fails with ErrTicket.
func ParseTicket(s string) (Ticket, error) {
	if len(s) <= len(ticketPrefix) || len(s) > 2*maxTicket || s[:len(ticketPrefix)] != ticketPrefix {
		return Ticket{}, fmt.Errorf("%w: it does not begin with %q, or is too long", ErrTicket, ticketPrefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s[len(ticketPrefix):])
	if err != nil || len(b) < sumBytes {
		return Ticket{}, fmt.Errorf("%w: it is cut off or has other characters than a ticket", ErrTicket)
	}
	body := b[:len(b)-sumBytes]
	if sum := sha256.Sum256(body); subtle.ConstantTimeCompare(sum[:sumBytes], b[len(body):]) == 0 {
		return Ticket{}, fmt.Errorf("%w: some of it is missing or was changed", ErrTicket)
	}
	d := decoder{b: body}
	version := d.byte()
	t := Ticket{Epoch: d.uint32(), Size: int(d.uint32()), Issuer: int(d.uint32()), Number: int(d.uint32())}
	copy(t.Token[:], d.bytes(len(t.Token)))
	t.Job, t.Host, t.Socket = d.text(maxJob), d.text(maxHost), d.text(maxSocket)
	t.Addresses = d.addresses()
	switch {
	case d.err != nil:
		return Ticket{}, fmt.Errorf("%w: %w", ErrTicket, d.err)
	case version != ticketVersion || len(d.b) > 0:
		return Ticket{}, fmt.Errorf("%w: it is of version %d, and this is version %d", ErrTicket, version, ticketVersion)
	case t.Size < 1 || t.Number < t.Size || t.Number > maxProcess || t.Issuer < 0 || t.Issuer >= t.Number:
		return Ticket{}, fmt.Errorf("%w: process %d of %d, from process %d", ErrTicket, t.Number, t.Size, t.Issuer)
	}
	return t, nil
}

// identity returns the identity of the process that joins with the ticket.
func (t *Ticket) identity() secure.Identity {
	return secure.Identity{Job: t.Job, Epoch: t.Epoch, Process: t.Number, Size: t.Size}
}

// Invite reserves the next number for a new process and returns the ticket with which it joins. Only one process of a
// job should issue tickets at a time, and have the others Reserve the numbers. Otherwise two may issue the same number,
// and Introduce refuses the second process.
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
	return Ticket{Job: m.me.Job, Epoch: m.me.Epoch, Size: m.me.Size, Issuer: m.me.Process, Number: m.highest,
		Token: r.token, Host: m.card.Host, Socket: m.card.Socket, Addresses: m.card.Addresses}, nil
}

// maxClaim is how many numbers another process may reserve in all.
const maxClaim = 1 << 16

// Reserve records that another process, by, has reserved a number. It fails if that is one too many.
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

// ticketUseTime is how long a process may be using a ticket until another one may try it.
const ticketUseTime = 4 * time.Second

// checkTicket checks a ticket and marks it as being used. Its caller holds m.mu.
func (m *Mesh) checkTicket(h secure.Hello) error {
	r := m.tickets[h.From]
	switch {
	case r == nil || subtle.ConstantTimeCompare(r.token[:], h.Token[:]) == 0:
		return ErrTicket
	case r.used:
		return ErrTicketUsed
	case time.Now().Before(r.until):
		return fmt.Errorf("%w: the ticket is being used", secure.ErrBusy)
	}
	r.until = time.Now().Add(ticketUseTime)
	return nil
}

// endTicketUse records whether the process that was using a ticket has joined.
func (m *Mesh) endTicketUse(h secure.Hello, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.tickets[h.From]
	r.used, r.until = r.used || ok, time.Time{}
}
