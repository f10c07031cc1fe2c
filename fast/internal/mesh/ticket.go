package mesh

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/collgen/collgen/fast/internal/secure"
)

// Ticket lets one process join a running job: it says where the job is, and carries a token that is good once. It has
// no secret in it: the process needs the job's credentials besides.
type Ticket struct {
	Job       string
	Epoch     uint32
	Size      int // of the job at its start
	Issuer    int // the process that made the ticket
	Number    int // that the new process will have
	Token     [16]byte
	Host      string // the issuer's, as in its card
	Socket    string
	Addresses []netip.AddrPort
}

const (
	ticketVersion = 1
	maxJob        = 255
	maxTicket     = 1 << 10 // bytes, before they are made text
	sumBytes      = 4
	ticketPrefix  = "collgen-"
)

// String returns the ticket as text, of letters, digits, '-' and '_'.
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

// ParseTicket returns the opposite of String. What is no ticket is ErrTicket.
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

// identity returns who the holder of the ticket will be.
func (t *Ticket) identity() secure.Identity {
	return secure.Identity{Job: t.Job, Epoch: t.Epoch, Process: t.Number, Size: t.Size}
}
