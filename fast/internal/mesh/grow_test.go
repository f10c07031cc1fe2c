package mesh

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/secure"
	"github.com/collgen/collgen/fast/internal/wire"
)

// newcomer returns the configuration of a process that has a ticket.
func newcomer(change func(*Config), ticket Ticket) Config {
	c := newBoard().config(ticket.Number, 1)
	c.Identity = secure.Identity{}
	if change != nil {
		c.Identity.Process = ticket.Number // for its host
		change(&c)
	}
	return c
}

// grow has a process join a job by a ticket of the issuer's.
func grow(t *testing.T, job []*Mesh, issuer int, change func(*Config)) []*Mesh {
	t.Helper()
	ticket, err := job[issuer].Invite()
	if err != nil {
		t.Fatal(err)
	}
	if ticket, err = ParseTicket(ticket.String()); err != nil {
		t.Fatal(err)
	}
	return growBy(t, job, issuer, ticket, change)
}

// growBy has a process join a job by that ticket.
func growBy(t *testing.T, job []*Mesh, issuer int, ticket Ticket, change func(*Config)) []*Mesh {
	t.Helper()
	var m *Mesh
	joined := make(chan error)
	go func() {
		var err error
		m, err = JoinTicket(soon(t), newcomer(change, ticket), ticket)
		joined <- err
	}()
	card, err := job[issuer].Await(soon(t), ticket.Number)
	for _, x := range job {
		if err == nil && x != job[issuer] && x.Down(x.Self()) == nil {
			err = errors.Join(x.Reserve(issuer, ticket.Number), x.Introduce(ticket.Number, card))
		}
	}
	if err = errors.Join(err, <-joined); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return append(job, m)
}

// TestGrow has processes join one after the other, each by a ticket of another member, the first newcomer included;
// then all talk to all.
func TestGrow(t *testing.T) {
	for name, way := range ways(t) {
		for _, n := range []int{1, 3} {
			if n == 1 && name == "hosts" {
				continue // a process that was alone on its host cannot be reached from others
			}
			t.Run(fmt.Sprint(name, n), func(t *testing.T) {
				job := newJob(t, n, way)
				for i := range 3 {
					job = grow(t, job, n-1+i, way)
				}
				for _, m := range job {
					for to := range job {
						m.Send(to, topic(m.Self()), []byte("text"))
					}
				}
				for to, m := range job {
					if m.Self() != to {
						t.Errorf("process %d is number %d", m.Self(), to)
					}
					for from := range job {
						if n, err := m.Receive(soon(t), topic(from)); err != nil || n.From != from {
							t.Errorf("from %d to %d: %v", from, to, err)
						}
					}
				}
				heard := watch(job[0])
				job[n+1].kill()
				if x := heard.next(t); x != (fallen{n + 1, wire.ErrDied}) {
					t.Error(x)
				}
			})
		}
	}
}

// TestGrowShrunk has a process join when some are down: those it does not need.
func TestGrowShrunk(t *testing.T) {
	job := newJob(t, 4, nil)
	job[1].kill()
	job[2].Fence(3, wire.ErrFrozen)
	for _, m := range []*Mesh{job[0], job[2]} {
		for _, p := range []int{1, 3} {
			m.Fence(p, wire.ErrFrozen)
		}
	}
	job = grow(t, []*Mesh{job[0], job[2]}, 1, nil)
	m := job[2]
	eventually(t, func() bool { return m.Down(1) != nil && m.Down(3) != nil })
	if m.Self() != 4 || m.Down(0) != nil || m.Down(2) != nil {
		t.Error(m.Self(), m.Down(0), m.Down(1), m.Down(2), m.Down(3))
	}
}

