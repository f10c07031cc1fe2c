package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/agree"
	"github.com/collgen/collgen/fast/internal/membership"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/wire"
)

// grower returns the control plane of c, if processes can join it.
func (c *Comm) grower(name string) (membership.Grower, error) {
	if err := c.divisible(name); err != nil {
		return nil, err
	}
	g, ok := c.world.plane.(membership.Grower)
	if !ok {
		return nil, wire.Refuse(name, "no process can join the goroutines of Run: use Init")
	}
	return g, nil
}

// Invite returns a ticket for one process that is to join the job: the process calls Join with it, while all ranks of c
// call Grow. One rank at a time invites, as many processes as it likes, each with its own ticket. The next Grow on c
// takes in all of them. A ticket consists of letters, digits, '-' and '_', and can be used once. It need not be kept
// secret: a process that joins also needs the job's secret or a certificate.
//
// Some jobs can be joined only by a process of the same host: those whose ranks open no port, as ranks on one host do
// without WithTransport("tcp"), or listen only on a loopback address. Invite returns a ticket all the same, and Join
// fails on other hosts.
//
// Invite fails with ErrInvalidArgument for the goroutines of Run, and if the ranks were given neither a secret nor
// certificates: then the store has made a secret, which a new process cannot get. Otherwise it fails with ErrClosed, or
// with an error in words.
func (c *Comm) Invite(ctx context.Context) (ticket string, err error) {
	g, err := c.grower("Invite")
	if err != nil {
		return "", err
	}
	switch {
	case ctx == nil || ctx.Err() != nil:
		return "", wire.Refuse("Invite", "the context is nil or has ended")
	case c.world.sealed:
		return "", wire.Refuse("Invite", "no process can join a job whose secret the store has made, because it cannot "+
			"get it: start "+
			"the ranks with a secret or with certificates")
	}
	t, err := c.membership.Invite(g)
	if err != nil {
		return "", fmt.Errorf("Invite: %w", err)
	}
	return t.String(), nil
}

// Grow makes a new communicator of the ranks of c, in the same order, followed by the processes that one of them has
// invited, in the order of their tickets. If several ranks have invited processes, those of the lowest rank count. All
// ranks of c call Grow, which waits until these processes have called Join. The new communicator is independent of c,
// which stays as it is. The caller closes both.
//
// Grow succeeds on all ranks of c or fails on all, except for ranks that fail meanwhile or whose contexts end. After a
// failure c is as before, and the process that was to join gets an error from Join or from its first call.
//
// All ranks call Agree, Shrink and Grow in the same order, in every state but Aborted and Closed. Grow fails with
//
//   - PeerError, if a rank of c has failed (then call Shrink first), or an invited process has;
//   - ErrInvalidArgument, if no rank has invited anybody, or under Run;
//   - TimeoutError at the end of ctx, after which the invitation is still valid;
//   - the errors of Agree: ErrConcurrentUse, if another call runs on c, and MismatchError, if a rank is in a call that
//     needs this one.
func (c *Comm) Grow(ctx context.Context) (*Comm, error) {
	g, err := c.grower("Grow")
	if err != nil {
		return nil, err
	}
	if err := c.beginAgreement(ctx, agree.Grow); err != nil {
		return nil, err
	}
	defer c.endAgreement()
	made, err := c.membership.Grow(ctx, g)
	d, _ := made.(*Comm)
	return d, err
}

// Join makes this process a rank of a running job, by a ticket that a rank of it got from Invite. It returns when all
// ranks have called Grow, with the communicator that Grow makes.
//
// Of the options of Init, Join needs the job's secret, by WithSecret or WithSecretFile, or a certificate. Options for
// the transport, the interface, encryption, heartbeats, tuning and traces should be those of the job. Options for the
// rank, the store and the launcher are ignored. FromEnv reads these settings from COLL_* even if no launcher has
// started this process.
//
// Join ends with ctx, or after a minute if ctx has no deadline. It fails with ErrTicket or ErrTicketUsed; with
// ErrInvalidArgument for an option that is wrong; with *TimeoutError or *PeerError, which name processes by their
// numbers in the job; or with an error in words. A ticket is used up as soon as the process is connected to the rank
// that made it. The caller closes the Comm.
func Join(ctx context.Context, ticket string, opts ...InitOption) (*Comm, error) {
	if ctx == nil {
		return nil, wire.Refuse("Join", "the context is nil")
	}
	t, err := mesh.ParseTicket(ticket)
	if err != nil {
		return nil, fmt.Errorf("Join: %w", err)
	}
	opts = append(slices.Clone(opts), WithRank(t.Number, t.Number+1), WithJob(t.Job), WithEpoch(t.Epoch))
	p, err := newInitConfig(ctx, opts)
	if err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, initTime)
		defer cancel()
	}
	c, err := p.join(ctx, t)
	if err != nil {
		return nil, fmt.Errorf("joining as process %d: %w", t.Number, err)
	}
	return c, nil
}

// join connects this process to the others of its job, and makes the communicator that they offer.
func (p *initConfig) join(ctx context.Context, t mesh.Ticket) (*Comm, error) {
	connector, err := p.Join(ctx, t)
	if err != nil {
		return nil, err
	}
	w := p.newWorld(connector)
	waiting, stop := w.record.Warner().Watch(ctx, "Join", "process", t.Number) // of which rank, it does not know yet
	o, err := membership.AwaitOffer(waiting, connector.Mesh, t.Issuer)
	stop()
	if err != nil {
		return nil, errors.Join(err, w.plane.Close())
	}
	c, err := w.comm(ctx, o.ID, o.Name, o.Processes)
	if err != nil {
		return nil, errors.Join(err, w.plane.Close())
	}
	return c, nil
}
