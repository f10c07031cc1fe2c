package transport

import (
	"context"
	"slices"

	"github.com/collgen/collgen/fast/internal/wire"
)

// posted has the messages of a Composite that were posted and are not over.
type posted struct {
	sends    []*wire.Send // of the far half
	recvs    []*wire.Recv
	nearSend []twin[wire.Send]
	nearRecv []twin[wire.Recv]
}

// twin is a message and the one that the near half has for it, whose peer has another number there.
type twin[T any] struct{ of, near *T }

// Post has each half post its messages.
func (c *Composite) Post(sends []wire.Send, recvs []wire.Recv) error {
	if len(sends)+len(recvs) == 0 {
		if err := c.translate(c.near.Post(nil, nil)); err != nil {
			return err
		}
		return c.far.Post(nil, nil)
	}
	for i := range sends {
		if err := c.postSend(sends[i : i+1]); err != nil {
			return c.abandon(err)
		}
	}
	for i := range recvs {
		if err := c.postRecv(recvs[i : i+1]); err != nil {
			return c.abandon(err)
		}
	}
	return nil
}

// postSend posts one send.
func (c *Composite) postSend(m []wire.Send) error {
	near := c.nearRank[m[0].Peer]
	if near < 0 {
		c.posted.sends = append(c.posted.sends, &m[0])
		return c.far.Post(m, nil)
	}
	copied := []wire.Send{m[0]}
	copied[0].Peer = near
	c.posted.nearSend = append(c.posted.nearSend, twin[wire.Send]{&m[0], &copied[0]})
	return c.translate(c.near.Post(copied, nil))
}

// postRecv posts one receive.
func (c *Composite) postRecv(m []wire.Recv) error {
	near := c.nearRank[m[0].Peer]
	if near < 0 {
		c.posted.recvs = append(c.posted.recvs, &m[0])
		return c.far.Post(nil, m)
	}
	copied := []wire.Recv{m[0]}
	copied[0].Peer = near
	c.posted.nearRecv = append(c.posted.nearRecv, twin[wire.Recv]{&m[0], &copied[0]})
	return c.translate(c.near.Post(nil, copied))
}

// Progress moves the messages of both halves side by side, until one of either is over.
func (c *Composite) Progress(ctx, until context.Context) error {
	p := &c.posted
	for _, m := range p.nearSend {
		m.near.Idle = m.of.Idle
	}
	for _, m := range p.nearRecv {
		m.near.Idle = m.of.Idle
	}
	var err error
	switch nears, fars := len(p.nearSend)+len(p.nearRecv), len(p.sends)+len(p.recvs); {
	case fars == 0:
		err = c.translate(c.near.Progress(ctx, until))
	case nears == 0:
		err = c.far.Progress(ctx, until)
	default:
		err = c.progressBoth(ctx, until)
	}
	if err != nil {
		return c.abandon(p.late(err))
	}
	c.reap()
	return nil
}

// late returns err, with the ranks of both halves if it is the end of a context: one half may have seen it first.
func (p *posted) late(err error) error {
	late, expired := wire.Expired(err)
	if !expired {
		return err
	}
	var waiting []int
	for _, m := range p.sends {
		waiting = append(waiting, m.Peer)
	}
	for _, m := range p.recvs {
		waiting = append(waiting, m.Peer)
	}
	for _, m := range p.nearSend {
		waiting = append(waiting, m.of.Peer)
	}
	for _, m := range p.nearRecv {
		waiting = append(waiting, m.of.Peer)
	}
	slices.Sort(waiting)
	return &wire.TimeoutError{Waiting: slices.Compact(waiting), Err: late.Err}
}

// progressBoth has each half end the Progress of the other when its own has ended.
func (c *Composite) progressBoth(ctx, until context.Context) error {
	select {
	case c.begin <- exchange{ctx, until}:
	case <-c.closed:
		return wire.ErrClosed
	}
	near, far := c.besideFar(func() error {
		err := c.near.Progress(ctx, until)
		c.far.Nudge()
		return err
	})
	return both(c.translate(near), far)
}

// abandon ends the posted messages of both halves because of err.
func (c *Composite) abandon(err error) error {
	for _, half := range []Half{c.near, c.far} {
		half.Fail(&sideways{err})
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = half.Progress(ended, ended) // it lets go of the memory
	}
	c.posted = posted{}
	return err
}

// reap forgets the messages that are over.
func (c *Composite) reap() {
	p := &c.posted
	p.sends = slices.DeleteFunc(p.sends, func(m *wire.Send) bool { return m.Over })
	p.recvs = slices.DeleteFunc(p.recvs, func(m *wire.Recv) bool { return m.Over })
	p.nearSend = slices.DeleteFunc(p.nearSend, func(m twin[wire.Send]) bool {
		m.of.Over = m.near.Over
		return m.of.Over
	})
	p.nearRecv = slices.DeleteFunc(p.nearRecv, func(m twin[wire.Recv]) bool {
		m.of.Over = m.near.Over
		return m.of.Over
	})
}

// Nudge ends the Progress that runs, or the next one.
func (c *Composite) Nudge() {
	c.near.Nudge()
	c.far.Nudge()
}
