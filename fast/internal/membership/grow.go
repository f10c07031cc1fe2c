package membership

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Grower is a control plane that further processes can join.
type Grower interface {
	control.Plane
	// Invite assigns a number, and makes the ticket with which a process joins.
	Invite() (mesh.Ticket, error)
	// Await waits for the process with a number, and returns its card.
	Await(ctx context.Context, number int) (card []byte, err error)
	// Introduce admits a process whose card another process got from Await.
	Introduce(number int, card []byte) error
}

// Invite returns a ticket for one process. The next Grow waits for that process.
func (m *Member) Invite(p Grower) (mesh.Ticket, error) {
	t, err := p.Invite()
	if err != nil {
		return t, err
	}
	announce(p, t.Number, t.Number, nil)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.invited = append(m.invited, t.Number)
	return t, nil
}

// Grow makes a communicator of all ranks and the processes that one of them has invited.
func (m *Member) Grow(ctx context.Context, p Grower) (io.Closer, error) {
	g := growing{m: m, plane: p, call: agree.Grow}
	made, err := g.grow(ctx)
	if err = g.conclude(ctx, err); err != nil && made != nil {
		_ = made.Close() // nobody has used it
		made = nil
	}
	return made, err
}

// growing is Grow on one rank.
type growing struct {
	m         *Member
	plane     Grower
	call      agree.Call
	first     *agree.Agreement // on whether the invited processes have come
	newcomers []int            // the invited processes
}

// grow makes the new communicator. Others may have failed to.
func (g *growing) grow(ctx context.Context) (io.Closer, error) {
	missed, flags := g.receive(ctx), uint64(1)
	if missed != nil {
		flags = 0
	}
	var err error
	if g.first, err = g.m.propose(g.call, flags, 0); err != nil {
		return nil, err
	}
	v, err := g.m.outcome(ctx, g.call, g.first)
	if err != nil {
		var late *wire.TimeoutError
		if missed != nil && errors.As(err, &late) { // this rank was waiting for the processes that have not come
			err = g.m.agreementError(g.call, g.first, missed)
		}
		return nil, err
	}
	host := int(v.First[agree.Invite]) - 1
	switch {
	case v.Gone.Len() > 0:
		err = g.m.goneError(&v)
	case host < 0:
		err = wire.Refuse("Grow", "no rank has invited anybody")
	case missed != nil:
		err = missed
	case v.Flags == 0:
		err = &wire.PeerError{Rank: host, Err: errors.New("a process that it has invited did not come")}
	default:
		ctx, cancel := g.m.agent.While(ctx, v.Gone)
		defer cancel()
		return g.make(ctx, host)
	}
	return nil, g.m.agreementError(g.call, g.first, err)
}

// receive waits for the processes that this rank has invited, if any, and introduces them to all processes of the job.
func (g *growing) receive(ctx context.Context) error {
	g.m.mu.Lock()
	g.newcomers = slices.Clone(g.m.invited)
	g.m.mu.Unlock()
	if len(g.newcomers) == 0 {
		return nil
	}
	g.call = agree.Invite
	agent, err := g.m.getAgent()
	if err != nil {
		return err
	}
	whole, cancel := agent.While(ctx, nil) // if a rank is gone, Grow fails, so newcomers need not be waited for
	defer cancel()
	whole, stop := g.m.comm.Watch(whole, "Grow")
	defer stop()
	for i, newcomer := range g.newcomers {
		wire.ReportWait(whole, func() []int { return []int{g.m.size + i} })
		card, err := g.plane.Await(whole, newcomer)
		if err != nil {
			return g.missed(ctx, whole, i, err)
		}
		announce(g.plane, newcomer, slices.Max(g.newcomers), card)
	}
	return nil
}

// missed returns the error for newcomer i, whose wait has ended with err. Either ctx has ended; or whole has, because a
// rank is gone or this one has left; or the newcomer is down, and will never come.
func (g *growing) missed(ctx, whole context.Context, i int, err error) error {
	rank := g.m.size + i // in the new communicator
	switch {
	case ctx.Err() != nil:
		return wire.Timeout(ctx, []int{rank})
	case whole.Err() != nil:
		return context.Cause(whole)
	}
	g.m.dismiss(g.newcomers[i : i+1])
	return &wire.PeerError{Rank: rank, Err: err}
}

// make makes the communicator with the processes that host has invited.
func (g *growing) make(ctx context.Context, host int) (io.Closer, error) {
	if err := g.meet(ctx, host); err != nil {
		return nil, err
	}
	offer := Offer{
		ID:        control.DeriveID(g.m.id, control.GrowSalt, g.first.Seq),
		Name:      fmt.Sprintf("%s/grow%d", g.m.name, g.first.Seq),
		Processes: append(g.m.processes(), g.newcomers...),
	}
	if host == g.m.rank {
		for _, process := range g.newcomers {
			g.plane.Send(process, wire.Topic{Kind: control.KindOffer}, offer.encode())
		}
	}
	return g.m.comm.Make(ctx, offer.ID, offer.Name, offer.Processes)
}

// meet has host tell all ranks which processes are new. The other ranks wait until these are connected to them.
func (g *growing) meet(ctx context.Context, host int) error {
	topic := wire.Topic{Comm: g.m.id, Kind: control.KindGrow, Seq: uint32(g.first.Seq)}
	processes := g.m.processes()
	if host == g.m.rank {
		body := (&Offer{Processes: g.newcomers}).encode()
		for rank, process := range processes {
			if rank != host {
				g.plane.Send(process, topic, body)
			}
		}
		return nil
	}
	n, err := g.plane.Receive(ctx, topic)
	if err != nil {
		return fmt.Errorf("waiting for rank %d to say who is new: %w", host, err)
	}
	if n.From != processes[host] {
		return fmt.Errorf("process %d says who is new, which rank %d has invited", n.From, host)
	}
	var o Offer
	if json.Unmarshal(n.Body, &o) != nil || len(o.Processes) == 0 || !distinct(append(processes, o.Processes...)) {
		return &wire.PeerError{Rank: host, Err: errOffer}
	}
	g.newcomers = o.Processes
	for _, newcomer := range g.newcomers {
		if _, err := g.plane.Await(ctx, newcomer); err != nil {
			return err
		}
	}
	return nil
}

// conclude has all ranks agree whether Grow has succeeded everywhere; err is this rank's error. Every Grow makes this
// second agreement, so that ranks whose contexts end at different points stay in step.
func (g *growing) conclude(ctx context.Context, err error) error {
	var mismatch *wire.MismatchError
	if g.first == nil || errors.As(err, &mismatch) {
		return err
	}
	flags := uint64(1)
	if err != nil {
		flags = 0
	}
	x, left := g.m.propose(agree.Grow, flags, 0)
	if err != nil || left != nil {
		return cmp.Or(err, left)
	}
	v, err := g.m.outcome(ctx, agree.Grow, x)
	switch {
	case err != nil:
	case v.Gone.Len() > 0:
		err = g.m.agreementError(agree.Grow, x, g.m.goneError(&v))
	case v.Flags == 0:
		err = g.m.agreementError(agree.Grow, x, errMadeElsewhere)
	default:
		g.m.dismiss(g.newcomers)
	}
	return err
}
