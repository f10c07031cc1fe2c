package fast

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/collgen/collgen/fast/internal/control"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Grow makes a new communicator of the ranks of c, in the same order, and after them the processes that one of these
// ranks has invited, the lowest that has, in the order of their tickets. All ranks of c call Grow, and it waits until
// those processes have called Join. The new communicator is independent of c, which stays as it is; both are the
// caller's to close.
//
// Grow succeeds on all ranks of c or fails on all, apart from ranks that fail meanwhile or whose contexts end; after a
// failure c is as before, and the process that is to join gets an error from Join or from its first call. All ranks
// call Agree, Shrink and Grow in the same order, in every state but Aborted and Closed. Grow fails with a PeerError, if
// a rank of c has failed (then call Shrink first) or an invited process has; ErrInvalidArgument, if no rank has invited
// anybody, or under Run; a TimeoutError at the end of ctx, after which the invitation stands; or as Agree does: with
// ErrConcurrentUse beside other calls on c, and with a MismatchError if a rank is in a call that needs this one.
func (c *Comm) Grow(ctx context.Context) (*Comm, error) {
	g, err := c.grower("Grow")
	if err != nil {
		return nil, err
	}
	if err := c.enterAgreement(ctx, "Grow"); err != nil {
		return nil, err
	}
	defer c.exitAgreement()
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
	v, err := w.c.outcome(ctx, w.call, w.first)
	if err != nil {
		var late *TimeoutError
		if missed != nil && errors.As(err, &late) { // nobody is waited for but who has not come
			err = w.c.agreementError(w.call, w.first, missed)
		}
		return nil, err
	}
	host := int(v.First[agree.Invite]) - 1
	switch {
	case v.Gone.Len() > 0:
		err = w.c.goneError(&v)
	case host < 0:
		err = wire.Refuse("Grow", "no rank has invited anybody")
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
			w.plane.Send(process, wire.Topic{Kind: control.KindOffer}, offer.encode())
		}
	}
	return w.c.world.comm(ctx, offer.ID, offer.Name, offer.Processes)
}

// meet has all ranks learn from host who is new, and waits until these are connected to this process.
func (w *growing) meet(ctx context.Context, host int) error {
	topic := wire.Topic{Comm: w.c.id, Kind: control.KindGrow, Seq: uint32(w.first.Seq)}
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

// conclude has all ranks agree whether Grow has succeeded everywhere; err is this rank's error. There always is this
// second agreement, so that ranks whose contexts end at different points stay in step.
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
	v, err := w.c.outcome(ctx, agree.Grow, x)
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
