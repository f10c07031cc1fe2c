package fast

import (
	"context"
	"errors"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { roles["crowded"] = groupWithoutFiles }

// groupWithoutFiles is Group where rank 0 may open one more file: that of the memory, and no copies of it.
func groupWithoutFiles(ctx context.Context, _ []string) error {
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return err
	}
	if c.Rank() == 0 {
		if err := leaveOneFile(); err != nil {
			return err
		}
	}
	_, err = c.Group(ctx, []int{0, 1, 2})
	return errors.Join(err, c.Close()) // the others are to hear of it
}

// leaveOneFile opens files until this process may open only one more.
func leaveOneFile() error {
	limit := unix.Rlimit{Cur: 128, Max: 128}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	last, err := unix.Dup(0)
	for fd := last; err == nil; fd, err = unix.Dup(0) {
		last = fd
	}
	return unix.Close(last)
}

// TestNoFiles: what rank 0 cannot hand out is an error on all ranks.
func TestNoFiles(t *testing.T) {
	j := newJob(t, 3, "crowded")
	for _, p := range j.start(0, 3) {
		if _, text := p.failure(t); !strings.Contains(text, "process 0 gives no shared memory: it has too many files open") {
			t.Errorf("rank %d: %q", p.rank, text)
		}
	}
	j.wantNothingLeft()
}
