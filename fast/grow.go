package fast

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/wire"
)

// grower is a control plane that processes can come to later.
type grower interface {
	plane
	// Invite gives a number away, and makes the ticket with which a process comes.
	Invite() (mesh.Ticket, error)
	// Await waits for the process with a number, and is its card.
	Await(ctx context.Context, number int) (card []byte, err error)
	// Introduce lets a process in, whose card another process got from Await.
	Introduce(number int, card []byte) error
}

// grower is the control plane of c, if processes can come to it.
func (c *Comm) grower(name string) (grower, error) {
	if err := c.divisible(name); err != nil {
		return nil, err
	}
	g, ok := c.world.plane.(grower)
	if !ok {
		return nil, Refuse(name, "no process can join the goroutines of Run: use Init")
	}
	return g, nil
}

// Invite makes a ticket for one process that is to join: it calls Join with the ticket, while all ranks of c call Grow.
// One rank of a job invites at a time, as many processes as it likes, each with a ticket of its own; the next Grow on c
// takes in all of them. A ticket is text of letters, digits, '-' and '_', and can be used once. It is no secret in
// itself: who joins has to have the job's secret or a certificate besides.
//
// A job whose ranks are all on one host opens no port, so that only a process of that host can join, unless
// WithTransport("tcp") has them listen all the same.
//
// Invite fails with ErrInvalidArgument, for the goroutines of Run in particular, with ErrClosed, or in words.
func (c *Comm) Invite(ctx context.Context) (ticket string, err error) {
	g, err := c.grower("Invite")
	if err != nil {
		return "", err
	}
	if ctx == nil || ctx.Err() != nil {
		return "", Refuse("Invite", "the context is nil or has ended")
	}
	t, err := g.Invite()
	if err != nil {
		return "", fmt.Errorf("Invite: %w", err)
	}
	announce(g, t.Number, t.Number, nil)
	c.agreements.mu.Lock()
	defer c.agreements.mu.Unlock()
	c.agreements.invited = append(c.agreements.invited, t.Number)
	return t.String(), nil
}

// announce tells all processes of the job up to highest of a process that was invited: its number and, once it is there,
// its card.
func announce(g grower, number, highest int, card []byte) {
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(number)), card...)
	for process := range highest + 1 {
		if process != number && process != g.Self() { // to those that are gone nothing is sent
			g.Send(process, wire.Topic{Kind: kindGrow}, body)
		}
	}
}

// Grow makes a new communicator of the ranks of c, in the same order, and after them the processes that one of these ranks
// has invited, in the order of their tickets. All ranks of c call Grow, and it waits until those processes have called
// Join. The new communicator is independent of c, which stays as it is; both are the caller's to close.
//
// Grow succeeds on all ranks of c or fails on all, apart from ranks that fail meanwhile or whose contexts end; after a
// failure c is as before, and the process that is to join gets an error from Join or from its first call. All ranks call
// Agree, Shrink and Grow in the same order, in every state but Aborted and Closed. Grow fails with a PeerError, if a rank of
// c has failed (then call Shrink first) or an invited process has; ErrInvalidArgument, if no rank has invited anybody, or
// under Run; a TimeoutError at the end of ctx, after which the invitation stands; or as Agree does.
func (c *Comm) Grow(ctx context.Context) (*Comm, error) {
	g, err := c.grower("Grow")
	if err != nil {
		return nil, err
	}
	if err := c.enterAgreement(ctx, "Grow"); err != nil {
		return nil, err
	}
	defer c.agreements.running.Unlock()
	w := growing{c: c, plane: g, call: agree.Grow}
	made, err := w.grow(ctx)
	if err = w.conclude(ctx, err); err != nil && made != nil {
		_ = made.Close() // nobody has used it
		made = nil
	}
	return made, err
}

// growing is Grow on one rank.
type growing struct {
	c         *Comm
	plane     grower
	call      agree.Call
	first     *agree.Agreement // that the invited processes are there
	newcomers []int            // the invited processes
}

// grow makes the new communicator, as far as this rank can tell.
func (w *growing) grow(ctx context.Context) (*Comm, error) {
	missed, flags := w.receive(ctx), uint64(1)
	if missed != nil {
		flags = 0
	}
	var err error
	if w.first, err = w.c.propose(w.call, flags, 0); err != nil {
		return nil, err
	}
	v, err := w.c.settled(ctx, w.call, w.first)
	if err != nil {
		return nil, err
	}
	host := int(v.First[agree.Invite]) - 1
	switch {
	case v.Gone.Len() > 0:
		err = w.c.goneError(&v)
	case host < 0:
		err = Refuse("Grow", "no rank has invited anybody")
	case missed != nil:
		err = missed
	case v.Flags == 0:
		err = &PeerError{Rank: host, Err: errors.New("a process that it has invited did not come")}
	default:
		ctx, cancel := w.c.agreements.agent.While(ctx, v.Gone)
		defer cancel()
		return w.make(ctx, host)
	}
	return nil, w.c.agreementError(w.call, w.first, err)
}

