package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/collgen/collgen/fast"
)

// reduceOn makes long calls until one fails.
func reduceOn(ctx context.Context, c *fast.Comm) error {
	x := make([]float64, 20000)
	for {
		if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
			return err
		}
	}
}

// goOn makes calls on a communicator of the ranks that are left of c.
func goOn(ctx context.Context, c *fast.Comm) error {
	d, err := c.Shrink(ctx)
	if err != nil {
		return err
	}
	return errors.Join(few(ctx, d), d.Close())
}

// killed is a job whose last rank is killed, most likely in a call. The others go on.
func killed(ctx context.Context, c *fast.Comm) error {
	if c.Rank() == c.Size()-1 {
		time.AfterFunc(50*time.Millisecond, func() {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			fmt.Fprintln(os.Stderr, "job: not killed:", err)
		})
	}
	var peer *fast.PeerError
	if err := reduceOn(ctx, c); !errors.As(err, &peer) || peer.Rank != c.Size()-1 {
		return fmt.Errorf("a rank was killed: %w", err)
	}
	return goOn(ctx, c)
}

// cancelled is a job in which the context of one rank ends. Between two calls that does no harm, so that the rank says so.
func cancelled(ctx context.Context, c *fast.Comm) error {
	short := ctx
	if c.Rank() == 0 {
		var cancel context.CancelFunc
		short, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
	}
	if err := reduceOn(short, c); err == nil || ctx.Err() != nil {
		return fmt.Errorf("the context of rank 0 has ended: %w", err)
	}
	return errors.Join(c.Revoke(), goOn(ctx, c))
}

// mismatched is a job in which the ranks make different calls.
func mismatched(ctx context.Context, c *fast.Comm) error {
	x := make([]float64, 100)
	// A rank may be in the call before when others fail.
	if err := errors.Join(few(ctx, c), fast.AllReduce(ctx, c, x[:50+c.Rank()], fast.Sum)); err == nil {
		return errors.New("calls of different lengths match")
	}
	return goOn(ctx, c)
}
