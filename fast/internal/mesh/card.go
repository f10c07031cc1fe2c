package mesh

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
)

// Card is what a process publishes of itself.
type Card struct {
	Process          int
	Token            [16]byte // random: tells this process from another one that says it has the same number
	Host             string   // two processes with the same are on one host
	Socket           string   // the name of the abstract unix socket on which it listens; empty: none
	HeartbeatTimeout time.Duration
	ForceTCP         bool
	Encrypt          bool
	HasRDMA          bool
	ForceRDMA        bool
	Addresses        []netip.AddrPort // on which it listens; none in the first round
	Failure          string           // why it gave up before it could be reached
}

const (
	cardVersion  = 3
	maxCard      = 1 << 10
	maxSocket    = 64
	maxAddresses = 16
	maxFailure   = 256
	macBytes     = sha256.Size
)

// encode is c as bytes, with a MAC if the processes of the job share a secret.
func (c *Card) encode(cred secure.Credentials, job secure.Identity) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{cardVersion}, uint32(c.Process))
	b = append(b, c.Token[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(c.HeartbeatTimeout))
	b = append(b, flag(c.ForceTCP), flag(c.Encrypt), flag(c.HasRDMA), flag(c.ForceRDMA))
	b = appendText(b, c.Host, maxHost)
	b = appendText(b, c.Socket, maxSocket)
	b = appendText(b, c.Failure, maxFailure-1)
	b = appendAddresses(b, c.Addresses)
	return append(b, cardMAC(cred, job, b)...)
}

// decodeCard returns the opposite of encode. It fails unless the card is that of process, or of any if that is
// negative.
func decodeCard(b []byte, cred secure.Credentials, job secure.Identity, process int) (Card, error) {
	if len(b) < macBytes || len(b) > maxCard {
		return Card{}, fmt.Errorf("a card of %d bytes, want %d to %d", len(b), macBytes, maxCard)
	}
	body, mac := b[:len(b)-macBytes], b[len(b)-macBytes:]
	if !hmac.Equal(mac, cardMAC(cred, job, body)) {
		return Card{}, fmt.Errorf("%w: its card was not made by a process of this job", secure.ErrWrongSecret)
	}
	var c Card
	d := decoder{b: body}
	if version := d.byte(); d.err == nil && version != cardVersion { // what follows would be taken for something else
		return Card{}, fmt.Errorf("it runs another version of collgen (%d, here %d)", version, cardVersion)
	}
	c.Process = int(d.uint32() & (1<<31 - 1))
	copy(c.Token[:], d.bytes(len(c.Token)))
	c.HeartbeatTimeout = time.Duration(d.uint64())
	c.ForceTCP, c.Encrypt = d.byte() == 1, d.byte() == 1
	c.HasRDMA, c.ForceRDMA = d.byte() == 1, d.byte() == 1
	c.Host, c.Socket, c.Failure = d.text(maxHost), d.text(maxSocket), d.text(maxFailure-1)
	c.Addresses = d.addresses()
	switch {
	case d.err != nil:
		return Card{}, d.err
	case len(d.b) > 0:
		return Card{}, fmt.Errorf("a card with %d bytes left over", len(d.b))
	case c.Process > maxProcess || (process >= 0 && c.Process != process):
		return Card{}, fmt.Errorf("the card of process %d", c.Process)
	case c.HeartbeatTimeout < shortestHeartbeatTimeout || c.HeartbeatTimeout > longestHeartbeatTimeout:
		return Card{}, fmt.Errorf("a card with a heartbeat timeout of %v", c.HeartbeatTimeout)
	}
	return c, nil
}

// cardMAC returns the MAC of a card, or zeros if the processes have no secret in common. Then a card is only as
// trustworthy as the store: a false one can keep a job from starting, and nothing else, because every connection is
// authenticated.
func cardMAC(cred secure.Credentials, job secure.Identity, body []byte) []byte {
	key := cred.Key(job, "card")
	if key == nil {
		return make([]byte, macBytes)
	}
	h := hmac.New(sha256.New, key)
	h.Write(body)
	return h.Sum(nil)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendText(b []byte, s string, most int) []byte {
	s = s[:min(len(s), most)]
	return append(append(b, byte(len(s))), s...)
}

func appendAddresses(b []byte, addresses []netip.AddrPort) []byte {
	addresses = addresses[:min(len(addresses), maxAddresses)]
	b = append(b, byte(len(addresses)))
	for _, a := range addresses {
		ip := a.Addr().As16()
		b = append(b, ip[:]...)
		b = binary.LittleEndian.AppendUint16(b, a.Port())
	}
	return b
}

// decoder takes bytes off the front of b, and remembers that there were too few.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.err, d.b = errors.New("a card or ticket that is cut off"), nil
		return make([]byte, n)
	}
	taken := d.b[:n]
	d.b = d.b[n:]
	return taken
}

func (d *decoder) byte() byte     { return d.bytes(1)[0] }
func (d *decoder) uint16() uint16 { return binary.LittleEndian.Uint16(d.bytes(2)) }
func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.bytes(4)) }
func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.bytes(8)) }

// text returns a text of at most most bytes, none of which can do harm where it is printed.
func (d *decoder) text(most int) string {
	n := int(d.byte())
	if n > most {
		d.err, d.b = fmt.Errorf("a text of %d bytes, want at most %d", n, most), nil
		return ""
	}
	return printable(string(d.bytes(n)))
}

func (d *decoder) addresses() (addresses []netip.AddrPort) {
	n := int(d.byte())
	if n > maxAddresses {
		d.err, d.b = fmt.Errorf("%d addresses, want at most %d", n, maxAddresses), nil
		return nil
	}
	for range n {
		ip := netip.AddrFrom16([16]byte(d.bytes(16))).Unmap()
		addresses = append(addresses, netip.AddrPortFrom(ip, d.uint16()))
	}
	return addresses
}
