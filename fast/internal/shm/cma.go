//go:build linux

package shm

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
)

// A rank can read a message anywhere in the memory of the sender's process (cross-memory attach, process_vm_readv(2)),
// if the system allows it: not between users, in many containers, or where ptrace(2) is restricted. Each rank finds out
// which others it can read and tells them. A sender offers such messages to no other rank.

// Seclude disables cross-memory attach for this rank, in both directions. Regions still work. It must be called before
// the endpoint is used.
func (e *Endpoint) Seclude() {
	e.peeking.off = true
	e.own.card.pid.Store(0)
}

// present publishes this rank's card.
func (e *Endpoint) present() {
	p, c := &e.peeking, &e.own.card
	p.from = peekFrom
	if e.mem.size > cores {
		p.from, p.oneWay = crowdedFrom, true
	}
	_, _ = rand.Read(p.cookie[:]) // never fails
	c.at, c.cookie = uint64(uintptr(unsafe.Pointer(&p.cookie))), binary.NativeEndian.Uint64(p.cookie[:])
	c.pid.Store(int64(os.Getpid()))
}

// probe finds out whether this rank can read the memory of the process of l's peer, and tells the peer. It is called
// before the first long message from the peer, when the peer is there or soon will be.
func (e *Endpoint) probe(l *link) {
	c := &l.control.card
	if l.process = int(c.pid.Load()); l.process == 0 || e.peeking.off {
		return
	}
	l.probed = true
	l.cookieAt, l.cookie = uintptr(c.at), c.cookie
	if l.readable = e.peek(l, nil, 0, true) == nil; l.readable {
		l.in.head.readable.Store(1)
	}
}

// peek reads from the memory of l's peer. If sure is set, it also verifies by the cookie that the process is the
// peer's.
func (e *Endpoint) peek(l *link, into []byte, from uintptr, sure bool) error {
	cookieAt := uintptr(0)
	if sure {
		cookieAt = l.cookieAt
	}
	cookie, err := e.peeking.Read(l.process, into, from, cookieAt)
	switch {
	case err != nil:
		return err
	case sure && cookie != l.cookie:
		return fmt.Errorf("process %d is another one", l.process)
	}
	return nil
}

// buffer returns memory for a piece that a kernel processes.
func (p *peeking) buffer() []byte {
	if p.bounce == nil {
		p.bounce = make([]byte, piece)
	}
	return p.bounce
}

// take reads the next n bytes of m from its sender's memory and applies them.
func (e *Endpoint) take(m *incoming, n int) error {
	from, last := m.far+uintptr(m.at), m.at+n == len(m.Into)
	into := m.Into[m.at : m.at+n]
	if m.Kernel != nil {
		into = m.source[:n]
	}
	if err := e.peek(m.link, into, from, last); err != nil {
		if m.link.in.head.withdrawn.Load() != 0 {
			return e.gaveUp(m.link)
		}
		return &wire.PeerError{Rank: m.Peer, Err: fmt.Errorf("%w: its memory cannot be read: %w", wire.ErrDied, err)}
	}
	if m.Kernel != nil {
		kernel.Apply(m.Recv, m.at, into)
	}
	return nil
}

// readable reports whether the receiver had better read m than have it copied into slots. The receiver must be able to,
// both ranks are busy copying anyway (see peekFrom and crowdedFrom), and the memory is in huge pages: the system looks
// up each page that it reads in another process, which for small pages is a third as fast as a copy.
func (e *Endpoint) readable(m *outgoing) bool {
	p := &e.peeking
	return !p.off && len(m.Data) >= p.from && m.link.out.head.readable.Load() != 0 &&
		(p.always || (p.oneWay || e.swaps(m.link)) && p.pages.inHugePages(m.Data))
}

// swaps reports whether this rank also receives a long message from l's peer, without reducing it.
func (e *Endpoint) swaps(l *link) bool {
	for i := range e.in {
		if m := &e.in[i]; m.link == l {
			return m.Kernel == nil && len(m.Into) >= e.peeking.from
		}
	}
	return false
}
