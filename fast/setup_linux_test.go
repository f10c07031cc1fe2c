package fast

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
)

func init() { roles["crowded"] = groupWithoutFiles }

// groupWithoutFiles is Group where a rank may open hardly any more files. Rank 0 opens that of the memory, and no
// copies of it; another one cannot take its own.
func groupWithoutFiles(ctx context.Context, args []string) error {
	c, err := Init(ctx, FromEnv()...)
	if err != nil {
		return err
	}
	left := 0
	if c.Rank() == 0 {
		left = 1
	}
	if fmt.Sprint(c.Rank()) == args[0] {
		if err := leaveFiles(left); err != nil {
			return err
		}
	}
	// A rank takes files as they come, not when it asks for them: rank 0 is to send none before the other has no room.
	if err := Barrier(ctx, c); err != nil {
		return err
	}
	_, err = c.Group(ctx, []int{0, 1, 2})
	return errors.Join(err, c.Close()) // the others are to hear of it
}

// leaveFiles opens files until this process may open only so many more, one or none.
func leaveFiles(left int) error {
	limit := unix.Rlimit{Cur: 128, Max: 128}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	last, err := unix.Dup(0)
	for fd := last; err == nil; fd, err = unix.Dup(0) {
		last = fd
	}
	if left == 0 {
		return nil
	}
	return unix.Close(last)
}

// TestMemoryOf: what comes without the file that it is to bring says whose fault that is.
func TestMemoryOf(t *testing.T) {
	file, err := unix.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	for want, m := range map[string]wire.Note{
		"this process has too many files open":                         {From: 3, Lost: true},
		"process 3 gives no shared memory: it has too many files open": {From: 3},
		"process 3 gives no shared memory: no memory":                  {From: 3, Body: []byte("no memory")},
		"process 5 gives no shared memory":                             {From: 5, Files: []int{file}},
	} {
		if got, err := setup.MemoryOf(m, []int{3, 4}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v is file %d, %v", m, got, err)
		}
	}
	if unix.Close(file) == nil {
		t.Error("a file that nobody wants stays open")
	}
	if got, err := setup.MemoryOf(wire.Note{From: 4, Files: []int{7}}, []int{3, 4}); got != 7 || err != nil {
		t.Error(got, err)
	}
}

// TestNoFiles: what rank 0 cannot hand out, or another rank cannot take, is an error on all ranks that says whose fault
// it is, and nobody is taken for dead.
func TestNoFiles(t *testing.T) {
	for crowded, want := range []string{
		"process 0 gives no shared memory: it has too many files open",
		"the shared memory of process 0 cannot be taken: this process has too many files open",
	} {
		j := newJob(t, 3, fmt.Sprint("crowded ", crowded))
		for _, p := range j.start(0, 3) {
			_, text := p.failure(t)
			if !strings.Contains(text, want) || crowded > 0 && p.rank != crowded && !strings.Contains(text, fmt.Sprintf("rank %d: ", crowded)) {
				t.Errorf("with rank %d crowded, rank %d: %q", crowded, p.rank, text)
			}
		}
		j.wantNothingLeft()
	}
}
