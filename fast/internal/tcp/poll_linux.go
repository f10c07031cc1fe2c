package tcp

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for sockets: with an epoll file of its own, which tells of each change once, and which is itself in Go's
// network poller, so that a goroutine that waits keeps no thread.
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
		return fmt.Errorf("epoll_create1: %w", err)
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

// add has p wait for peer's socket too.
func (p *poller) add(fd, peer int) error {
	if err := p.open(); err != nil {
		return err
	}
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(peer)}
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &event); err != nil {
		return fmt.Errorf("epoll_ctl: %w", err)
	}
	return nil
}

// wait waits until a socket is ready, the time is over, or somebody wakes it.
func (p *poller) wait(e *Endpoint, atMost time.Duration) ([]readiness, error) {
	if err := p.open(); err != nil {
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
		ended := event.Events&(unix.EPOLLHUP|unix.EPOLLERR) != 0
		p.ready = append(p.ready, readiness{peer: int(event.Fd), in: ended || event.Events&(unix.EPOLLIN|unix.EPOLLRDHUP) != 0,
			out: ended || event.Events&unix.EPOLLOUT != 0})
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
	if e.fate.Load() != nil || e.arrived.Load() { // of which the deadline has hidden that p was woken
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
