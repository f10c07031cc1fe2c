package transport

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// Composite is a transport that reaches some ranks in one way, near, and the others in another, far. Messages of
// different peers have no order between them, so a step is two steps side by side.
type Composite struct {
	near, far Half
	members   []int // the ranks that are near, this one included, by their rank in near
	nearRank  []int // the rank in near of each rank; -1: far

	sends, farSends []wire.Send
	recvs, farRecvs []wire.Recv
	// The far half of a step runs in a goroutine of its own, which lives until Close.
	begin  chan exchange
	ended  chan error
	closed chan struct{}
	once   sync.Once
	posted posted
}

// exchange is what the far half is to carry out: an Exchange, or a Progress if until is not nil.
type exchange struct{ ctx, until context.Context }

// Half is one of the two transports of a Composite, and what it is called; no name: it is a Composite itself.
type Half struct {
	Name string
	Transport
}

// NewComposite returns a transport among size ranks of which members are near, by their rank in near.
func NewComposite(size int, members []int, near, far Half) *Composite {
	c := &Composite{near: near, far: far, members: members, nearRank: slices.Repeat([]int{-1}, size),
		begin: make(chan exchange), ended: make(chan error), closed: make(chan struct{})}
	for i, rank := range members {
		c.nearRank[rank] = i
	}
	go c.runFar()
	return c
}

func (c *Composite) runFar() {
	for {
		select {
		case x := <-c.begin:
			c.ended <- c.carryOutFar(x)
		case <-c.closed:
			return
		}
	}
}

// carryOutFar carries out the far half of x, and ends the near one where that cannot go on without it.
func (c *Composite) carryOutFar(x exchange) (err error) {
	if x.until == nil {
		err = c.far.Exchange(x.ctx, c.farSends, c.farRecvs)
	} else {
		err = c.far.Progress(x.ctx, x.until)
		c.near.Nudge()
	}
	endOther(c.near.Transport, err)
	return err
}

// endOther ends the other half of a step, t, if err has ended this one. The end of the context ends both.
func endOther(t Transport, err error) {
	if _, expired := wire.Expired(err); err != nil && !expired {
		t.Fail(&sideways{err})
	}
}

// sideways is the failure of one half of a step, which ends the other.
type sideways struct{ error }

func (s *sideways) Unwrap() error { return s.error }

// Begin has both halves begin the call.
func (c *Composite) Begin(call wire.Mark) {
	c.near.Begin(call)
	c.far.Begin(call)
}

// Exchange carries out the messages of both halves side by side.
func (c *Composite) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	c.divide(sends, recvs)
	defer c.forget()
	if err := c.exchange(ctx); err != nil {
		return err
	}
	c.passLoansOn(recvs)
	return nil
}

// exchange carries out what was divided. A half that has nothing to do still announces the call.
func (c *Composite) exchange(ctx context.Context) error {
	noneNear, noneFar := len(c.sends)+len(c.recvs) == 0, len(c.farSends)+len(c.farRecvs) == 0
	if noneNear || noneFar {
		if err := c.translate(c.near.Exchange(ctx, c.sends, c.recvs)); err != nil {
			return err
		}
		return c.far.Exchange(ctx, c.farSends, c.farRecvs)
	}
	select {
	case c.begin <- exchange{ctx: ctx}:
	case <-c.closed:
		return wire.ErrClosed
	}
	near, far := c.besideFar(func() error { return c.near.Exchange(ctx, c.sends, c.recvs) })
	return both(c.translate(near), far)
}

// errPanicked ends the far half when the near one has panicked.
var errPanicked = errors.New("a call panicked")

// besideFar has carry carry out the near half, while the far one runs, and waits for that, also if near panics: the far
// half uses the caller's memory.
func (c *Composite) besideFar(carry func() error) (near, far error) {
	near = errPanicked
	defer func() {
		endOther(c.far.Transport, near)
		far = <-c.ended
	}()
	near = carry()
	return near, nil
}

// divide lists the messages of both halves.
func (c *Composite) divide(sends []wire.Send, recvs []wire.Recv) {
	c.sends, c.recvs, c.farSends, c.farRecvs = c.sends[:0], c.recvs[:0], c.farSends[:0], c.farRecvs[:0]
	for _, s := range sends {
		if near := c.nearRank[s.Peer]; near >= 0 {
			s.Peer = near
			c.sends = append(c.sends, s)
		} else {
			c.farSends = append(c.farSends, s)
		}
	}
	for _, r := range recvs {
		if near := c.nearRank[r.Peer]; near >= 0 {
			r.Peer = near
			c.recvs = append(c.recvs, r)
		} else {
			c.farRecvs = append(c.farRecvs, r)
		}
	}
}

// passLoansOn tells the caller where the halves have left what they lend.
func (c *Composite) passLoansOn(recvs []wire.Recv) {
	near, far := c.recvs, c.farRecvs
	for i := range recvs {
		half := &far
		if c.nearRank[recvs[i].Peer] >= 0 {
			half = &near
		}
		if recvs[i].Lend {
			recvs[i].Into = (*half)[0].Into
		}
		*half = (*half)[1:]
	}
}

// Release ends the loans of both halves.
func (c *Composite) Release() {
	for _, half := range []Transport{c.near.Transport, c.far.Transport} {
		if l, ok := half.(Lender); ok {
			l.Release()
		}
	}
}

