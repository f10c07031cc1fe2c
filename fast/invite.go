package fast

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/wire"
)

// grower is a control plane that processes can come to later.
type grower interface {
	control.Plane
	// Invite gives a number away, and makes the ticket with which a process comes.
	Invite() (mesh.Ticket, error)
	// Await waits for the process with a number, and is its card.
	Await(ctx context.Context, number int) (card []byte, err error)
	// Introduce lets a process in, whose card another process got from Await.
	Introduce(number int, card []byte) error
}

// grower returns the control plane of c, if processes can come to it.
func (c *Comm) grower(name string) (grower, error) {
	if err := c.divisible(name); err != nil {
		return nil, err
	}
	g, ok := c.world.plane.(grower)
	if !ok {
		return nil, wire.Refuse(name, "no process can join the goroutines of Run: use Init")
	}
	return g, nil
}

// Invite makes a ticket for one process that is to join: it calls Join with the ticket, while all ranks of c call Grow.
// One rank of a job invites at a time, as many processes as it likes, each with a ticket of its own; the next Grow on c
// takes in all of them. A ticket is text of letters, digits, '-' and '_', and can be used once. It is no secret in
// itself: who joins has to have the job's secret or a certificate besides.
//
// Only a process of the same host can join a job whose ranks open no port, as ranks that are all on one host do unless
// WithTransport("tcp") is given, or listen only on a loopback address, by WithInterface or for lack of another one. The
// ticket is made all the same, and Join fails elsewhere.
//
// Invite fails with ErrInvalidArgument, for the goroutines of Run in particular, and where the ranks were given neither
// a secret nor certificates: then the store has made a secret, which no newcomer can get. Else it fails with ErrClosed,
// or in words.
func (c *Comm) Invite(ctx context.Context) (ticket string, err error) {
	g, err := c.grower("Invite")
	if err != nil {
		return "", err
	}
	switch {
	case ctx == nil || ctx.Err() != nil:
		return "", wire.Refuse("Invite", "the context is nil or has ended")
	case c.world.sealed:
		return "", wire.Refuse("Invite", "no process can join a job whose secret the store has made, because it cannot get it: start "+
			"the ranks with a secret or with certificates")
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

// announce tells all processes of the job up to highest of a process that was invited: its number and, once it is
// there, its card.
func announce(g grower, number, highest int, card []byte) {
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(number)), card...)
	for process := range highest + 1 {
		if process != number && process != g.Self() { // to those that are gone nothing is sent
			g.Send(process, wire.Topic{Kind: control.KindGrow}, body)
		}
	}
}