// TestGrowLoses has a member die while a process joins, which does without it then.
func TestGrowLoses(t *testing.T) {
	for name, way := range ways(t) {
		t.Run(name, func(t *testing.T) {
			job := newJob(t, 3, way)
			ticket, err := job[0].Invite()
			if err != nil {
				t.Fatal(err)
			}
			joined := make(chan error)
			go func() {
				m, err := JoinTicket(soon(t), newcomer(way, ticket), ticket)
				if err == nil {
					err = errors.Join(m.Close(), err)
				}
				joined <- err
			}()
			card, err := job[0].Await(soon(t), ticket.Number)
			if err = errors.Join(err, job[1].Reserve(0, ticket.Number), job[1].Introduce(ticket.Number, card)); err != nil {
				t.Fatal(err)
			}
			job[2].kill()
			if err := <-joined; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestGrowIssuerDies: without the issuer nobody can join.
func TestGrowIssuerDies(t *testing.T) {
	job := newJob(t, 2, nil)
	ticket, err := job[0].Invite()
	if err != nil {
		t.Fatal(err)
	}
	joined := make(chan error)
	go func() {
		_, err := JoinTicket(soon(t), newcomer(nil, ticket), ticket)
		joined <- err
	}()
	_, err = job[0].Await(soon(t), ticket.Number)
	_ = job[0].peer(ticket.Number).conn.Close()
	var peer *wire.PeerError
	if failed := <-joined; err != nil || !errors.As(failed, &peer) || peer.Rank != 0 || !errors.Is(failed, wire.ErrDied) {
		t.Error(err, failed)
	}
}

// TestTickets: a ticket is good once, for this job, as it is.
func TestTickets(t *testing.T) {
	job := newJob(t, 2, nil)
	ticket, err := job[0].Invite()
	if err != nil {
		t.Fatal(err)
	}
	other, err := job[0].Invite()
	if err != nil {
		t.Fatal(err)
	}
	forged, swapped, elsewhere := ticket, ticket, ticket
	forged.Token[3] ^= 1
	swapped.Number = other.Number
	elsewhere.Issuer, elsewhere.Socket = 1, job[1].card.Socket
	try := func(x Ticket, change func(*Config)) error {
		m, err := JoinTicket(soon(t), newcomer(change, x), x)
		if m != nil {
			m.Close()
		}
		return err
	}
	secret := func(c *Config) { c.Credentials = secure.FromSecret(secure.Secret{9}) }
	otherJob := func(c *Config) { c.Identity.Job = "other" }
	for name, x := range map[string]struct {
		ticket Ticket
		change func(*Config)
		want   error
	}{
		"forged": {forged, nil, ErrTicket}, "swapped": {swapped, nil, ErrTicket}, "elsewhere": {elsewhere, nil, ErrTicket},
		"no secret": {ticket, secret, secure.ErrWrongSecret}, "other job": {ticket, otherJob, ErrTicket},
	} {
		if err := try(x.ticket, x.change); !errors.Is(err, x.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var errs [5]error
	var card []byte
	done := make(chan error)
	go func() {
		var err error
		if card, err = job[0].Await(soon(t), ticket.Number); err == nil {
			err = errors.Join(job[1].Reserve(0, ticket.Number), job[1].Introduce(ticket.Number, card))
		}
		done <- err
	}()
	together(len(errs), func(i int) { errs[i] = try(ticket, nil) })
	if err := <-done; err != nil {
		t.Error(err)
	}
	used := 0
	for _, err := range errs {
		if errors.Is(err, ErrTicketUsed) || errors.Is(err, wire.ErrFenced) { // fenced: the first one has come and gone
			used++
		} else if err != nil {
			t.Error(err)
		}
	}
	if used != len(errs)-1 {
		t.Errorf("of %d uses of one ticket %d were refused: %v", len(errs), used, errs)
	}
	if err := job[1].Introduce(0, card); err == nil {
		t.Error("a newcomer was introduced under the number of process 0")
	}
	if err := job[0].Introduce(other.Number, job[1].members[1].raw); err == nil {
		t.Error("a newcomer was introduced with the card of process 1")
	}
}

// TestAwaitEnds: nobody waits for ever for a process that does not come.
func TestAwaitEnds(t *testing.T) {
	job := newJob(t, 1, nil)
	ticket, err := job[0].Invite()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := job[0].Await(ctx, ticket.Number); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	job[0].Fence(ticket.Number, wire.ErrFrozen)
	if _, err := job[0].Await(soon(t), ticket.Number); !errors.Is(err, wire.ErrFrozen) {
		t.Error(err)
	}
	if _, err := JoinTicket(soon(t), newcomer(nil, ticket), ticket); !errors.Is(err, wire.ErrFenced) {
		t.Error("a ticket that was taken back:", err)
	}
	job[0].Close()
	if _, err := job[0].Invite(); err != wire.ErrClosed {
		t.Error(err)
	}
}

// TestTicketText: a ticket is what it was when it is parsed, has no secret in it, and no character of it can be
// changed.
func TestTicketText(t *testing.T) {
	secret := secure.Secret([]byte("the secret of this job, 32 bytes"))
	c := newBoard().config(0, 1)
	c.Credentials, c.ForceTCP = secure.FromSecret(secret), true
	m, err := Join(soon(t), c)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ticket, err := m.Invite()
	if err != nil {
		t.Fatal(err)
	}
	text := ticket.String()
	if back, err := ParseTicket(text); err != nil || back.String() != text ||
		!slices.Equal(back.Addresses, ticket.Addresses) {
		t.Error(back, err)
	}
	for i := range text {
		other := byte('A')
		if text[i] == other {
			other = 'B'
		}
		if _, err := ParseTicket(text[:i] + string(other) + text[i+1:]); !errors.Is(err, ErrTicket) {
			t.Errorf("with another character %d it is a ticket: %v", i, err)
		}
		if _, err := ParseTicket(text[:i]); !errors.Is(err, ErrTicket) {
			t.Errorf("%d characters of it are a ticket: %v", i, err)
		}
	}
	if all := fmt.Sprintf("%s %v %+v", text, ticket, ticket); strings.Contains(all, string(secret[:8])) {
		t.Error("the secret is in the ticket")
	}
}

// TestClaims: what processes say of numbers that they have given away raises the highest one only so far.
func TestClaims(t *testing.T) {
	job := newJob(t, 3, nil)
	m := job[0]
	for _, x := range []struct {
		by, number int
		ok         bool
	}{
		{1, maxProcess, false}, {1, math.MaxInt, false}, {1, 3 + maxClaim, false}, {1, 1, true}, {1, maxClaim / 2, true},
		{1, 1 + maxClaim, true},
		{1, 1 + maxClaim, true}, {1, 4 + maxClaim, false}, {2, 4 + maxClaim, true}, {2, 4 + 2*maxClaim, false},
	} {
		if err := m.Reserve(x.by, x.number); (err == nil) != x.ok {
			t.Errorf("process %d gives %d away: %v", x.by, x.number, err)
		}
	}
	if ticket, err := m.Invite(); err != nil || ticket.Number != 5+maxClaim {
		t.Error(ticket.Number, err)
	}
	unknown := Card{Process: 1 << 20, HeartbeatTimeout: job[0].cfg.HeartbeatTimeout}
	if err := m.Introduce(1<<20, unknown.encode(m.cfg.Credentials, m.me)); !errors.Is(err, ErrTaken) {
		t.Errorf("a process was let in whose number nobody has given away: %v", err)
	}
}