// forget drops the caller's memory, so that it can be collected.
func (c *Composite) forget() {
	clear(c.sends)
	clear(c.recvs)
	clear(c.farSends)
	clear(c.farRecvs)
}

// both returns the error of a step whose halves ended with near and far. A half that failed because the other one did
// says nothing new.
func both(near, far error) error {
	n, nearExpired := wire.Expired(near)
	f, farExpired := wire.Expired(far)
	var s *sideways
	switch {
	case near == nil || errors.As(near, &s):
		return far
	case far == nil || errors.As(far, &s):
		return near
	case nearExpired && farExpired:
		waiting := append(slices.Clone(n.Waiting), f.Waiting...)
		slices.Sort(waiting)
		return &wire.TimeoutError{Waiting: waiting, Err: n.Err}
	}
	return near
}

// translate gives an error of near the ranks of the whole. One that fast has given to Fail has them already.
func (c *Composite) translate(err error) error {
	var s *sideways
	var g *given
	switch {
	case errors.As(err, &s):
		return err
	case errors.As(err, &g):
		return g.error
	}
	return wire.Renumbered(err, c.members)
}

// given is an error that names ranks of the whole.
type given struct{ error }

func (g *given) Unwrap() error { return g.error }

// whole returns the ranks of near as ranks of the whole, in ascending order.
func (c *Composite) whole(near []int) []int {
	ranks := make([]int, len(near))
	for i, rank := range near {
		ranks[i] = c.members[rank]
	}
	slices.Sort(ranks)
	return ranks
}

// Waiting returns the ranks that either half waits for.
func (c *Composite) Waiting() []int {
	ranks := append(c.whole(c.near.Waiting()), c.far.Waiting()...)
	slices.Sort(ranks)
	return ranks
}

// Moved returns the sum of the progress of both halves.
func (c *Composite) Moved() uint64 { return Moved(c.near.Transport) + Moved(c.far.Transport) }

// Fail ends both halves.
func (c *Composite) Fail(err error) {
	c.near.Fail(&given{err})
	c.far.Fail(err)
}

// YieldWhile passes f on to both halves.
func (c *Composite) YieldWhile(f func() bool) {
	YieldWhile(c.near.Transport, f)
	YieldWhile(c.far.Transport, f)
}

// Protocol returns the protocols of both halves, as far as they describe them.
func (c *Composite) Protocol(bytes int, reduces bool) string {
	var halves []string
	for _, half := range []Half{c.near, c.far} {
		words := Protocol(half.Transport, bytes, reduces)
		if words != "" && half.Name != "" {
			words = half.Name + ": " + words
		}
		if words != "" {
			halves = append(halves, words)
		}
	}
	return strings.Join(halves, "; ")
}

// Near returns the near half, and the ranks in it, by their rank there.
func (c *Composite) Near() (t Transport, members []int) { return c.near.Transport, c.members }

// half returns the half that a rank is in, and its number there.
func (c *Composite) half(rank int) (Transport, int) {
	if near := c.nearRank[rank]; near >= 0 {
		return c.near.Transport, near
	}
	return c.far.Transport, rank
}

// Left passes the report on to the half that the rank is in, if that is a Leaver.
func (c *Composite) Left(rank int, linked bool) {
	half, rank := c.half(rank)
	if t, ok := half.(Leaver); ok {
		t.Left(rank, linked)
	}
}

// Linked reports whether the half that the rank is in has, or had, a connection to it.
func (c *Composite) Linked(rank int) bool {
	half, rank := c.half(rank)
	t, ok := half.(Linker)
	return ok && t.Linked(rank)
}

// Wait waits for the halves that may still have messages in flight.
func (c *Composite) Wait() {
	for _, half := range []Transport{c.near.Transport, c.far.Transport} {
		if t, ok := half.(Lingerer); ok {
			t.Wait()
		}
	}
}

// GiveUp passes the report on to the half that the rank is in, if that is a Lingerer.
func (c *Composite) GiveUp(rank int) {
	half, rank := c.half(rank)
	if t, ok := half.(Lingerer); ok {
		t.GiveUp(rank)
	}
}

// Know registers memory with the halves that are Registrars.
func (c *Composite) Know(memory []byte) {
	for _, half := range []Transport{c.near.Transport, c.far.Transport} {
		if k, ok := half.(Registrar); ok {
			k.Know(memory)
		}
	}
}

// Forget unregisters it.
func (c *Composite) Forget(memory []byte) error {
	var errs []error
	for _, half := range []Transport{c.near.Transport, c.far.Transport} {
		if k, ok := half.(Registrar); ok {
			errs = append(errs, k.Forget(memory))
		}
	}
	return errors.Join(errs...)
}

func (c *Composite) Close() error {
	c.once.Do(func() { close(c.closed) })
	return errors.Join(c.near.Close(), c.far.Close())
}

// Follow makes both halves log what they do.
func (c *Composite) Follow(t *events.Trail) {
	for half, trail := range map[Transport]*events.Trail{c.near.Transport: t.Within(c.members), c.far.Transport: t} {
		if f, ok := half.(Follower); ok {
			f.Follow(trail)
		}
	}
}

// Rings returns the sizes of the near half's rings.
func (c *Composite) Rings() (slots, lines int) {
	if t, ok := c.near.Transport.(Ringed); ok {
		return t.Rings()
	}
	return 0, 0
}
