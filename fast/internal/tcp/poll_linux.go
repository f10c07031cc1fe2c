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

// poller waits for sockets with its own epoll file. That file is itself in Go's network poller, so that a waiting
// goroutine keeps no thread. A socket is armed when its rank is about to sleep, until it reports an event: an event at
// other times would needlessly wake a thread of Go's poller, which takes the processor from a polling rank. At other
// times epoll does not know the socket at all, because that costs a few hundred nanoseconds of each message. A rank
// that waits for more than maxDirect others arms their sockets as soon as it has to ask epoll which of them are ready.
type poller struct {
	mu     sync.Mutex
	file   *os.File // nil: not made yet, or closed
	fd     int
	raw    syscall.RawConn
	look   func(fd uintptr) bool
	events [32]unix.EpollEvent
	n      int // how many events the last look found
	err    error
	until  time.Time // the file's deadline, unless wake has changed it
	ready  []readiness
	armed  []uint32 // by peer, the events that its socket is armed for; 0: epoll does not know the socket
}

// open creates the file, if there is none.
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

// add announces a socket to peer. It is not armed.
func (p *poller) add(peer int) error {
	for len(p.armed) <= peer {
		p.armed = append(p.armed, 0)
	}
	return p.open()
}

// arm makes each socket report, once, an event of interest.
func (p *poller) arm(e *Endpoint) error {
	for i := range e.links {
		l := &e.links[i]
		events := uint32(unix.EPOLLONESHOT)
		in, out := e.interest(l)
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
		if err := unix.EpollCtl(p.fd, how, int(l.socket.(descriptor)), &unix.EpollEvent{Events: events,
			Fd: int32(i)}); err != nil {
			return fmt.Errorf("epoll_ctl: %w", err)
		}
		p.armed[i] = events
	}
	return nil
}

// disarm follows a sleep: the rank polls its sockets itself now, unless it waits for so many that it asks epoll.
// Sockets may be armed from a time when they were many, or from a sleep that timed out. Their events would otherwise
// wake a thread of Go's poller.
func (p *poller) disarm(e *Endpoint) {
	if len(e.Active) > maxDirect {
		return
	}
	for peer, events := range p.armed {
		fd, open := e.links[peer].socket.(descriptor)
		if events != 0 && open && unix.EpollCtl(p.fd, unix.EPOLL_CTL_DEL, int(fd), nil) == nil {
			p.armed[peer] = 0
		}
	}
}

// wait waits until a socket of interest is ready, the time is over, or somebody calls wake.
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
		p.ready = append(p.ready, readiness{peer: int(event.Fd), in: ended ||
			event.Events&(unix.EPOLLIN|unix.EPOLLRDHUP) != 0,
			out: ended || event.Events&unix.EPOLLOUT != 0})
	}
	if atMost > 0 {
		p.disarm(e)
	}
	return p.ready, nil
}

// sleep waits for events. It keeps the file's deadline if that is far enough away.
func (p *poller) sleep(e *Endpoint, atMost time.Duration) error {
	if now := time.Now(); p.until.Sub(now) < atMost/2 {
		p.until = now.Add(atMost)
		if err := p.file.SetReadDeadline(p.until); err != nil {
			return fmt.Errorf("set the deadline of a sleep: %w", err)
		}
	}
	if e.End.Failed() != nil || e.Changed.Load() || e.Leaves() { // the new deadline has hidden a wake
		return nil
	}
	err := p.raw.Read(p.look)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.until, err = time.Time{}, nil
	}
	return err
}

// wake ends a wait, from any goroutine.
func (p *poller) wake() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		_ = p.file.SetReadDeadline(time.Unix(1, 0))
	}
}

// close closes the file.
func (p *poller) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file != nil {
		_ = p.file.Close()
		p.file = nil
	}
}
