package fast

import (
	"context"
	"errors"

	"github.com/collgen/collgen/fast/internal/message"
	"github.com/collgen/collgen/fast/internal/wire"
)

// forMessages is what this package does for package message.
type forMessages struct{}

func init() { message.Runtime = forMessages{} }

func (forMessages) Engine(ctx context.Context, comm any, name string) (*message.Engine, error) {
	c := comm.(*Comm)
	if err := c.mayMonitor(ctx, name); err != nil {
		return nil, err
	}
	if err := c.unusableError(name); err != nil {
		return nil, err
	}
	return c.messages, nil
}

func (forMessages) Ended(comm any) <-chan struct{} { return comm.(*Comm).ended }

func (forMessages) Watch(ctx context.Context, comm any, name string) (context.Context, func()) {
	c, stop := comm.(*Comm), func() {}
	if c.world != nil {
		ctx, stop = c.world.record.Warner().Watch(ctx, name, "comm", c.name, "rank", c.rank, "size", c.size)
	}
	return ctx, stop
}

func (forMessages) Fail(comm any, r *message.Request, err error) error {
	c := comm.(*Comm)
	failed := &CallError{Comm: c.name, Rank: c.rank, Size: c.size, Op: r.Name, Label: r.Label, Peer: r.Peer, Err: err}
	var peer *PeerError
	f := c.termination.Load()
	late, own := wire.Expired(err)
	switch {
	case own:
		failed.Waiting = late.Waiting
	case c.closed.Load() && err == ErrClosed:
	case f != nil && (err == ErrAborted || errors.As(err, &peer)):
		failed.Err = f.Err
	}
	return failed
}
