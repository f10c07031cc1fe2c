package hosts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// noRoot is the root of a call that has none.
const noRoot = -1

// size returns the number of ranks.
func (h *Comm) size() int {
	if h == nil {
		return 1
	}
	return h.c.Size()
}

// rank returns this rank.
func (h *Comm) rank() int {
	if h == nil {
		return 0
	}
	return h.c.Rank()
}

// begin begins a call. Nothing else runs on h until end.
func (h *Comm) begin(ctx context.Context, name string, op fast.Op, root int) error {
	switch {
	case h == nil || h.c == nil:
		return wire.Refuse(name, "the communicator is nil, or was not made by New")
	case ctx == nil:
		return wire.Refuse(name, "the context is nil")
	case !h.busy.CompareAndSwap(false, true):
		return fmt.Errorf("%s on %v: %w", name, h.c, fast.ErrConcurrentUse)
	}
	if err := h.unusable(); err != nil {
		h.end()
		return fmt.Errorf("%s on %v: %w", name, h.c, err)
	}
	h.whole, h.stage = exec.Part{Operation: name, Op: op, Root: root}, 0
	return nil
}

// end lets other goroutines make calls.
func (h *Comm) end() { h.busy.Store(false) }

// unusable returns why no call can be made any more, if there is a reason.
func (h *Comm) unusable() error {
	if h.closed.Load() || h.c.State() == fast.Closed {
		return fast.ErrClosed
	}
	err := h.c.Err()
	if err == nil {
		return nil
	}
	exec.Runtime.Fail(h.c, err) // it has failed already, but the others have to be told before the program may end
	if errors.Is(err, fast.ErrAborted) {
		return err
	}
	return fmt.Errorf("%w: %w", fast.ErrAborted, err)
}

// leads reports whether this rank leads its host.
func (h *Comm) leads() bool { return h.far.Comm != nil }

// alone reports whether this rank is alone on its host.
func (h *Comm) alone() bool { return len(h.near.ranks) == 1 }

// made ends a part of the call in progress, a call on p with that error.
func (h *Comm) made(p *part, err error) error {
	if err != nil {
		return h.failed(p, err)
	}
	if h.stage++; h.stage == 1 {
		h.calls++
	}
	return nil
}

// failed returns the error of the call in progress, a part of which has failed on p.
func (h *Comm) failed(p *part, err error) error {
	switch {
	case h.closed.Load():
		return fmt.Errorf("%s on %v: %w: %v", h.whole.Operation, h.c, fast.ErrClosed, err)
	case h.stage == 0 && p.State() == fast.Healthy: // it was refused, and nothing was sent
		return fmt.Errorf("%s on %v: %w", h.whole.Operation, h.c, err)
	}
	e := &fast.CallError{Comm: h.name, Rank: h.c.Rank(), Size: h.c.Size(), Seq: h.calls + 1, Op: h.whole.Operation,
		Peer: -1}
	if h.stage > 0 {
		e.Seq = h.calls
	}
	var of *fast.CallError
	if errors.As(err, &of) {
		err = of.Err
		for _, rank := range of.Waiting {
			e.Waiting = append(e.Waiting, p.ranks[rank])
		}
	}
	e.Err = h.giveUp(inWhole(err, p.ranks))
	return e
}

// inWhole returns err, of a part with those ranks, as one of the whole. What another rank has told names ranks of the
// part, so only its text is kept.
func inWhole(err error, ranks []int) error {
	err = wire.Renumbered(err, ranks)
	if peer, ok := err.(*fast.PeerError); ok && errors.Is(peer.Err, fast.ErrAborted) {
		return &fast.PeerError{Rank: peer.Rank, Err: fmt.Errorf("%w: %v", fast.ErrAborted, peer.Err)}
	}
	return err
}

// giveUp gives the communicator of all ranks up because of err, unless that is a consequence of why it has been given
// up already, or is about to be: the news of that may come a little later. It returns the reason.
func (h *Comm) giveUp(err error) error {
	if _, ok := err.(*fast.PeerError); ok {
		select {
		case <-exec.Runtime.Ended(h.c):
		case <-time.After(failure.RootCauseWait):
		}
	}
	exec.Runtime.Fail(h.c, err) // the first reason counts
	if first := h.c.Err(); first != nil {
		return first
	}
	return err
}
