package rdma

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// line is what is made for a link: by the rank itself when it needs it, or when the other one says that it does. Who
// serves it (Endpoint.serve) makes and connects it without the endpoint's lock, which protects the rest.
type line struct {
	slots, bytes uint32
	memory       []byte
	lanes        []lane // of all rails; when it is connected, of those that both ranks have
	remote       card   // with which it is connected

	served    bool  // somebody does
	told      *told // what the other rank has told, and nobody has looked at
	offered   bool  // the other rank was told of it
	connected bool
	ready     bool      // the other rank is
	left      time.Time // when that has closed its end, after n was connected
	err       error     // why it is never connected
}

// told is a card that has come, or why it is none.
type told struct {
	card
	err error
}

// receives returns how many immediates may come before this rank sees them: of segments, and of what is said besides;
// then what says that slots are free, a quarter of them at a time; and reposting lags behind. Beside the main lane it
// is one or two.
func receives(slots uint32) int { return int(slots) + asideSlots + 4 + 4 + repost }

// Completions returns how many completions there may be at once, on each rail, of an endpoint that is connected with so
// many others.
func Completions(peers int) int { return max(1, peers) * (receives(defaultSlots) + defaultSlots) }

// bring makes n, unless it was made, and connects it as the other rank has told, if it has.
func (n *line) bring(r *rails, t *told) error {
	if n.memory == nil {
		if err := n.make(r); err != nil {
			_ = n.close()
			return err
		}
	}
	if t == nil || n.connected {
		return nil
	}
	return n.connect(t)
}

// make makes memory, and a queue pair on each rail. On an error there may be a part of them.
func (n *line) make(r *rails) (err error) {
	if n.memory, err = allocate(linkBytes(n.slots, n.bytes)); err != nil {
		return err
	}
	n.lanes = make([]lane, len(r.all))
	for i := range n.lanes {
		n.lanes[i] = lane{rail: &r.all[i], index: i}
		if err := n.lanes[i].open(n.memory, n.slots); err != nil {
			return err
		}
	}
	return nil
}

// errGivesNone is the error of a peer that cannot be connected with.
var errGivesNone = errors.New("it gives no connection")

// connect connects n with the queue pairs that the other rank has told of. If one rank has more rails than the other
// one, it does without the last ones.
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
	for i := range n.lanes[:min(t.rails, len(n.lanes))] {
		n.lanes[i].key = t.ends[i].Key
		if err := n.lanes[i].pair.Connect(t.ends[i].Address); err != nil {
			return err
		}
	}
	for len(n.lanes) > t.rails {
		last := len(n.lanes) - 1
		if err := n.lanes[last].close(); err != nil {
			return err
		}
		n.lanes = n.lanes[:last]
	}
	return nil
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
	if n.err != nil || t == nil {
		return err != nil
	}
	answer = !n.connected
	n.connected, n.ready = true, n.ready || t.ready
	return answer
}

// close gives back what there is.
func (n *line) close() (err error) {
	for i := range n.lanes {
		err = errors.Join(err, n.lanes[i].close())
	}
	if n.memory != nil {
		err = errors.Join(err, unix.Munmap(n.memory))
	}
	n.lanes, n.memory = nil, nil
	return err
}

// card returns what the other rank is to know.
func (n *line) card() []byte {
	if n.err != nil {
		return (&card{refusal: n.err.Error()}).encode()
	}
	at, _ := n.lanes[0].region.Place()
	c := card{at: at, rails: len(n.lanes), slots: n.slots, bytes: n.bytes, ready: n.connected}
	for i := range n.lanes {
		c.ends[i] = n.lanes[i].end()
	}
	return c.encode()
}
