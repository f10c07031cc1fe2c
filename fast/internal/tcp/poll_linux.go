package tcp

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// poller waits for sockets: with an epoll file of its own, which is itself in Go's network poller, so that a goroutine
// that waits keeps no thread. A socket is armed when its rank is about to sleep, until it has told of something:
// whatever comes at other times would wake a thread of Go's poller in vain, and that one takes the processor of a rank
// that spins. Nor does epoll know it otherwise, which costs a few hundred nanoseconds of each message that comes. A
// rank that waits for more than a few others is different: it arms their sockets as soon as it has to ask epoll which
// of them are ready.
type poller struct {
	mu     sync.Mutex
	file   *os.File // nil: not made yet, or closed
	fd     int
	raw    syscall.RawConn
	look   func(fd uintptr) bool
	events [32]unix.EpollEvent
	n      int // events that the last look has found
	err    error
	until  time.Time // the file's deadline, as far as wait knows
	ready  []readiness
	armed  []uint32 // by peer, what its socket is to tell of; 0: epoll does not know it
}

// open makes the file, if there is none.
func (p *poller) open() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		return nil
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("epoll_create1: %w", wire.Exhausted(err))
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	file := os.NewFile(uintptr(fd), "epoll")
	raw, err := file.SyscallConn()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	p.file, p.fd, p.raw, p.ready = file, fd, raw, make([]readiness, 0, len(p.events))
	p.look = func(uintptr) bool {
		p.n, p.err = unix.EpollWait(p.fd, p.events[:], 0)
		return p.n != 0
	}
	return nil
}

// add has p know that there is a socket to peer. It is not armed.
func (p *poller) add(peer int) error {
	for len(p.armed) <= peer {
		p.armed = append(p.armed, 0)
	}
	return p.open()
}

// arm has sockets tell, once, of what the rank sleeps for.
func (p *poller) arm(e *Endpoint) error {
	for i := range e.links {
		l := &e.links[i]
		events := uint32(unix.EPOLLONESHOT)
		in, out := e.watches(l)
		if in {
			events |= unix.EPOLLIN | unix.EPOLLRDHUP
		}
		if out {
			events |= unix.EPOLLOUT
		}
		if l.socket == nil || !in && !out || p.armed[i] == events {
			continue
		}
		how := unix.EPOLL_CTL_MOD
		if p.armed[i] == 0 {
			how = unix.EPOLL_CTL_ADD
		}
		if err := unix.EpollCtl(p.fd, how, int(l.socket.(descriptor)), &unix.EpollEvent{Events: events, Fd: int32(i)}); err != nil {
			return fmt.Errorf("epoll_ctl: %w", err)
		}
		p.armed[i] = events
	}
	return nil
}

// forget comes after a sleep: the rank looks at its sockets itself now, unless those that it waits for are so many that
// it asks epoll. Others may be armed from when they were many, or from a nap in vain. Those that have told of nothing
// would else wake a thread of Go's poller when they do.
func (p *poller) forget(e *Endpoint) {
	if len(e.Active) > few {
		return
	}
	for peer, events := range p.armed {
		fd, open := e.links[peer].socket.(descriptor)
		if events != 0 && open && unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, int(fd), nil) == nil {
			p.armed[peer] = 0
		}
	}
}

// wait waits until a socket is ready, the time is over, or somebody wakes it.
func (p *poller) wait(e *Endpoint, atMost time.Duration) ([]readiness, error) {
	if err := p.open(); err != nil {
		return nil, err
	}
	if err := p.arm(e); err != nil {
		return nil, err
	}
	p.n, p.err = 0, nil
	if atMost == 0 {
		p.look(0)
	} else if err := p.sleep(e, atMost); err != nil {
		return nil, err
	}
	if p.n < 0 && p.err != unix.EINTR {
		return nil, fmt.Errorf("epoll_wait: %w", p.err)
	}
	p.ready = p.ready[:0]
	for _, event := range p.events[:max(0, p.n)] {
		p.armed[event.Fd] = unix.EPOLLONESHOT
		ended := event.Events&(unix.EPOLLHUP|unix.EPOLLERR) != 0
		p.ready = append(p.ready, readiness{peer: int(event.Fd), in: ended || event.Events&(unix.EPOLLIN|unix.EPOLLRDHUP) != 0,
			out: ended || event.Events&unix.EPOLLOUT != 0})
	}
	if atMost > 0 {
		p.forget(e)
	}
	return p.ready, nil
}

// sleep looks until there are events. A deadline that is far enough away is left as it is.
func (p *poller) sleep(e *Endpoint, atMost time.Duration) error {
	if now := time.Now(); p.until.Sub(now) < atMost/2 {
		p.until = now.Add(atMost)
		if err := p.file.SetReadDeadline(p.until); err != nil {
			return fmt.Errorf("the deadline of a nap: %w", err)
		}
	}
	if e.End.Failed() != nil || e.arrived.Load() { // of which the deadline has hidden that p was woken
		return nil
	}
	err := p.raw.Read(p.look)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.until, err = time.Time{}, nil
	}
	return err
}

// wake ends a wait, from any goroutine, after what the waiting one is to see.
func (p *poller) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		_ = p.file.SetReadDeadline(time.Unix(1, 0))
	}
}

// close gives everything back.
func (p *poller) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
	}
}
