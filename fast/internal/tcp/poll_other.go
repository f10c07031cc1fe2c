//go:build !linux

package tcp

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for sockets with poll(2). Nothing wakes it before the time is over.
type poller struct {
	polls []unix.PollFd
	ready []readiness
}

func (p *poller) add(int) error { return nil }

// wait waits until a socket is ready, or the time is over.
func (p *poller) wait(e *Endpoint, atMost time.Duration) ([]readiness, error) {
	p.polls, p.ready = p.polls[:0], p.ready[:0]
	for i := range e.links {
		l := &e.links[i]
		fd, open := l.socket.(descriptor)
		poll := unix.PollFd{Fd: int32(fd)}
		in, out := e.interest(l)
		if in {
			poll.Events |= unix.POLLIN
		}
		if out {
			poll.Events |= unix.POLLOUT
		}
		if poll.Events == 0 || !open {
			poll.Fd = -1 // which is ignored
		}
		p.polls = append(p.polls, poll)
	}
	if _, err := unix.Poll(p.polls, int(atMost.Milliseconds())); err != nil && err != unix.EINTR {
		return nil, fmt.Errorf("poll: %w", err)
	}
	for i, poll := range p.polls {
		if poll.Revents != 0 {
			p.ready = append(p.ready, readiness{peer: i, in: poll.Revents&^unix.POLLOUT != 0,
				out: poll.Revents&^unix.POLLIN != 0})
		}
	}
	return p.ready, nil
}

func (p *poller) wake() {}

func (p *poller) close() {}
