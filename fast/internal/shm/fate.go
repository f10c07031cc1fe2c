//go:build linux

package shm

import "github.com/collgen/collgen/fast/internal/wire"

// What became of a rank, as it says in control.state.
const (
	open uint32 = iota
	closed
	aborted
)

// reason is why this rank's part is over, if it is.
func (e *Endpoint) reason() error {
	if err := e.ended.Load(); err != nil {
		return *err
	}
	return nil
}

// given is the reason why no Exchange can succeed any more, if there is one: this rank's, or that another one gave up.
func (e *Endpoint) given() error {
	if err := e.ended.Load(); err != nil {
		return *err
	}
	if by := e.mem.header().aborter.Load(); by != 0 {
		return e.aborted(int(by) - 1)
	}
	return nil
}

// aborted is the error of a rank that is said to have given up; nil if there is no such rank.
func (e *Endpoint) aborted(rank int) error {
	if rank >= len(e.links) || rank == e.rank || e.links[rank].control.state.Load() != aborted {
		return nil
	}
	if err := e.refusal(rank); err != nil {
		return err
	}
	return &wire.PeerError{Rank: rank, Err: wire.ErrAborted}
}

// left is the error of a rank that has closed while this one waits for it.
func (e *Endpoint) left() error {
	for l := range e.pending() {
		if l.control.state.Load() == closed {
			return &wire.PeerError{Rank: l.peer, Err: wire.ErrClosed}
		}
	}
	return nil
}
