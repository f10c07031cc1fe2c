//go:build linux

package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Job says which ranks meet, and where.
type Job struct {
	Rank, Size int    // 0 <= Rank < Size, Size >= 2
	Name       string // of all ranks of this job, and of no other job that this user starts on this machine
	// Dir is a directory of this user's alone where the ranks meet. It is made if there is none, and removed again.
	// "": one for all jobs of the user.
	Dir string
}

// Meeting is all ranks of a job on the way to be connected. Its methods are not to be used at the same time.
type Meeting struct {
	job    Job
	leader *net.UnixConn // to rank 0; nil on rank 0

	// Rank 0's.
	members  []*net.UnixConn // by rank; nil: has not come
	missing  int
	events   chan event // the next note of every member, or the end of its connection
	refusals []string   // of others that came, some of them
}

// event is what a member says after it was accepted: one thing, that it is ready, or why it is not.
type event struct {
	rank int
	note note
	err  error
}

// Join meets all ranks of the job. It returns when all have come (rank 0) or when rank 0 knows of this rank (others).
// It fails with *wire.TimeoutError and the ranks that are missing when ctx ends, *wire.PeerError for a rank that died,
// or words.
func Join(ctx context.Context, job Job) (*Meeting, error) {
	if job.Size < 2 || job.Size > maxSize || job.Rank < 0 || job.Rank >= job.Size {
		return nil, fmt.Errorf("there is no rank %d of %d", job.Rank, job.Size)
	}
	if job.Rank == 0 {
		return lead(ctx, job)
	}
	return follow(ctx, job)
}

// Give sends files to rank, which gets copies. It is rank 0's to do, for each other rank once. That a rank is not there
// any more is not its error: Ready says why.
func (m *Meeting) Give(rank int, fds []int) error {
	for {
		now := fds[:min(len(fds), filesPerNote)]
		fds = fds[len(now):]
		err := note{kind: files, n: len(fds)}.write(m.members[rank], now)
		switch {
		case isGone(err):
			return nil
		case err != nil:
			return fmt.Errorf("sending files to rank %d: %w", rank, err)
		case len(fds) == 0:
			return nil
		}
	}
}

// Take receives the files that rank 0 gives. They are the caller's to close.
func (m *Meeting) Take(ctx context.Context) ([]int, error) {
	var all []int
	for more := maxSize + 1; ; {
		n, fds, err := m.hear(ctx, files)
		all = append(all, fds...)
		if err == nil && n.n >= more {
			err = errors.New("rank 0 sends files without an end")
		}
		if err != nil {
			closeAll(all)
			return nil, err
		}
		if n.n == 0 {
			return all, nil
		}
		more = n.n
	}
}

// Ready says that this rank has what it needs, and returns when all ranks do.
func (m *Meeting) Ready(ctx context.Context) error {
	if m.leader != nil {
		if err := (note{kind: ready}).write(m.leader, nil); err != nil && !isGone(err) {
			return fmt.Errorf("telling rank 0: %w", err)
		}
		_, _, err := m.hear(ctx, proceed)
		return err
	}
	waiting := make([]bool, len(m.members))
	for rank := range waiting {
		waiting[rank] = rank > 0
	}
	for range len(m.members) - 1 {
		select {
		case ev := <-m.events:
			if err := ev.failure(); err != nil {
				return err
			}
			waiting[ev.rank] = false
		case <-ctx.Done():
			return timeout(ctx, waiting)
		}
	}
	m.tell(note{kind: proceed})
	return nil
}

// Fail tells all other ranks why this one gives up.
func (m *Meeting) Fail(err error) {
	n := note{kind: failed, n: m.job.Rank, text: err.Error()}
	var pe *wire.PeerError
	var fe *failure
	switch {
	case errors.As(err, &fe):
		n.n, n.text = fe.rank, fe.text
	case errors.As(err, &pe) && errors.Is(err, wire.ErrDied):
		n.kind, n.n = died, pe.Rank
	}
	m.tell(n)
}

// Close ends the meeting. Its connections have no use any more.
func (m *Meeting) Close() {
	for _, c := range append(m.members, m.leader) {
		if c != nil {
			_ = c.Close()
		}
	}
}

// tell sends n to all ranks that this one is connected to. Who is not there any more does not matter.
func (m *Meeting) tell(n note) {
	for _, c := range append(m.members, m.leader) {
		if c != nil {
			_ = n.write(c, nil)
		}
	}
}

// hear is rank 0's next note and its files: one of that kind, or an error. When ctx's deadline passes, so does rank 0's in
// most cases: it has some time to say whom it was waiting for.
func (m *Meeting) hear(ctx context.Context, want kind) (note, []int, error) {
	defer bound(ctx, m.leader)()
	n, fds, err := read(m.leader)
	if err == nil {
		err = n.failure(0)
	}
	if err == nil && n.kind != want {
		err = fmt.Errorf("rank 0 says something else than expected (%d, want %d)", n.kind, want)
	}
	switch {
	case err == nil:
		return n, fds, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &wire.TimeoutError{Waiting: []int{0}, Err: context.Cause(ctx)}
	case errors.Is(err, io.EOF):
		if want != accepted { // rank 0 is not just busy
			sweep(&m.job)
		}
		err = lost(0, err)
	}
	closeAll(fds)
	return note{}, nil, err
}

// failure is a rank that gave up, and why.
type failure struct {
	rank int
	text string
}

func (f *failure) Error() string { return fmt.Sprintf("rank %d: %s", f.rank, f.text) }

// failure is the error that n tells of, if it does.
func (n note) failure(from int) error {
	switch n.kind {
	case refused:
		return errors.New("rank 0 refuses this rank: " + n.text)
	case died:
		return &wire.PeerError{Rank: n.n, Err: wire.ErrDied}
	case failed:
		if from != 0 {
			n.n = from // others speak for themselves only
		}
		return &failure{n.n, n.text}
	}
	return nil
}

func (ev event) failure() error {
	if ev.err != nil {
		return lost(ev.rank, ev.err)
	}
	if err := ev.note.failure(ev.rank); err != nil {
		return err
	}
	if ev.note.kind != ready {
		return &failure{ev.rank, "says something else than that it is ready"}
	}
	return nil
}

// lost is the error of a rank whose connection failed.
func lost(rank int, err error) error {
	return &wire.PeerError{Rank: rank, Err: fmt.Errorf("%w before all ranks were connected (%w)", wire.ErrDied, err)}
}

// timeout is the error when ctx ends first.
func timeout(ctx context.Context, waiting []bool) error {
	e := &wire.TimeoutError{Err: context.Cause(ctx)}
	for rank, w := range waiting {
		if w {
			e.Waiting = append(e.Waiting, rank)
		}
	}
	return e
}
