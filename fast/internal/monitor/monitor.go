// Package monitor asks the ranks of a communicator what they do, and has them wait for each other, both beside the data
// path. So it works while calls hang. Its messages are handled by the goroutine of the control plane, never by that of
// the calls.
//
// Each rank speaks for itself alone: about itself, to each of the others. So a rank that lies can mislead nobody about
// another one. That costs a message from each rank to each.
package monitor

import (
	"context"
	"sync"

	"github.com/collgen/collgen/fast/health"
	"github.com/collgen/collgen/fast/internal/control"
)

// Comm is what a Monitor needs of its communicator.
type Comm interface {
	// Send sends a control message to a rank.
	Send(to int, kind uint8, body []byte)
	// Position returns what this rank does.
	Position() health.Rank
}

// Monitor is one rank's part. A nil Monitor hears nothing. Its methods may be called from any goroutine.
type Monitor struct {
	rank, size int
	comm       Comm
	left       chan struct{} // closed when this rank has closed the communicator

	mu      sync.Mutex
	over    bool
	gone    map[int]error       // ranks that have closed the communicator, or are down, and why
	round   uint32              // of the last inquiry
	open    map[uint32]*inquiry // by round
	come    []coming            // by rank; nil: no rank has come to a barrier
	barrier *barrier            // in which this rank waits; nil: it waits in none
}

// New returns the Monitor of a rank.
func New(rank, size int, c Comm) *Monitor {
	return &Monitor{rank: rank, size: size, comm: c, left: make(chan struct{}), gone: make(map[int]error),
		open: make(map[uint32]*inquiry)}
}

// inquiry is a question to some ranks.
type inquiry struct {
	round   uint32
	stacks  bool
	awaited map[int]bool // those that have not answered and may
	answers map[int]health.Rank
	done    chan struct{} // closed when none is awaited
}

// Ask asks ranks what they do, and returns what those have answered that did before ctx has ended, by rank. It does not
// wait for ranks that are gone.
func (m *Monitor) Ask(ctx context.Context, ranks []int, stacks bool) map[int]health.Rank {
	m.mu.Lock()
	m.round++
	q := &inquiry{round: m.round, stacks: stacks, awaited: make(map[int]bool), answers: make(map[int]health.Rank),
		done: make(chan struct{})}
	for _, rank := range ranks {
		if rank != m.rank && m.gone[rank] == nil {
			q.awaited[rank] = true
		}
	}
	m.open[q.round] = q
	body := (&question{q.round, stacks}).encode()
	for rank := range q.awaited {
		m.comm.Send(rank, control.KindHealth, body)
	}
	q.check()
	m.mu.Unlock()
	select {
	case <-q.done:
	case <-ctx.Done():
	case <-m.left:
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, q.round)
	return q.answers
}

// check ends q if nobody is awaited. The monitor is locked.
func (q *inquiry) check() {
	select {
	case <-q.done:
	default:
		if len(q.awaited) == 0 {
			close(q.done)
		}
	}
}

// HandleHealth takes a message of kind control.KindHealth from a rank: a question, which it answers, or an answer to
// this rank's.
func (m *Monitor) HandleHealth(from int, body []byte) {
	if m == nil || from == m.rank {
		return
	}
	if q, ok := decodeQuestion(body); ok {
		m.comm.Send(from, control.KindHealth, m.answer(&q))
		return
	}
	round, r, ok := decodeAnswer(body, from, m.size)
	if !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if q := m.open[round]; q != nil && q.awaited[from] {
		if !q.stacks {
			r.Stacks = ""
		}
		delete(q.awaited, from)
		q.answers[from] = r
		q.check()
	}
}

// Gone says that a rank has closed the communicator or is down, because of err.
func (m *Monitor) Gone(rank int, err error) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone[rank] == nil {
		m.gone[rank] = err
	}
	for _, q := range m.open {
		delete(q.awaited, rank)
		q.check()
	}
	m.decide()
}

// Leave ends all that waits here, because this rank closes the communicator.
func (m *Monitor) Leave() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over {
		m.over = true
		close(m.left)
	}
}
