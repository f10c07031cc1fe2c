package replay

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/collgen/collgen/internal/events"
)

// comm is a communicator.
type comm struct {
	member0   *events.Member // of the first rank that joined
	ranks     []*member      // nil: it has not joined
	channels  map[pair]*channel
	rings     map[pair]*ring
	agreed    map[uint64]*events.Agreed
	told      map[word]int
	transport string
}

// pair is two ranks, of which the first one sends.
type pair struct{ from, to int }

// word is a notice that a rank has sent, or that a receiver has heard.
type word struct {
	events.Notice
	to int // -1: it was sent, to all
}

// member is one rank of a communicator.
type member struct {
	comm    *comm
	rank    int
	slots   int // of its rings
	lines   int
	calls   []*call         // running ones
	numbers map[pair]uint64 // of the last call, between a sender and a receiver or of all ranks
	current *step           // nil: no messages are in flight
	lent    map[int]uint32
	closed  bool
	failed  bool
	lost    map[int]bool // ranks that it has found to be gone
}

// join processes a Joined event.
func (r *replay) join(t *tape, e *events.Event) error {
	m := *e.Member
	if m.Processes[m.Rank] != t.file.Process {
		return fmt.Errorf("rank %d of the communicator is process %d", m.Rank, m.Processes[m.Rank])
	}
	for i, process := range m.Processes {
		if slices.Contains(m.Processes[:i], process) {
			return fmt.Errorf("process %d is two ranks", process)
		}
		if !slices.ContainsFunc(r.tapes, func(t *tape) bool { return t.file.Process == process }) {
			return fmt.Errorf("process %d is a rank, and there is no file of it", process)
		}
	}
	c := r.comms[e.Comm]
	if c == nil {
		c = &comm{member0: e.Member, ranks: make([]*member, m.Size), channels: map[pair]*channel{}, rings: map[pair]*ring{},
			agreed: map[uint64]*events.Agreed{},
			told:   map[word]int{}, transport: m.Transport}
		r.comms[e.Comm] = c
	}
	m.Rank, m.Slots, m.Lines = c.member0.Rank, c.member0.Slots, c.member0.Lines // a rank alone on its host has no rings
	if !reflect.DeepEqual(&m, c.member0) {
		return fmt.Errorf("process %d knows the communicator as %+v", c.member0.Processes[c.member0.Rank], *c.member0)
	}
	rank := e.Member.Rank
	if c.ranks[rank] != nil {
		return errors.New("it has joined before")
	}
	c.ranks[rank] = &member{comm: c, rank: rank, slots: e.Member.Slots, lines: e.Member.Lines, numbers: map[pair]uint64{},
		lent: map[int]uint32{}, lost: map[int]bool{}}
	return nil
}

// member returns the member that a process is, or nil if it has not joined.
func (c *comm) member(process int) *member {
	if i := slices.Index(c.member0.Processes, process); i >= 0 {
		return c.ranks[i]
	}
	return nil
}

// check returns an error unless peer is another rank of the communicator.
func (m *member) check(peer int) error {
	if peer < 0 || peer >= len(m.comm.ranks) || peer == m.rank {
		return fmt.Errorf("rank %d of %d has no messages with rank %d", m.rank, len(m.comm.ranks), peer)
	}
	return nil
}

// control processes an event of the control plane.
func (m *member) control(e *events.Event) error {
	switch n := e.Notice; e.Do {
	case events.Lost:
		for _, rank := range e.Ended.Blames {
			m.lost[rank] = true
		}
	case events.Tell:
		if n.From != m.rank {
			return fmt.Errorf("rank %d tells it", m.rank)
		}
		m.comm.told[word{*n, -1}]++
	case events.Heard:
		heard := word{*n, m.rank}
		if err := m.check(n.From); err != nil {
			return err
		}
		if m.comm.ranks[n.From] != nil && m.comm.told[word{*n, -1}] <= m.comm.told[heard] {
			return wait("rank %d has not told it", n.From)
		}
		m.comm.told[heard]++
	case events.Agree:
		return m.agree(e)
	}
	return nil
}

// agree processes the result of an agreement, which has to be the same on all ranks.
func (m *member) agree(e *events.Event) error {
	if e.Ended != nil {
		return nil // it has no result on this rank
	}
	if before := m.comm.agreed[e.Agreed.Seq]; before != nil && !reflect.DeepEqual(before, e.Agreed) {
		return fmt.Errorf("another rank has %+v", *before)
	}
	m.comm.agreed[e.Agreed.Seq] = e.Agreed
	return nil
}

// close processes a Closed event.
func (m *member) close() error {
	switch {
	case len(m.calls) > 0 && !m.failed && m.current == nil:
		return errors.New("the call has not ended")
	case len(m.calls) == 0 && len(m.lent) > 0:
		return fmt.Errorf("memory of rank %d was lent, and is not free", slices.Min(slices.Collect(maps.Keys(m.lent))))
	}
	m.closed = true
	return nil
}

// finish returns an error if anything is missing when there are no more events.
func (r *replay) finish() error {
	for _, id := range slices.Sorted(maps.Keys(r.comms)) {
		died, err := r.comms[id].finish()
		if err != nil {
			return err
		}
		r.report.Died = append(r.report.Died, died...)
	}
	slices.Sort(r.report.Died)
	r.report.Died = slices.Compact(r.report.Died)
	for _, t := range r.tapes {
		if len(t.file.Events) == 0 && !slices.Contains(r.report.Died, t.file.Process) {
			return fmt.Errorf("%s has no events, and no other process has found it to be gone", events.FileName(t.file.Process))
		}
	}
	return nil
}

// finish returns the processes that have died, and an error if anything is missing although nothing has failed.
func (c *comm) finish() (died []int, err error) {
	failed := slices.ContainsFunc(c.ranks, func(m *member) bool { return m != nil && m.failed })
	for rank, m := range c.ranks {
		switch {
		case m != nil && (m.failed || m.closed):
		case c.hasLost(rank):
			died = append(died, c.member0.Processes[rank])
		case m == nil && !failed:
			return nil, fmt.Errorf("%s ends before it is a rank of %s, and no other rank has failed or found it to be gone",
				events.FileName(c.member0.Processes[rank]), c.member0.Name)
		case m != nil && len(m.calls) > 0:
			return nil, fmt.Errorf("%s ends in a call of %s that has neither ended nor failed, and no other rank has found "+
				"it to be gone",
				events.FileName(c.member0.Processes[rank]), c.member0.Name)
		}
	}
	if !failed && len(died) == 0 {
		err = c.unreceived()
	}
	return died, err
}

// hasLost reports whether another rank has found that this one is gone.
func (c *comm) hasLost(rank int) bool {
	return slices.ContainsFunc(c.ranks, func(m *member) bool { return m != nil && m.lost[rank] })
}

// unreceived returns an error if a message was sent and not received.
func (c *comm) unreceived() error {
	for p, ch := range c.channels {
		if len(ch.sent) != len(ch.received) {
			return fmt.Errorf("%s: rank %d sends %d messages to rank %d, which receives %d", c.member0.Name, p.from,
				len(ch.sent), p.to,
				len(ch.received))
		}
	}
	return nil
}
