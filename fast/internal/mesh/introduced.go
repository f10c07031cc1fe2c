package mesh

import (
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// takeIntroductions receives the connections that the first process of this host has made for this one.
func (j *joining) takeIntroductions() error {
	for {
		n, err := j.ReceiveFiles(j.work, wire.Topic{Comm: meshComm, Kind: kindIntroduce})
		if err != nil {
			return nil // joining has ended
		}
		err = j.acceptIntroductions(&n)
		n.CloseFiles()
		if err != nil {
			return err
		}
		j.Send(j.first, wire.Topic{Comm: meshComm, Kind: kindIntroduced}, nil)
	}
}

// takeCards receives the cards that the first process of this host passes on.
func (j *joining) takeCards() {
	for {
		n, err := j.Receive(j.work, wire.Topic{Comm: meshComm, Kind: kindCards})
		if err != nil {
			return // joining has ended
		}
		if err := j.acceptCards(n); err != nil {
			j.report(&wire.PeerError{Rank: n.From, Err: err}, certain)
		}
	}
}

// acceptCards stores cards, and connects to processes that need no introduction.
func (j *joining) acceptCards(n wire.Note) error {
	if n.From != j.first {
		return fmt.Errorf("it passes on cards, which is for rank %d to do", j.first)
	}
	j.fetched.Store(j.now())
	for d := (decoder{b: n.Body}); len(d.b) > 0; {
		raw := d.bytes(int(d.uint16()))
		c, err := decodeCard(raw, j.cfg.Credentials, j.me, -1)
		switch err = errors.Join(d.err, err); {
		case err != nil:
			return fmt.Errorf("it passes on a card: %w", err)
		case c.Process >= j.me.Size:
			return fmt.Errorf("it passes on the card of rank %d", c.Process)
		case !j.learn(c, slices.Clone(raw)) || j.direct(&c):
		case len(c.Addresses) > 0:
			j.meeting.Go(func() { j.connect(&c) })
		case c.Host != j.cfg.Host:
			j.meeting.Go(func() { j.open(false) })
		}
	}
	return nil
}

// acceptIntroductions accepts the connections of one message. The caller closes the files that it leaves. Its error
// names the process at fault.
func (j *joining) acceptIntroductions(n *wire.Note) error {
	wrong := func(format string, args ...any) error {
		return &wire.PeerError{Rank: n.From, Err: fmt.Errorf(format, args...)}
	}
	if n.From != j.first {
		return wrong("it introduces others, which is for rank %d to do", j.first)
	}
	j.fetched.Store(j.now())
	if n.Lost {
		return noRoom(fmt.Errorf("%w: %w", wire.ErrExhausted, errLost))
	}
	if len(n.Files) == 0 {
		return wrong("introductions without files")
	}
	d := decoder{b: n.Body}
	namespace := d.uint64()
	here := namespace != 0 && namespace == pidNamespace()
	if d.byte() == 1 {
		switch err := j.acceptTally(n); {
		case errors.Is(err, wire.ErrExhausted):
			return noRoom(err)
		case err != nil:
			return wrong("the heartbeats: %w", err)
		}
	}
	for len(d.b) > 0 && len(n.Files) > 0 {
		raw, pid := d.bytes(int(d.uint16())), int64(d.uint32())
		if !here {
			pid = 0
		}
		c, err := decodeCard(raw, j.cfg.Credentials, j.me, -1)
		if err = errors.Join(d.err, err); err != nil {
			return wrong("it introduces somebody: %w", err)
		}
		switch err = j.acceptIntroduction(c, raw, pid, n); {
		case errors.Is(err, wire.ErrExhausted):
			return noRoom(err)
		case errors.Is(err, ErrTaken):
			return &wire.PeerError{Rank: c.Process, Err: err}
		case err != nil:
			return wrong("it introduces rank %d: %w", c.Process, err)
		}
	}
	if d.err != nil || len(d.b) > 0 || len(n.Files) > 0 {
		return wrong("introductions with %d files and %d bytes left over", len(n.Files), len(d.b))
	}
	return nil
}

// acceptTally maps the first of n's files, in which all that are introduced to each other count their heartbeats.
func (j *joining) acceptTally(n *wire.Note) error {
	file := n.Files[0]
	n.Files = n.Files[1:]
	t, err := openTally(file, j.me.Size)
	if err != nil {
		return wire.Exhausted(err)
	}
	if !j.tally.CompareAndSwap(nil, t) {
		t.close()
		return errBeats
	}
	t.slot(j.me.Process).beat(0)
	return nil
}

// acceptIntroduction uses the first of n's files as the connection to the process of card c, whose number is pid, or 0
// if it has none here.
func (j *joining) acceptIntroduction(c Card, raw []byte, pid int64, n *wire.Note) error {
	if c.Process <= j.first || c.Process == j.me.Process || c.Process >= j.me.Size || !j.private(&c) {
		return errors.New("which is not for it to do")
	}
	if token := j.cardOf(c.Process).Token; token != [16]byte{} && token != c.Token || !j.know(c, slices.Clone(raw)) {
		return ErrTaken
	}
	file := n.Files[0]
	n.Files = n.Files[1:]
	conn, err := newSocketEnd(file)
	if err != nil {
		return err
	}
	p := j.newPeer(c.Process, conn, conn)
	p.pid.Store(pid)
	t := j.tally.Load()
	if t != nil {
		p.counted.Store(true)
		p.beats.Store(t.slot(c.Process))
	}
	if j.add(p) && t == nil { // else it is down or connected already, or reads the count
		j.announce(p)
	}
	return nil
}
