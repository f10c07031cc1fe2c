package fast

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/internal/fork"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/internal/events"
)

// initTime is how long Init waits for the other ranks if its context has no deadline.
const initTime = time.Minute

// Init connects this process with those of all other ranks, and returns when all of them are connected. Ranks on one
// host share memory, which needs Linux, and others use TCP, or RDMA if it is asked for (WithRDMADevice); ranks that are
// all on one host need no network.
//
// Ranks prove to each other that they belong to the job: by the secret or the certificates that options give, or by one
// that their store hands out.
//
// Init ends with ctx, or after a minute if ctx has no deadline. It fails with ErrInvalidArgument for an option that is
// wrong, *TimeoutError naming the ranks that did not come, *PeerError naming one that died, or in words; if it fails on
// one rank, it fails on all, unless a process dies at its very end: then it may succeed on some, whose next call says
// so. A process that dies meanwhile is found when nobody listens any more where it did, which takes up to half a second
// on one host and three over TCP; one that dies before it has said where, when ctx ends. The Comm is the caller's to
// close.
func Init(ctx context.Context, opts ...InitOption) (*Comm, error) {
	p, err := placeOf(ctx, opts)
	if err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, initTime)
		defer cancel()
	}
	meeting, stop := patience{p.logger(), p.slow}.watch(ctx, "Init", "comm", "world", "rank", p.rank, "size", p.size)
	w, err := connect(meeting, p)
	stop()
	if err != nil {
		return nil, fmt.Errorf("connecting rank %d of %d: %w", p.rank, p.size, err)
	}
	c, err := w.first(ctx, p.size)
	if err != nil {
		return nil, errors.Join(err, w.plane.Close())
	}
	return c, nil
}

// placeOf returns what opts say, all of them together.
func placeOf(ctx context.Context, opts []InitOption) (*initConfig, error) {
	switch {
	case ctx == nil:
		return nil, wire.Refuse("Init", "the context is nil")
	case fork.Child():
		return nil, ErrForked
	}
	p := new(initConfig)
	if err := p.take("Init", opts); err != nil {
		return nil, err
	}
	return p, p.check()
}

// take takes what opts say.
func (p *initConfig) take(what string, opts []InitOption) error {
	for _, o := range opts {
		if o == nil {
			return wire.Refuse(what, "an option is nil")
		}
		o(p)
	}
	if p.err != nil {
		return wire.Refuse(what, "%v", p.err)
	}
	if p.eventDir != "" {
		if err := events.Check(); err != nil {
			return wire.Refuse(what, "events are to be written to %s: %v", p.eventDir, err)
		}
	}
	return p.tune(what)
}

func (p *initConfig) check() error {
	switch {
	case p.size == 0 && p.rankless != nil:
		return wire.Refuse("Init", "%v", p.rankless)
	case p.size == 0:
		return wire.Refuse("Init", "the rank is not given")
	case p.size < 0 || p.rank < 0 || p.rank >= p.size:
		return wire.Refuse("Init", "there is no rank %d of %d", p.rank, p.size)
	case !slices.Contains([]string{"", "shm", "rdma", "tcp"}, p.transport):
		return wire.Refuse("Init", "there is no transport %q, want shm, rdma or tcp", p.transport)
	case p.transport == "rdma" && p.encrypt:
		return wire.Refuse("Init", "what goes over RDMA cannot be encrypted")
	}
	return p.checkPlaces()
}

// checkPlaces refuses what is named and is not there, also where nothing would come to use it.
func (p *initConfig) checkPlaces() error {
	if err := checkStoreAddress(p.storeAddress); err != nil {
		return err
	}
	if p.network != "" {
		if _, err := ChooseInterface(p.network, p.storeAddress); err != nil {
			return wire.Refuse("Init", "%v", err)
		}
	}
	if info, err := os.Stat(p.traceDir); p.traceDir != "" && err == nil && !info.IsDir() {
		return wire.Refuse("Init", "traces are to be written to %s, which is no directory", p.traceDir)
	}
	return nil
}
