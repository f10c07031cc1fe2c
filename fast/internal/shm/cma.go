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

// A rank can read a message in the memory of the sender's process, wherever that is (cross-memory attach,
// process_vm_readv(2)), if the system lets it: not between users, in many containers, or where ptrace(2) is restricted.
// Each rank finds out for itself which others it can read, and tells them; a sender offers nothing else to it.

// Seclude has this rank neither read the memory of other processes nor have them read its own, apart from regions. It
// is for an endpoint that was not used yet.
func (e *Endpoint) Seclude() {
	e.peeking.off = true
	e.own.card.pid.Store(0)
}

// present writes this rank's card.
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

// probe finds out whether this rank can read the memory of the process of l's peer, and tells that rank. It is called
// before the first long message from there, as the peer has come then, or does soon.
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

// peek reads from the memory of l's peer and, if that is asked for, makes sure that it was the peer's.
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

// readv reads from a process into the first n of mine what is at the first n of far, and gives how many bytes it has
// read.
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

// buffer returns memory for a piece that a kernel is to take.
func (p *peeking) buffer() []byte {
	if p.bounce == nil {
		p.bounce = make([]byte, piece)
	}
	return p.bounce
}

// take reads the next n bytes of m in its sender's memory, and applies them.
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

// readable reports whether m is better read by the receiver than copied into slots: the receiver can, both ranks are
// busy with copies anyway (see peekFrom and crowdedFrom), and the memory is in huge pages: the system looks up each
// page that it reads of another process, small ones at a third of a copy's speed.
func (e *Endpoint) readable(m *outgoing) bool {
	p := &e.peeking
	return !p.off && len(m.Data) >= p.from && m.link.out.head.readable.Load() != 0 &&
		(p.always || (p.oneWay || e.swaps(m.link)) && p.pages.inHugePages(m.Data))
}

// swaps reports whether this rank receives from l's peer, too, and does not reduce what it receives.
func (e *Endpoint) swaps(l *link) bool {
	for i := range e.in {
		if m := &e.in[i]; m.link == l {
			return m.Kernel == nil && len(m.Into) >= e.peeking.from
		}
	}
	return false
}
