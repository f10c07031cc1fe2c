//go:build linux

package shm

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

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
	p, n, want := &e.peeking, 0, len(into)
	if len(into) > 0 {
		p.mine[0].Base, p.far[0].Base, p.far[0].Len = &into[0], from, len(into)
		p.mine[0].SetLen(len(into))
		n++
	}
	if sure {
		p.mine[n].Base, p.far[n].Base, p.far[n].Len = &p.theirs[0], l.cookieAt, len(p.theirs)
		p.mine[n].SetLen(len(p.theirs))
		n++
		want += len(p.theirs)
	}
	got, err := p.readv(l.process, n)
	p.mine = [2]unix.Iovec{} // so that the memory can be collected
	switch {
	case err != nil:
		return err
	case got != want:
		return fmt.Errorf("%d of %d bytes are there", got, want)
	case sure && binary.NativeEndian.Uint64(p.theirs[:]) != l.cookie:
		return fmt.Errorf("process %d is another one", l.process)
	}
	return nil
}

// readv reads from a process, from the first n vectors of far into the first n of mine, and returns how many bytes it
// has read.
func (p *peeking) readv(process, n int) (int, error) {
	call := syscall.Syscall6
	if p.far[0].Len <= peekUntold {
		call = syscall.RawSyscall6
	}
	got, _, errno := call(unix.SYS_PROCESS_VM_READV, uintptr(process), uintptr(unsafe.Pointer(&p.mine)), uintptr(n),
		uintptr(unsafe.Pointer(&p.far)), uintptr(n), 0)
	if errno != 0 {
		return 0, errno
	}
	return int(got), nil
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
