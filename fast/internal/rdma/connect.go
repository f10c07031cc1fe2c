package rdma

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// line is what was made for a link: by the rank itself when it needs it, or when the other one says that it does.
type line struct {
	slots, bytes uint32
	memory       []byte
	region       Region
	pair         Pair
	own          Address
	remote       card // with which it is connected
	offered      bool // the other rank was told of it
	connected    bool
	ready        bool  // the other rank is
	err          error // why there is none
}

// receives is how many immediates may come before this rank sees them: of segments, and of what is said besides; then what
// says that slots are free, a quarter of them at a time; and reposting lags behind.
func receives(slots uint32) int { return int(slots) + asideSlots + 4 + 4 + repost }

// Completions is how many completions there may be at once of an endpoint that is connected with so many others.
func Completions(peers int) int { return max(1, peers) * (receives(defaultSlots) + defaultSlots) }

// newLine makes a queue pair and its memory. On an error there is nothing but that.
func newLine(d Domain, slots, bytes uint32) *line {
	n := &line{slots: slots, bytes: bytes}
	n.err = n.make(d)
	if n.err != nil {
		n.err = fmt.Errorf("%s: %w", d.Name(), n.err)
		_ = n.close()
	}
	return n
}

func (n *line) make(d Domain) (err error) {
	if n.memory, err = allocate(linkBytes(n.slots, n.bytes)); err != nil {
		return err
	}
	if n.region, err = d.Register(n.memory); err != nil {
		return err
	}
	if n.pair, err = d.Pair(int(n.slots), receives(n.slots)); err != nil {
		return err
	}
	n.own = n.pair.Address()
	return n.pair.Receive(receives(n.slots))
}

// close gives back what there is, the queue pair first: it may still write to the memory.
func (n *line) close() (err error) {
	if n.pair != nil {
		err = n.pair.Close()
		n.pair = nil
	}
	if n.region != nil {
		err = errors.Join(err, n.region.Close())
		n.region = nil
	}
	if n.memory != nil {
		err = errors.Join(err, unix.Munmap(n.memory))
		n.memory = nil
	}
	return err
}

// card is what the other rank is to know.
func (n *line) card() []byte {
	if n.err != nil {
		return (&card{refusal: n.err.Error()}).encode()
	}
	at, key := n.region.Place()
	return (&card{Address: n.own, at: at, key: key, slots: n.slots, bytes: n.bytes, ready: n.connected}).encode()
}

// lineTo is what was made for the link to peer, which is made if there is none. The endpoint is locked.
func (e *Endpoint) lineTo(peer int) *line {
	if e.lines[peer] == nil {
		e.lines[peer] = newLine(e.domain, e.slots, e.bytes)
	}
	e.changed.Store(true)
	return e.lines[peer]
}

// offer tells peer that this rank wants a link, unless that is under way.
func (e *Endpoint) offer(peer int) {
	e.end.Lock()
	n := e.lineTo(peer)
	first := !n.offered
	n.offered = true
	card := n.card()
	e.end.Unlock()
	if first {
		e.tell(peer, card)
	}
}

// Told takes the card of peer, which is hostile until it was checked. It may be called from any goroutine.
func (e *Endpoint) Told(peer int, body []byte) {
	if wire.CheckPeer(e.rank, peer, len(e.links)) != nil {
		return
	}
	c, err := decode(body)
	e.end.Lock()
	if e.end.Closed() {
		e.end.Unlock()
		return
	}
	n := e.lineTo(peer)
	connected := n.take(&c, err)
	card := n.card()
	e.end.Unlock()
	if connected {
		e.tell(peer, card)
	}
	e.domain.Wake()
}

// errGivesNone is the error of a peer that cannot be connected with.
var errGivesNone = errors.New("it gives no connection")

// take takes what the other rank has told, and tells whether the other rank is to hear of it.
func (n *line) take(c *card, err error) (answer bool) {
	switch {
	case n.err != nil:
		answer, n.offered = !n.offered, true
		return answer
	case err != nil:
		n.err = fmt.Errorf("%w: it has sent %w", errGivesNone, err)
		return true
	case c.refusal != "":
		n.err = fmt.Errorf("%w: %s", errGivesNone, c.refusal)
		return false
	}
	if c.bytes != n.bytes {
		n.err = fmt.Errorf("%w: its slots have %d bytes, those of this rank %d", errGivesNone, c.bytes, n.bytes)
		return true
	}
	if !n.connected {
		if err := n.pair.Connect(c.Address); err != nil {
			n.err = err
			return true
		}
		n.remote, n.connected, n.offered, answer = *c, true, true, true
	}
	n.ready = n.ready || c.ready
	return answer
}

// Left says that peer has closed its end: no card comes any more.
func (e *Endpoint) Left(peer int) {
	if wire.CheckPeer(e.rank, peer, len(e.links)) != nil {
		return
	}
	e.end.Lock()
	if !e.end.Closed() {
		if e.lines[peer] == nil { // one that can be used would be made in vain
			e.lines[peer] = new(line)
		}
		if n := e.lineTo(peer); !n.ready && n.err == nil {
			n.err = wire.ErrClosed
		}
	}
	e.end.Unlock()
	e.domain.Wake()
}

// adopt has the Exchange see what has become of lines.
func (e *Endpoint) adopt() {
	if !e.changed.Load() {
		return
	}
	e.end.Lock()
	defer e.end.Unlock()
	e.changed.Store(false)
	for peer, n := range e.lines {
		if n != nil {
			e.links[peer].join(e, n)
		}
	}
}

// join has l use its line, as far as that has come. The endpoint is locked.
func (l *link) join(e *Endpoint, n *line) {
	if n.err != nil && !l.ready {
		l.fail(l.lacks(n.err))
		return
	}
	if n.connected && l.line == nil {
		l.line, e.byQP[n.own.QP] = n, l
		l.in.slots, l.heard.slots = n.slots, asideSlots
		l.out.slots, l.say.slots = n.remote.slots, asideSlots
		l.came, l.unsaid = make([]uint32, n.slots), make([]byte, 0, asideBytes)
	}
	l.ready = l.ready || n.ready
}

// lacks is the error of a rank that there is no connection with.
func (l *link) lacks(err error) error {
	switch {
	case errors.Is(err, wire.ErrClosed):
		return &wire.PeerError{Rank: l.peer, Err: wire.ErrClosed}
	case errors.Is(err, errGivesNone):
		return l.died("%w", err)
	}
	return fmt.Errorf("there is no link to rank %d: %w", l.peer, err)
}
