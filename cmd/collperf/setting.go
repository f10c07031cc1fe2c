package main

import (
	"context"
	"errors"
	"io"

	"github.com/collgen/collgen/fast"
)

// work is what every rank does.
type work func(ctx context.Context, c *fast.Comm) error

// on has all ranks of a setting work, this process being one of them or, for goroutines, all.
func (o *options) on(ctx context.Context, s setting, stderr io.Writer, f work) error {
	switch {
	case o.launch != nil:
		opts := fast.FromEnv()
		if s.transport != "" {
			opts = append(opts, fast.WithTransport(s.transport))
		}
		return joined(ctx, opts, o.pinned(o.launch.LocalRank, o.launch.LocalSize, f))
	case s.transport == inproc:
		return fast.Run(ctx, s.ranks, f)
	}
	return startRanks(ctx, s, stderr, o.pinned(0, s.ranks, f))
}

// joined works as one rank of a job of processes.
func joined(ctx context.Context, opts []fast.InitOption, f work) error {
	c, err := fast.Init(ctx, opts...)
	if err != nil {
		return err
	}
	if err = f(ctx, c); err != nil {
		c.Abort()
	}
	return errors.Join(err, c.Close())
}

// follows reports whether err says no more than that another rank has failed or left, which reports the cause itself.
func follows(err error) bool {
	return isRank() && (errors.Is(err, fast.ErrAborted) || errors.Is(err, fast.ErrClosed) || errors.Is(err, fast.ErrDied))
}
