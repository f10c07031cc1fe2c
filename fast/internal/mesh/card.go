package mesh

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
)

// Card is what a process publishes about itself.
type Card struct {
	Process          int
	Token            [16]byte // random: tells this process from another one that claims the same number
	Host             string   // the same for two processes on one host
	Socket           string   // the name of the abstract unix socket on which it listens; empty: none
	HeartbeatTimeout time.Duration
	ForceTCP         bool
	Encrypt          bool
	HasRDMA          bool
	ForceRDMA        bool
	Addresses        []netip.AddrPort // where it listens; none in the first round
	Failure          string           // why it gave up before it could be reached
}

const (
	cardVersion = 5
	maxCard     = 1 << 10
	maxSocket   = 64
	maxFailure  = 256
	macBytes    = sha256.Size
)

// encode encodes c, with a MAC if the processes of the job share a secret.
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

// decodeCard decodes and checks a card. It fails if the card is not that of process, which is negative for any process.
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
	case c.HeartbeatTimeout < minHeartbeatTimeout || c.HeartbeatTimeout > maxHeartbeatTimeout:
		return Card{}, fmt.Errorf("a card with a heartbeat timeout of %v", c.HeartbeatTimeout)
	}
	return c, nil
}

// cardMAC returns the MAC of a card, or zeros if the processes share no secret. In that case a card is only as
// trustworthy as the store. A forged one can keep a job from starting, but nothing more, because every connection is
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

// sameSettings returns an error if only some processes encrypt their data, force TCP or force RDMA, or if their
// heartbeat timeouts differ. All processes get the same result.
func sameSettings(cards []Card) error {
	return cmp.Or(sameSetting(cards, "encrypt their data", func(c *Card) bool { return c.Encrypt }),
		sameSetting(cards, "use TCP alone", func(c *Card) bool { return c.ForceTCP }),
		sameSetting(cards, "use RDMA alone", func(c *Card) bool { return c.ForceRDMA }), sameTimeout(cards))
}

func sameTimeout(cards []Card) error {
	i := slices.IndexFunc(cards, func(c Card) bool { return c.HeartbeatTimeout != cards[0].HeartbeatTimeout })
	if i < 0 {
		return nil
	}
	return fmt.Errorf("the heartbeat timeout is %v on rank %d and %v on rank %d", cards[0].HeartbeatTimeout,
		cards[0].Process, cards[i].HeartbeatTimeout, cards[i].Process)
}

func sameSetting(cards []Card, what string, set func(*Card) bool) error {
	sides := make(map[bool][]int)
	for i := range cards {
		c := &cards[i]
		sides[set(c)] = append(sides[set(c)], c.Process)
	}
	switch some, rest := sides[true], sides[false]; {
	case len(some) == 0 || len(rest) == 0:
		return nil
	case len(some) <= len(rest):
		return fmt.Errorf("ranks %v are to %s, and the others are not", some, what)
	default:
		return fmt.Errorf("ranks %v are not to %s, and the others are", rest, what)
	}
}

// needTCP reports whether some processes are reached by TCP, and whether all of them are on one host. All processes get
// the same result.
func needTCP(cards []Card) (tcp, alone bool) {
	alone = true
	for _, c := range cards {
		alone = alone && c.Host == cards[0].Host
		tcp = tcp || c.ForceTCP || c.Socket == ""
	}
	return tcp || !alone, alone
}
