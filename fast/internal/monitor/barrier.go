package monitor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// The barriers of a communicator are numbered, on each rank by itself. Ranks tell each other in which one they are, and
// which one they have passed. These numbers only grow, so no two barriers can be taken for each other. A rank passes a
// barrier when it has heard that all others have come to it, and that none has failed in it. So a rank that has passed
// knows that all have come.
//
// A rank fails in a barrier when its context ends, and tells the others: they fail too, unless they have passed it
// already. One that comes later fails at once. Whatever else it fails by, all others see for themselves: a label that
// differs, or a rank that has gone. One that comes too late to see it fails because a rank is in a later barrier, and
// has not passed this one.

// coming is how far a rank has come.
type coming struct {
	Begun  uint64 // the number of its latest barrier; 0: none
	Passed uint64 // the number of the one that it has passed last
	Failed uint64 // the number of the last one in which its context has ended; 0: none
	How    uint32 // how that has ended
	label  string // of the latest one
}

// The ways in which a context can end.
const (
	deadline uint32 = iota + 1
	canceled
)

// barrier is one in which this rank waits.
type barrier struct {
	number uint64
	label  string
	begun  time.Time
	late   error // another rank has failed in it before this one came; nil: none has
	err    error
	done   chan struct{} // closed when err counts
}

// ErrInUse says that this rank waits in a barrier already.
var ErrInUse = errors.New("this rank waits in a barrier already")

// Barrier waits until all ranks have come to the barrier of the same number, which it returns, or one of them has
// failed in it. It fails with a TimeoutError that names all ranks that have not come, with a PeerError that has one of
// another rank, with a MismatchError if a label differs, or with a PeerError for a rank that is gone. Ended says that
// the communicator has ended: then the error is wire.ErrAborted, or wire.ErrClosed if this rank has closed it.
func (m *Monitor) Barrier(ctx context.Context, label string, ended <-chan struct{}) (number uint64, err error) {
	b, err := m.begin(label)
	if err != nil {
		return 0, err
	}
	wire.ReportWait(ctx, m.missing)
	select {
	case <-b.done:
	case <-ctx.Done():
		err = wire.Timeout(ctx, nil)
	case <-m.left:
		err = wire.ErrClosed
	case <-ended:
		err = wire.ErrAborted
	}
	return b.number, m.end(b, err)
}

// begin has this rank come to its next barrier, and tells the others.
func (m *Monitor) begin(label string) (*barrier, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.barrier != nil {
		return nil, ErrInUse
	}
	m.makeRoom()
	mine := &m.come[m.rank]
	mine.Begun++
	mine.label = label
	m.barrier = &barrier{number: mine.Begun, label: label, begun: time.Now(), done: make(chan struct{})}
	for rank := range m.come {
		if c := &m.come[rank]; c.Passed < mine.Begun && (c.Begun > mine.Begun || c.Failed >= mine.Begun) {
			m.barrier.late = fmt.Errorf("rank %d has failed in it", rank)
		}
	}
	m.tell()
	m.decide()
	return m.barrier, nil
}

// end ends b, with err unless it was decided otherwise, and returns the result.
func (m *Monitor) end(b *barrier, err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	mine := &m.come[m.rank]
	select {
	case <-b.done:
		err = b.err
	default:
	}
	if err == nil {
		mine.Passed = b.number
	}
	if own, expired := err.(*wire.TimeoutError); expired {
		own.Waiting, mine.Failed, mine.How = m.absent(), b.number, canceled
		if own.Timeout() {
			mine.How = deadline
		}
		m.tell()
	}
	m.barrier = nil
	return err
}

// makeRoom makes room for how far ranks have come. The monitor is locked.
func (m *Monitor) makeRoom() {
	if m.come == nil {
		m.come = make([]coming, m.size)
	}
}

