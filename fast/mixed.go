package fast

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/wire"
)

// mixed is a transport that reaches some ranks in one way, near, and the others in another, far. Messages of different
// peers have no order between them, so a step is two steps side by side.
type mixed struct {
	near, far transport
	members   []int // the ranks that are near, this one included, by their rank in near
	nearRank  []int // the rank in near of each rank; -1: far

	sends, farSends []wire.Send
	recvs, farRecvs []wire.Recv
	// The far half of a step runs in a goroutine of its own, which lives until Close.
	begin  chan context.Context
	ended  chan error
	closed chan struct{}
	once   sync.Once
}

// newMixed is a transport among size ranks of which members are near, by their rank in near.
func newMixed(size int, members []int, near, far transport) *mixed {
	m := &mixed{near: near, far: far, members: members, nearRank: slices.Repeat([]int{-1}, size),
		begin: make(chan context.Context), ended: make(chan error), closed: make(chan struct{})}
	for i, rank := range members {
		m.nearRank[rank] = i
	}
	go m.runFar()
	return m
}

func (m *mixed) runFar() {
	for {
		select {
		case ctx := <-m.begin:
			err := m.far.Exchange(ctx, m.farSends, m.farRecvs)
			endOther(m.near, err)
			m.ended <- err
		case <-m.closed:
			return
		}
	}
}

// endOther ends the other half of a step, t, if err has ended this one. The end of the context ends both.
func endOther(t transport, err error) {
	if _, expired := wire.Expired(err); err != nil && !expired {
		t.Fail(&sideways{err})
	}
}

// sideways is the failure of one half of a step, which ends the other.
type sideways struct{ error }

func (s *sideways) Unwrap() error { return s.error }

func (m *mixed) Begin(call wire.Mark) {
	m.near.Begin(call)
	m.far.Begin(call)
}

func (m *mixed) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	m.divide(sends, recvs)
	defer m.forget()
	if err := m.exchange(ctx); err != nil {
		return err
	}
	m.passLoansOn(recvs)
	return nil
}

// exchange carries out what was divided. A half that has nothing to do still announces the call.
func (m *mixed) exchange(ctx context.Context) error {
	noneNear, noneFar := len(m.sends)+len(m.recvs) == 0, len(m.farSends)+len(m.farRecvs) == 0
	if noneNear || noneFar {
		if err := m.translate(m.near.Exchange(ctx, m.sends, m.recvs)); err != nil {
			return err
		}
		return m.far.Exchange(ctx, m.farSends, m.farRecvs)
	}
	select {
	case m.begin <- ctx:
	case <-m.closed:
		return wire.ErrClosed
	}
	near, far := m.nearAndFar(ctx)
	return both(m.translate(near), far)
}

// nearAndFar carries out the near half, while the far one runs, and waits for that, also if near panics: the far half uses
// the caller's memory.
func (m *mixed) nearAndFar(ctx context.Context) (near, far error) {
	near = errPanicked
	defer func() {
		endOther(m.far, near)
		far = <-m.ended
	}()
	near = m.near.Exchange(ctx, m.sends, m.recvs)
	return near, nil
}

// divide lists the messages of both halves.
func (m *mixed) divide(sends []wire.Send, recvs []wire.Recv) {
	m.sends, m.recvs, m.farSends, m.farRecvs = m.sends[:0], m.recvs[:0], m.farSends[:0], m.farRecvs[:0]
	for _, s := range sends {
		if near := m.nearRank[s.Peer]; near >= 0 {
			s.Peer = near
			m.sends = append(m.sends, s)
		} else {
			m.farSends = append(m.farSends, s)
		}
	}
	for _, r := range recvs {
		if near := m.nearRank[r.Peer]; near >= 0 {
			r.Peer = near
			m.recvs = append(m.recvs, r)
		} else {
			m.farRecvs = append(m.farRecvs, r)
		}
	}
}

// passLoansOn tells the caller where the halves have left what they lend.
func (m *mixed) passLoansOn(recvs []wire.Recv) {
	near, far := m.recvs, m.farRecvs
	for i := range recvs {
		half := &far
		if m.nearRank[recvs[i].Peer] >= 0 {
			half = &near
		}
		if recvs[i].Lend {
			recvs[i].Into = (*half)[0].Into
		}
		*half = (*half)[1:]
	}
}

// Release ends the loans of both halves.
func (m *mixed) Release() {
	for _, half := range []transport{m.near, m.far} {
		if l, ok := half.(lender); ok {
			l.Release()
		}
	}
}

