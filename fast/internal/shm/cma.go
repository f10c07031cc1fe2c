//go:build linux

package shm

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// A rank can read a message in the memory of the sender's process, wherever that is (cross-memory attach,
// process_vm_readv(2)), if the system lets it: not between users, in many containers, or where ptrace(2) is restricted.
// Each rank finds out for itself which others it can read, and tells them; a sender offers nothing else to it.

// How long a message has to be for that: each piece is a system call.
const peekFrom = 256 << 10

// peekPiece is how much is read at a time that nothing is to be done with. What a kernel takes is read in shorter pieces,
// into memory that stays in the cache.
const peekPiece = 512 << 10

// card is how the others find a rank's process. A cookie in its memory tells that what they find is that process: its
// number may be another one's in their namespace, or after its end.
type card struct {
	pid        atomic.Int64 // 0: the rest is not there yet
	at, cookie uint64       // the cookie, and its address
}

// peeking is what a rank needs to read the memory of other processes, and to have them read its own.
type peeking struct {
	off    bool // it does neither
	from   int  // how long the messages are that it offers
	always bool // it offers all of them that can be read
	probed bool // it knows whom it can read

	cookie  [8]byte  // this rank's, for the others
	theirs  [8]byte  // of the process that is read
	bounce  []byte   // what is read for kernels
	pagemap *os.File // of this process; nil: not opened yet
	mine    [2]unix.Iovec
	far     [2]unix.RemoteIovec
	scan    pageScan
	found   pageRegion
}

// Seclude has this rank neither read the memory of other processes nor have them read its own, apart from regions. It is
// for an endpoint that was not used yet.
func (e *Endpoint) Seclude() {
	e.peeking.off = true
	e.own.card.pid.Store(0)
}

// present writes this rank's card.
func (e *Endpoint) present() {
	p, c := &e.peeking, &e.own.card
	p.from = peekFrom
	_, _ = rand.Read(p.cookie[:]) // never fails
	c.at, c.cookie = uint64(uintptr(unsafe.Pointer(&p.cookie))), binary.NativeEndian.Uint64(p.cookie[:])
	c.pid.Store(int64(os.Getpid()))
}

// probe finds out which ranks' processes this one can read, and tells these ranks.
func (e *Endpoint) probe() {
	if e.peeking.probed || e.peeking.off {
		return
	}
	e.peeking.probed = true
	for i := range e.links {
		if l := &e.links[i]; l.control != nil && !l.probed {
			l.probed = e.probeOne(l)
			e.peeking.probed = e.peeking.probed && l.probed
		}
	}
}

// probeOne is false if l's peer has not come yet.
func (e *Endpoint) probeOne(l *link) bool {
	c := &l.control.card
	if l.process = int(c.pid.Load()); l.process == 0 {
		return false
	}
	l.cookieAt, l.cookie = uintptr(c.at), c.cookie
	if l.readable = e.peek(l, nil, 0, true) == nil; l.readable {
		l.in.head.readable.Store(1)
	}
	return true
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
	got, err := unix.ProcessVMReadv(l.process, p.mine[:n], p.far[:n], 0)
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

// buffer is memory for a piece that a kernel is to take.
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
		m.apply(into)
	}
	return nil
}

// readable tells whether m is better read by the receiver than copied into slots: the receiver can, and would copy as much
// for this rank at the same time, as in an all-gather. Where one of the two has nothing else to do, it copies into slots
// while the other one copies out of them; and a kernel reads slots where they lie. The memory is in huge pages: the system
// looks up each page that it reads of another process, small ones at a third of a copy's speed.
func (e *Endpoint) readable(m *outgoing) bool {
	p := &e.peeking
	return !p.off && len(m.Data) >= p.from && m.link.out.head.readable.Load() != 0 &&
		(p.always || e.swaps(m.link) && p.inHugePages(m.Data))
}

// swaps tells whether this rank receives from l's peer, too, and does not reduce what it receives.
func (e *Endpoint) swaps(l *link) bool {
	for i := range e.in {
		if m := &e.in[i]; m.link == l {
			return m.Kernel == nil && len(m.Into) >= e.peeking.from
		}
	}
	return false
}

// inHugePages tells whether most of data lies in huge pages. It is false where the system does not say (before Linux 6.7).
func (p *peeking) inHugePages(data []byte) bool {
	if p.pagemap == nil {
		f, err := os.Open("/proc/self/pagemap")
		if err != nil {
			p.from = math.MaxInt
			return false
		}
		p.pagemap = f
	}
	page := uintptr(os.Getpagesize() - 1)
	from, to := address(data)&^page, (address(data)+uintptr(len(data))+page)&^page
	p.scan = pageScan{size: uint64(unsafe.Sizeof(p.scan)), start: uint64(from), end: uint64(to),
		vec: uint64(uintptr(unsafe.Pointer(&p.found))), vecLen: 1, mask: pageIsHuge, returned: pageIsHuge}
	n, _, errno := unix.Syscall(unix.SYS_IOCTL, p.pagemap.Fd(), pagemapScan, uintptr(unsafe.Pointer(&p.scan)))
	if errno != 0 {
		p.from = math.MaxInt
		return false
	}
	return n == 1 && p.found.end-p.found.start >= uint64(to-from)/4*3
}

// The ioctl PAGEMAP_SCAN, as in linux/fs.h.
const (
	pagemapScan = 3<<30 | unsafe.Sizeof(pageScan{})<<16 | 'f'<<8 | 16
	pageIsHuge  = 1 << 6
)

type pageScan struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages, inverted, mask, anyOf, returned uint64
}

type pageRegion struct{ start, end, categories uint64 }
