package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// connect says hello to rank 0, once.
func (l *Local) connect(ctx context.Context, job Job) error {
	c, err := net.DialUnix("unix", nil, job.address())
	if err != nil {
		return fmt.Errorf("the local store: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(helloTime))
	secret, err := greet(c, job)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = c.Close()
		return fmt.Errorf("the local store: %w", err)
	}
	_ = c.SetDeadline(time.Time{})
	client := NewClient(c, lostRank)
	l.Shared, l.secret = Shared{client, client.Close, nil}, keeping(secret)
	return nil
}

// greet checks whose rank 0 is, says hello, and hears the secret.
func greet(c *net.UnixConn, job Job) (secret []byte, err error) {
	if err := peerOf(c).check(); err != nil {
		return nil, err
	}
	if _, err := c.Write(frame{kind: hello, value: job.encode()}.encode()); err != nil {
		return nil, err
	}
	f, err := readFrame(c, maxFrame)
	switch {
	case err != nil:
		return nil, err
	case f.kind == failed:
		return nil, fmt.Errorf("rank 0 refuses rank %d: %s", job.Rank, printable(f.value))
	case f.kind != done || len(f.value) != SecretBytes:
		return nil, errNotOurs
	}
	return f.value, nil
}

// localAgain reports whether rank 0 may not be there yet, or have too much to do now.
func localAgain(err error) bool {
	for _, e := range []error{unix.ECONNREFUSED, unix.EAGAIN, unix.EPIPE, unix.ECONNRESET, io.EOF, io.ErrUnexpectedEOF,
		os.ErrDeadlineExceeded} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// lostRank returns the error of those who wait for the store when rank 0 has gone.
func lostRank(err error) error {
	if errors.Is(err, ErrClosed) {
		return &wire.PeerError{Rank: 0, Err: fmt.Errorf("%w before all ranks were connected (its %w)", wire.ErrAborted, err)}
	}
	return &wire.PeerError{Rank: 0, Err: fmt.Errorf("%w before all ranks were connected (%w)", wire.ErrDied, err)}
}