// tell tells the others how far this rank has come. The monitor is locked.
func (m *Monitor) tell() {
	body := m.come[m.rank].encode()
	for rank := range m.size {
		if rank != m.rank && m.gone[rank] == nil {
			m.comm.Send(rank, control.KindBarrier, body)
		}
	}
}

// HandleBarrier takes a message of kind control.KindBarrier from a rank: how far it has come.
func (m *Monitor) HandleBarrier(from int, body []byte) {
	if m == nil || from == m.rank {
		return
	}
	c, ok := decodeComing(body)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.makeRoom()
	if c.Begun >= m.come[from].Begun && c.Passed >= m.come[from].Passed {
		m.come[from] = c
		m.decide()
	}
}

// decide ends the barrier in which this rank waits if its outcome is known. The monitor is locked.
func (m *Monitor) decide() {
	b := m.barrier
	if b == nil {
		return
	}
	select {
	case <-b.done:
		return
	default:
	}
	absent := m.absent()
	err := m.failure(b, absent)
	if err == nil && len(absent) > 0 {
		return
	}
	b.err = err
	close(b.done)
}

// failure returns why this rank fails in b, to which absent ranks have not come; nil: there is no reason yet. The
// monitor is locked.
func (m *Monitor) failure(b *barrier, absent []int) error {
	for rank := range m.come {
		c := &m.come[rank]
		switch {
		case rank == m.rank:
		case c.Begun == b.number && c.label != b.label:
			return &wire.MismatchError{Rank: rank, Seq: b.number, TheirSeq: b.number, Field: "label",
				Mine: fmt.Sprintf("%q", b.label), Theirs: fmt.Sprintf("%q", c.label)}
		case c.Passed < b.number && b.number <= c.Failed:
			why := context.Canceled
			if c.How == deadline {
				why = context.DeadlineExceeded
			}
			if b.late != nil {
				absent = append(absent, m.rank)
				slices.Sort(absent)
			}
			return &wire.PeerError{Rank: rank, Err: &wire.TimeoutError{Waiting: absent, Err: why}}
		}
	}
	for _, rank := range absent {
		if err := m.gone[rank]; err != nil {
			return &wire.PeerError{Rank: rank, Err: err}
		}
	}
	return b.late
}

// absent returns the ranks that have not come to the barrier in which this rank waits. The monitor is locked.
func (m *Monitor) absent() (ranks []int) {
	for rank := range m.come {
		if m.come[rank].Begun < m.barrier.number {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// missing is absent for those who do not lock the monitor.
func (m *Monitor) missing() []int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.barrier == nil {
		return nil
	}
	return m.absent()
}

// Running returns the call in which this rank waits, if there is one.
func (m *Monitor) Running() (c health.Call, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.barrier
	if b == nil {
		return c, false
	}
	since := max(0, time.Since(b.begun))
	return health.Call{Label: b.label, Seq: b.number, Peer: -1, Begun: since, Still: since,
		Waiting: failure.Listed(m.absent())}, true
}

// comingBytes is the length of a message without its label.
var comingBytes = binary.Size([3]uint64{}) + binary.Size(uint32(0))

func (c *coming) encode() []byte {
	b := binary.LittleEndian.AppendUint64(nil, c.Begun)
	b = binary.LittleEndian.AppendUint64(b, c.Passed)
	b = binary.LittleEndian.AppendUint64(b, c.Failed)
	b = binary.LittleEndian.AppendUint32(b, c.How)
	return append(b, c.label...)
}

// decodeComing returns what is in b.
func decodeComing(b []byte) (c coming, ok bool) {
	if len(b) < comingBytes {
		return c, false
	}
	c.Begun, c.Passed = binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
	c.Failed, c.How = binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint32(b[24:])
	c.label = string(b[comingBytes:])
	return c, (c.label == "" || exec.IsLabel(c.label)) && c.Begun > 0 && c.Passed <= c.Begun && c.Failed <= c.Begun &&
		(c.Failed == 0 || c.Failed != c.Passed) && c.How <= canceled && (c.How == 0) == (c.Failed == 0)
}
