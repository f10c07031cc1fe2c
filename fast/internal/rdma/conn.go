package rdma

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// conn is the memory and the queue pairs of a link. A rank makes them when it needs the link, or when its peer says
// that it does. The goroutine that serves it (Endpoint.serve) makes and connects it without the endpoint's lock, which
// protects the rest.
type conn struct {
	slots, bytes uint32
	memory       []byte
	pairs        []queuePair // of all rails; once connected, of those that both ranks have
	remote       card        // that it is connected with

	served    bool          // a goroutine serves it
	incoming  *receivedCard // what the peer has sent and nobody has looked at
	offered   bool          // the peer was told of it
	connected bool
	ready     bool      // the peer is connected too
	left      time.Time // when the peer closed its end, after this was connected
	err       error     // why it is never connected
}

// receivedCard is a card that has arrived, or why it is invalid.
type receivedCard struct {
	card
	err error
}

// receives returns how many receives a queue pair needs, so many immediates may arrive before this rank sees them. They
// are of segments and control frames, and of free slots, a quarter of them at a time; and reposting lags behind. A
// queue pair that is not the main one needs one or two.
func receives(slots uint32) int { return int(slots) + controlSlots + 4 + 4 + repostBatch }

// Completions returns how many completions an endpoint that is connected with that many peers may have at once, on each
// rail.
func Completions(peers int) int { return max(1, peers) * (receives(defaultSlots) + defaultSlots) }

// bring makes n, unless it was made, and connects it with the peer's card, if there is one.
func (n *conn) bring(r *rails, c *receivedCard) error {
	if n.memory == nil {
		if err := n.make(r); err != nil {
			_ = n.close()
			return err
		}
	}
	if c == nil || n.connected {
		return nil
	}
	return n.connect(c)
}

// make makes the memory, and a queue pair on each rail. After an error some of them may exist.
func (n *conn) make(r *rails) (err error) {
	if n.memory, err = allocate(linkBytes(n.slots, n.bytes)); err != nil {
		return err
	}
	n.pairs = make([]queuePair, len(r.all))
	for i := range n.pairs {
		n.pairs[i] = queuePair{rail: &r.all[i], index: i}
		if err := n.pairs[i].open(n.memory, n.slots); err != nil {
			return err
		}
	}
	return nil
}

// errPeerRefuses is the error of a peer that cannot be connected with.
var errPeerRefuses = errors.New("it gives no connection")

// connect connects n with the queue pairs that the peer has announced. The rank that has more rails does without the
// last ones.
func (n *conn) connect(c *receivedCard) error {
	switch {
	case c.err != nil:
		return fmt.Errorf("%w: it has sent %w", errPeerRefuses, c.err)
	case c.refusal != "":
		return fmt.Errorf("%w: %s", errPeerRefuses, c.refusal)
	case c.bytes != n.bytes:
		return fmt.Errorf("%w: its slots have %d bytes, those of this rank %d", errPeerRefuses, c.bytes, n.bytes)
	}
	n.remote = c.card
	for i := range n.pairs[:min(c.rails, len(n.pairs))] {
		n.pairs[i].key = c.ends[i].Key
		if err := n.pairs[i].pair.Connect(c.ends[i].Address); err != nil {
			return err
		}
	}
	for len(n.pairs) > c.rails {
		last := len(n.pairs) - 1
		if err := n.pairs[last].close(); err != nil {
			return err
		}
		n.pairs = n.pairs[:last]
	}
	return nil
}

// receive keeps the peer's card until somebody looks at it: the last one, or one that ends the attempt.
func (n *conn) receive(c card, err error) {
	if last := n.incoming; last != nil {
		if last.err != nil || last.refusal != "" {
			return
		}
		c.ready = c.ready || last.ready
	}
	n.incoming = &receivedCard{c, err}
}

// update records the outcome of bring, and reports whether the peer has to be told.
func (n *conn) update(c *receivedCard, err error) (answer bool) {
	if n.err == nil {
		n.err = err
	}
	if n.err != nil || c == nil {
		return err != nil
	}
	answer = !n.connected
	n.connected, n.ready = true, n.ready || c.ready
	return answer
}

// card returns the encoded card for the peer.
func (n *conn) card() []byte {
	if n.err != nil {
		return (&card{refusal: n.err.Error()}).encode()
	}
	at, _ := n.pairs[0].region.Remote()
	c := card{at: at, rails: len(n.pairs), slots: n.slots, bytes: n.bytes, ready: n.connected}
	for i := range n.pairs {
		c.ends[i] = n.pairs[i].end()
	}
	return c.encode()
}

// slot returns one of the slots that begin at an offset of the memory.
func (n *conn) slot(at int, slot, bytes uint32) []byte {
	at += int(slot) * int(bytes)
	return n.memory[at : at+int(bytes) : at+int(bytes)]
}

// close frees what was made.
func (n *conn) close() (err error) {
	for i := range n.pairs {
		err = errors.Join(err, n.pairs[i].close())
	}
	if n.memory != nil {
		err = errors.Join(err, unix.Munmap(n.memory))
	}
	n.pairs, n.memory = nil, nil
	return err
}
