package mesh

import (
	"errors"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// invite makes tickets of a member, as every other member hears.
func invite(t *testing.T, job []*Mesh, issuer, n int) (tickets []Ticket) {
	t.Helper()
	for range n {
		ticket, err := job[issuer].Invite()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range job {
			if err := m.Reserve(issuer, ticket.Number); err != nil {
				t.Fatal(err)
			}
		}
		tickets = append(tickets, ticket)
	}
	return tickets
}

// introduceAll has each of job let in those of the new processes that it does not know.
func introduceAll(t *testing.T, job []*Mesh, cards map[int][]byte) {
	t.Helper()
	for number, card := range cards {
		for _, m := range job {
			if m.Self() == number {
				continue
			}
			if err := errors.Join(m.Reserve(1, number), m.Introduce(number, card)); err != nil {
				t.Errorf("process %d lets process %d in: %v", m.Self(), number, err)
			}
		}
	}
}

// TestGrowTogether has processes join at the same time, none of which may find another one among the members: those
// with the higher numbers connect to those with the lower ones when they are told of them.
func TestGrowTogether(t *testing.T) {
	const members, newcomers = 2, 3
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, members, way)
			tickets := invite(t, job, 1, newcomers)
			joined, errs := make([]*Mesh, newcomers), make([]error, newcomers)
			var cards map[int][]byte
			known := make(chan struct{})
			together(newcomers+1, func(i int) {
				if i == newcomers {
					cards = awaitAll(t, job[1], tickets)
					introduceAll(t, job, cards)
					close(known)
				} else if joined[i], errs[i] = JoinTicket(soon(t), newcomer(way, tickets[i]), tickets[i]); errs[i] == nil {
					<-known
					introduceAll(t, joined[i:i+1], cards)
				}
			})
			t.Cleanup(func() { closeAll(joined) })
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			wantConnected(t, append(job, joined...))
		})
	}
}

// awaitAll waits for the processes with these tickets, and has their cards.
func awaitAll(t *testing.T, issuer *Mesh, tickets []Ticket) map[int][]byte {
	t.Helper()
	cards := make(map[int][]byte)
	for _, ticket := range tickets {
		card, err := issuer.Await(soon(t), ticket.Number)
		if err != nil {
			t.Error(err)
		}
		cards[ticket.Number] = card
	}
	return cards
}

// wantConnected has all send a message to all, as soon as they are connected.
func wantConnected(t *testing.T, job []*Mesh) {
	t.Helper()
	for _, m := range job {
		for to := range job {
			if to != m.Self() {
				if _, err := m.Await(soon(t), to); err != nil {
					t.Errorf("process %d waits for process %d: %v", m.Self(), to, err)
				}
			}
			m.Send(to, topic(m.Self()), nil)
		}
	}
	for to, m := range job {
		for from := range job {
			if _, err := m.Receive(soon(t), topic(from)); err != nil {
				t.Errorf("from %d to %d: %v", from, to, err)
			}
		}
	}
}

// TestReserve: a number that another process has given away is not given away again; if it was, the second process to
// come is refused.
func TestReserve(t *testing.T) {
	job := newJob(t, 2, nil)
	first := invite(t, job, 0, 1)[0]
	if second := invite(t, job, 1, 1)[0]; second.Number != first.Number+1 {
		t.Errorf("numbers %d and %d are given away", first.Number, second.Number)
	}
	job = growBy(t, job, 0, first, nil)
	other := Card{Process: first.Number, Host: job[0].cfg.Host, HeartbeatTimeout: job[0].cfg.HeartbeatTimeout}
	err := job[0].Introduce(first.Number, other.encode(job[0].cfg.Credentials, job[0].me))
	var peer *wire.PeerError
	if !errors.Is(err, ErrTaken) || !errors.As(err, &peer) || peer.Rank != first.Number {
		t.Error(err)
	}
}