// receive waits for the processes that this rank has invited, if any, and tells all processes of the job who they are.
func (w *growing) receive(ctx context.Context) error {
	w.c.agreements.mu.Lock()
	w.newcomers = slices.Clone(w.c.agreements.invited)
	w.c.agreements.mu.Unlock()
	if len(w.newcomers) > 0 {
		w.call = agree.Invite
	}
	for i, newcomer := range w.newcomers {
		card, err := w.plane.Await(ctx, newcomer)
		if err != nil {
			return w.missed(ctx, i, err)
		}
		announce(w.plane, newcomer, slices.Max(w.newcomers), card)
	}
	return nil
}

// missed is the error of the i-th newcomer, which did not come because of err. One that is down will never come.
func (w *growing) missed(ctx context.Context, i int, err error) error {
	rank := w.c.size + i // that it was to get
	if ctx.Err() != nil {
		return &TimeoutError{Waiting: []int{rank}, Err: context.Cause(ctx)}
	}
	w.c.agreements.dismiss(w.newcomers[i : i+1])
	return &PeerError{Rank: rank, Err: err}
}

// dismiss forgets invitations.
func (a *agreements) dismiss(guests []int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.invited = slices.DeleteFunc(a.invited, func(p int) bool { return slices.Contains(guests, p) })
}

// make makes the communicator with those whom host has invited.
func (w *growing) make(ctx context.Context, host int) (*Comm, error) {
	if err := w.meet(ctx, host); err != nil {
		return nil, err
	}
	offer := offer{
		ID:        descend(w.c.id, growSalt, w.first.Seq),
		Name:      fmt.Sprintf("%s/grow%d", w.c.name, w.first.Seq),
		Processes: append(w.c.processes(), w.newcomers...),
	}
	if host == w.c.rank {
		for _, process := range w.newcomers {
			w.plane.Send(process, wire.Topic{Kind: kindOffer}, offer.encode())
		}
	}
	return w.c.world.comm(ctx, offer.ID, offer.Name, offer.Processes)
}

// growSalt tells communicators that are made by Grow from others.
const growSalt = 1 << 34

// meet has all ranks learn from host who is new, and waits until these are connected to this process.
func (w *growing) meet(ctx context.Context, host int) error {
	topic := wire.Topic{Comm: w.c.id, Kind: kindGrow, Seq: uint32(w.first.Seq)}
	if host == w.c.rank {
		body := (&offer{Processes: w.newcomers}).encode()
		for rank := range w.c.size {
			if rank != host {
				w.plane.Send(w.c.process(rank), topic, body)
			}
		}
		return nil
	}
	m, err := w.plane.Receive(ctx, topic)
	if err != nil {
		return fmt.Errorf("waiting for rank %d to say who is new: %w", host, err)
	}
	m.CloseFiles()
	if m.From != w.c.process(host) {
		return fmt.Errorf("process %d says who is new, which rank %d has invited", m.From, host)
	}
	var o offer
	if json.Unmarshal(m.Body, &o) != nil || len(o.Processes) == 0 || !distinct(append(w.c.processes(), o.Processes...)) {
		return &PeerError{Rank: host, Err: errOffer}
	}
	w.newcomers = o.Processes
	for _, newcomer := range w.newcomers {
		if _, err := w.plane.Await(ctx, newcomer); err != nil {
			return err
		}
	}
	return nil
}

// conclude has all ranks agree whether Grow has succeeded everywhere; err is this rank's error. There always is this second
// agreement, so that ranks whose contexts end at different points stay in step.
func (w *growing) conclude(ctx context.Context, err error) error {
	var mismatch *MismatchError
	if w.first == nil || errors.As(err, &mismatch) {
		return err
	}
	flags := uint64(1)
	if err != nil {
		flags = 0
	}
	x, left := w.c.propose(agree.Grow, flags, 0)
	if err != nil || left != nil {
		return cmp.Or(err, left)
	}
	v, err := w.c.settled(ctx, agree.Grow, x)
	switch {
	case err != nil:
	case v.Gone.Len() > 0:
		err = w.c.agreementError(agree.Grow, x, w.c.goneError(&v))
	case v.Flags == 0:
		err = w.c.agreementError(agree.Grow, x, errMadeElsewhere)
	default:
		w.c.agreements.dismiss(w.newcomers)
	}
	return err
}
