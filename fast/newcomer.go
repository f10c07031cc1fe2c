package fast

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Join makes this process a rank of a running job, by a ticket that a rank of it got from Invite. It returns when the
// ranks have all called Grow, with the communicator that Grow makes. Of the options of Init it needs the job's secret,
// by WithSecret or WithSecretFile, or a certificate; those on the transport, the interface, encryption, liveness,
// tuning and traces are as for Init and should be those of the job, and those on rank, store and launcher have no
// meaning. FromEnv gives what COLL_* says of these, also if no launcher has started this process.
//
// Join ends with ctx, or after a minute if ctx has no deadline. It fails with ErrTicket or ErrTicketUsed;
// ErrInvalidArgument for an option that is wrong; *TimeoutError and *PeerError, which name processes by their numbers
// in the job; or in words. A ticket is used up as soon as the process is connected to the rank that made it. The Comm
// is the caller's to close.
func Join(ctx context.Context, ticket string, opts ...InitOption) (*Comm, error) {
	p, t, err := newcomerOf(ctx, ticket, opts)
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

// newcomerOf returns what a process that joins is told, all of it together.
func newcomerOf(ctx context.Context, ticket string, opts []InitOption) (*initConfig, mesh.Ticket, error) {
	if ctx == nil {
		return nil, mesh.Ticket{}, wire.Refuse("Join", "the context is nil")
	}
	t, err := mesh.ParseTicket(ticket)
	if err != nil {
		return nil, t, fmt.Errorf("Join: %w", err)
	}
	opts = append(slices.Clone(opts), WithRank(t.Number, t.Number+1), WithJob(t.Job), WithEpoch(t.Epoch))
	p, err := newInitConfig(ctx, opts)
	return p, t, err
}

// join connects this process to the others of its job, and makes the communicator that they offer.
func (p *initConfig) join(ctx context.Context, t mesh.Ticket) (*Comm, error) {
	connector, err := p.Join(ctx, t)
	if err != nil {
		return nil, err
	}
	c, err := p.newWorld(connector).take(ctx, connector.Mesh, t.Issuer)
	if err != nil {
		return nil, errors.Join(err, connector.Mesh.Close())
	}
	return c, nil
}

// take makes the communicator that the process host offers.
func (w *world) take(ctx context.Context, g grower, host int) (*Comm, error) {
	f := setup.Group{Plane: g, Members: []int{host}, Ranks: []int{host}}
	ctx, stop := f.Watched(ctx)
	defer stop()
	ctx, calm := w.record.patience().watch(ctx, "Join", "process", g.Self()) // of what, it does not know yet
	defer calm()
	wire.Awaiting(ctx, func() []int { return f.Members })
	m, err := offered(ctx, &f)
	if err != nil {
		return nil, err
	}
	o, err := decodeOffer(m.Body, g.Self())
	if err != nil {
		return nil, err
	}
	for _, process := range o.Processes { // others may have joined just now
		if process == g.Self() {
			continue
		}
		if _, err := g.Await(ctx, process); err != nil {
			return nil, err
		}
	}
	return w.comm(ctx, o.ID, o.Name, o.Processes)
}

// offered returns what the host, f's only member, offers. What others do counts for nothing.
func offered(ctx context.Context, f *setup.Group) (m wire.Note, err error) {
	for m.From = -1; m.From != f.Members[0]; {
		if m, err = f.Plane.Receive(ctx, wire.Topic{Kind: control.KindOffer}); err != nil {
			return m, f.Unheard(ctx, err, nil)
		}
	}
	return m, nil
}

// offer is the communicator that a new process becomes a rank of.
type offer struct {
	ID        uint64
	Name      string
	Processes []int // by rank
}

func (o *offer) encode() []byte {
	body, err := json.Marshal(o)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return body
}

var errOffer = errors.New("an offer that makes no sense")

// decodeOffer returns the offer in b to process self, which is one of its processes.
func decodeOffer(b []byte, self int) (o offer, err error) {
	if json.Unmarshal(b, &o) != nil || !distinct(o.Processes) || !slices.Contains(o.Processes, self) ||
		len(o.Name) > failure.MaxText || !printable(o.Name) || o.ID == worldID || o.ID == 0 {
		return offer{}, errOffer
	}
	return o, nil
}

// distinct reports whether processes are, and whether there may be such processes.
func distinct(processes []int) bool {
	sorted := slices.Sorted(slices.Values(processes))
	return len(slices.Compact(sorted)) == len(processes) && (len(sorted) == 0 || sorted[0] >= 0)
}

// announced takes note of a process that another one has invited, and lets it in when its card comes.
func announced(m *mesh.Mesh, n wire.Note, log *slog.Logger) {
	if len(n.Body) < 4 {
		return
	}
	number := int(binary.LittleEndian.Uint32(n.Body))
	err := m.Reserve(n.From, number)
	if err == nil && len(n.Body) > 4 {
		err = m.Introduce(number, n.Body[4:])
	}
	if err != nil {
		log.Warn("a process that was invited is not let in", "process", number, "invited by", n.From, "error", err)
	}
}