// forget drops the caller's memory, so that it can be collected.
func (m *mixed) forget() {
	clear(m.sends)
	clear(m.recvs)
	clear(m.farSends)
	clear(m.farRecvs)
}

// both is the error of a step whose halves ended with near and far. A half that failed because the other one did says
// nothing new.
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
func (m *mixed) translate(err error) error {
	timeout, expired := wire.Expired(err)
	var s *sideways
	var g *given
	switch {
	case errors.As(err, &s):
		return err
	case errors.As(err, &g):
		return g.error
	case expired:
		return &wire.TimeoutError{Waiting: m.whole(timeout.Waiting), Err: timeout.Err}
	}
	if mismatch, ok := within[*wire.MismatchError](err); ok {
		whole := *mismatch
		whole.Rank = m.members[whole.Rank]
		return &whole
	}
	if deadlock, ok := within[*wire.DeadlockError](err); ok {
		whole := &wire.DeadlockError{Sends: deadlock.Sends}
		for _, rank := range deadlock.Ranks {
			whole.Ranks = append(whole.Ranks, m.members[rank])
		}
		return whole
	}
	if peer, ok := within[*wire.PeerError](err); ok {
		return &wire.PeerError{Rank: m.members[peer.Rank], Err: peer.Err}
	}
	return err
}

// given is an error that names ranks of the whole.
type given struct{ error }

func (g *given) Unwrap() error { return g.error }

// whole are the ranks of near as ranks of the whole, in ascending order.
func (m *mixed) whole(near []int) []int {
	ranks := make([]int, len(near))
	for i, rank := range near {
		ranks[i] = m.members[rank]
	}
	slices.Sort(ranks)
	return ranks
}

func (m *mixed) Waiting() []int {
	ranks := append(m.whole(m.near.Waiting()), m.far.Waiting()...)
	slices.Sort(ranks)
	return ranks
}

func (m *mixed) Moved() uint64 { return movedBy(m.near) + movedBy(m.far) }

func (m *mixed) Fail(err error) {
	m.near.Fail(&given{err})
	m.far.Fail(err)
}

// Protocol is that of both halves, as far as they have one.
func (m *mixed) Protocol(bytes int, reduces bool) string {
	var halves []string
	for _, half := range []struct {
		usual string
		transport
	}{{"shm", m.near}, {"tcp", m.far}} {
		if words := protocolOf(half.transport, bytes, reduces); words != "" {
			halves = append(halves, named(half.transport, half.usual, words))
		}
	}
	return strings.Join(halves, "; ")
}

// named is what a half says, with its name, which is the usual one unless it goes over RDMA. What is mixed itself has said names.
func named(t transport, usual, words string) string {
	switch t.(type) {
	case *mixed:
		return words
	case *rdma.Endpoint:
		usual = "rdma"
	}
	return usual + ": " + words
}

// half is the half that a rank is in, and its number there.
func (m *mixed) half(rank int) (transport, int) {
	if near := m.nearRank[rank]; near >= 0 {
		return m.near, near
	}
	return m.far, rank
}

// Left is for the half that the rank is in, unless that sees it.
func (m *mixed) Left(rank int, linked bool) {
	half, rank := m.half(rank)
	if t, ok := half.(leaver); ok {
		t.Left(rank, linked)
	}
}

// Linked is that of the half that the rank is in.
func (m *mixed) Linked(rank int) bool {
	half, rank := m.half(rank)
	t, ok := half.(linker)
	return ok && t.Linked(rank)
}

// Wait waits for the halves whose messages may be on their way.
func (m *mixed) Wait() {
	for _, half := range []transport{m.near, m.far} {
		if t, ok := half.(waiter); ok {
			t.Wait()
		}
	}
}

// GiveUp is for the half that the rank is in, if it waits.
func (m *mixed) GiveUp(rank int) {
	half, rank := m.half(rank)
	if t, ok := half.(waiter); ok {
		t.GiveUp(rank)
	}
}

// Know has the halves that can know memory.
func (m *mixed) Know(memory []byte) {
	for _, half := range []transport{m.near, m.far} {
		if k, ok := half.(knower); ok {
			k.Know(memory)
		}
	}
}

// Forget has them forget it.
func (m *mixed) Forget(memory []byte) error {
	var errs []error
	for _, half := range []transport{m.near, m.far} {
		if k, ok := half.(knower); ok {
			errs = append(errs, k.Forget(memory))
		}
	}
	return errors.Join(errs...)
}

func (m *mixed) Close() error {
	m.once.Do(func() { close(m.closed) })
	return errors.Join(m.near.Close(), m.far.Close())
}
