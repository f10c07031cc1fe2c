//go:build linux

package shm

import (
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// What became of a rank: control.state as the rank itself says it, and lifeline.fate as others know it.
// A later one is worse.
const (
	open uint32 = iota
	closed
	aborted
	died // a lifeline that ended while the state was open
)

// lifeline is a pipe's end for reading: it ends when the peer does, whatever ended it.
type lifeline struct {
	file *os.File // nil: this rank's own
	fate atomic.Uint32
}

// watch waits for the end of peer's lifeline.
func (e *Endpoint) watch(peer int) {
	var b [1]byte
	for {
		if n, err := e.lifelines[peer].file.Read(b[:]); n == 0 || err != nil {
			break
		}
	}
	if !e.gate.enter() {
		return
	}
	defer e.leave()
	e.lose(peer)
	e.own.ring()
}

// lose takes note of the end of peer's lifeline.
func (e *Endpoint) lose(peer int) {
	fate := died
	if s := e.mem.control(peer).state.Load(); s == closed || s == aborted {
		fate = s
	}
	e.lifelines[peer].fate.Store(fate)
	for worst := e.worst.Load(); worst < fate && !e.worst.CompareAndSwap(worst, fate); worst = e.worst.Load() {
	}
}

// dead is the lowest rank that died, or -1. It looks at all lifelines, because the one that is known to have ended may
// be that of a rank that gave up when it saw another one's end.
func (e *Endpoint) dead() int {
	if n, err := unix.Poll(e.polls, 0); err == nil && n > 0 {
		for rank := range e.polls {
			if e.polls[rank].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
				e.lose(rank)
			}
		}
	}
	return e.withFate(died)
}

// withFate is the lowest rank of that fate, or -1.
func (e *Endpoint) withFate(fate uint32) int {
	for rank := range e.lifelines {
		if e.lifelines[rank].fate.Load() == fate {
			return rank
		}
	}
	return -1
}

// gone is the error of a rank that gave up, or has closed while this one waits for it; nil if no rank did.
func (e *Endpoint) gone() error {
	rank := e.withFate(aborted)
	if first := int(e.mem.header().aborter.Load()) - 1; first >= 0 && first < e.mem.size && e.lifelines[first].fate.Load() == aborted {
		rank = first
	}
	if rank >= 0 {
		if err := e.refusal(rank); err != nil {
			return err
		}
		return &wire.PeerError{Rank: rank, Err: wire.ErrAborted}
	}
	for rank := range e.lifelines {
		if e.lifelines[rank].fate.Load() == closed && e.waitsFor(rank) {
			return &wire.PeerError{Rank: rank, Err: wire.ErrClosed}
		}
	}
	return nil
}
