//go:build !linux

package tcp

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// poller waits for sockets with poll(2). A wait that is to end otherwise ends with its time.
type poller struct {
	polls []unix.PollFd
	ready []readiness
}

func (p *poller) add(int, int) error { return nil }

// wait waits until a socket of the Exchange is ready, or the time is over.
func (p *poller) wait(e *Endpoint, atMost time.Duration) ([]readiness, error) {
	p.polls, p.ready = p.polls[:0], p.ready[:0]
	for _, l := range e.active {
		poll := unix.PollFd{Fd: int32(l.fd)} // one that is negative is ignored
		if l.receiving() != nil && l.in.over == nil {
			poll.Events |= unix.POLLIN
		}
		if l.sending() != nil && l.out.full {
			poll.Events |= unix.POLLOUT
		}
		p.polls = append(p.polls, poll)
	}
	if _, err := unix.Poll(p.polls, int(atMost.Milliseconds())); err != nil && err != unix.EINTR {
		return nil, fmt.Errorf("poll: %w", err)
	}
	for i, l := range e.active {
		// A link without a message to receive is looked at after each nap: the other rank may have something to say.
		p.ready = append(p.ready, readiness{peer: l.peer, in: p.polls[i].Revents&^unix.POLLOUT != 0 || l.receiving() == nil,
			out: p.polls[i].Revents != 0})
	}
	return p.ready, nil
}

func (p *poller) wake() {}

func (p *poller) close() {}
