//go:build linux

package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/wire"
)

// How long to wait before looking for rank 0 again: the first time, and at most.
const (
	firstPause = time.Millisecond
	longPause  = 20 * time.Millisecond
)

// follow is the other ranks' part of Join: it looks for rank 0 until ctx ends.
func follow(ctx context.Context, job Job) (*Meeting, error) {
	wait := firstPause
	for {
		m, err := connect(ctx, &job)
		if err == nil || !again(err) {
			return m, err
		}
		if pause(ctx, wait) != nil {
			sweep(&job)
			return nil, fmt.Errorf("%w; the last attempt: %v", &wire.TimeoutError{Waiting: []int{0}, Err: context.Cause(ctx)}, err)
		}
		wait = min(2*wait, longPause)
	}
}

// again tells whether rank 0 may not be there yet, or have too much to do now.
func again(err error) bool {
	for _, e := range []error{os.ErrNotExist, unix.ECONNREFUSED, unix.EAGAIN, unix.EPIPE, unix.ECONNRESET, io.EOF} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// connect says hello to rank 0, once.
func connect(ctx context.Context, job *Job) (*Meeting, error) {
	d, err := openDirectory(job, false)
	if err != nil {
		return nil, err
	}
	defer d.close()
	c, err := d.dial()
	if err != nil {
		return nil, err
	}
	m := &Meeting{job: *job, leader: c}
	if err := m.greet(ctx); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}

// greet says hello, and hears the answer.
func (m *Meeting) greet(ctx context.Context) error {
	if err := peerOf(m.leader).check(); err != nil {
		return err
	}
	_ = m.leader.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := m.leader.Write(hello{m.job.Rank, m.job.Size, m.job.hash()}.encode()); err != nil {
		return err
	}
	_, _, err := m.hear(ctx, accepted)
	return err
}
