package rdma

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// line is what is made for a link: by the rank itself when it needs it, or when the other one says that it does. Who serves it
// (Endpoint.serve) makes and connects it without the endpoint's lock, which protects the rest.
type line struct {
	slots, bytes uint32
	memory       []byte
	region       Region
	pair         Pair
	own          Address
	remote       card // with which it is connected

	served    bool  // somebody does
	told      *told // what the other rank has told, and nobody has looked at
	offered   bool  // the other rank was told of it
	connected bool
	ready     bool  // the other rank is
	err       error // why there is none
}

// told is a card that has come, or why it is none.
type told struct {
	card
	err error
}

// receives is how many immediates may come before this rank sees them: of segments, and of what is said besides; then what
// says that slots are free, a quarter of them at a time; and reposting lags behind.
func receives(slots uint32) int { return int(slots) + asideSlots + 4 + 4 + repost }

// Completions is how many completions there may be at once of an endpoint that is connected with so many others.
func Completions(peers int) int { return max(1, peers) * (receives(defaultSlots) + defaultSlots) }

// bring makes n, unless it was made, and connects it as the other rank has told, if it has.
func (n *line) bring(d Domain, t *told) error {
	if n.pair == nil {
		if err := n.make(d); err != nil {
			_ = n.close()
			return fmt.Errorf("%s: %w", d.Name(), err)
		}
	}
	if t == nil || n.connected {
		return nil
	}
	return n.connect(t)
}

// make makes a queue pair and its memory. On an error there may be a part of them.
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

// errGivesNone is the error of a peer that cannot be connected with.
var errGivesNone = errors.New("it gives no connection")

// connect connects n with the queue pair that the other rank has told of.
func (n *line) connect(t *told) error {
	switch {
	case t.err != nil:
		return fmt.Errorf("%w: it has sent %w", errGivesNone, t.err)
	case t.refusal != "":
		return fmt.Errorf("%w: %s", errGivesNone, t.refusal)
	case t.bytes != n.bytes:
		return fmt.Errorf("%w: its slots have %d bytes, those of this rank %d", errGivesNone, t.bytes, n.bytes)
	}
	n.remote = t.card
	return n.pair.Connect(t.Address)
}

// hear keeps what the other rank has told until somebody looks at it: the last card, or one that puts an end to it.
func (n *line) hear(c card, err error) {
	if last := n.told; last != nil {
		if last.err != nil || last.refusal != "" {
			return
		}
		c.ready = c.ready || last.ready
	}
	n.told = &told{c, err}
}

// take takes note of how n was brought on, and tells whether the other rank is to hear of it.
func (n *line) take(t *told, err error) (answer bool) {
	if n.err == nil {
		n.err = err
	}
	if err != nil || t == nil {
		return err != nil
	}
	answer = !n.connected
	n.connected, n.ready = true, n.ready || t.ready
	return answer
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
