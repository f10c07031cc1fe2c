package membership

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/failure"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Offer is the communicator that a process which joins becomes a rank of.
type Offer struct {
	ID        uint64
	Name      string
	Processes []int // by rank
}

// AwaitOffer waits for the offer of process host, and until this process is connected to all processes of the offer.
func AwaitOffer(ctx context.Context, p Grower, host int) (Offer, error) {
	g := setup.Group{Plane: p, Members: []int{host}, Ranks: []int{host}}
	ctx, stop := g.Watched(ctx)
	defer stop()
	wire.ReportWait(ctx, func() []int { return g.Members })
	n, err := receiveOffer(ctx, &g)
	if err != nil {
		return Offer{}, err
	}
	o, err := decodeOffer(n.Body, p.Self())
	if err != nil {
		return o, err
	}
	for _, process := range o.Processes { // some of them may be joining at the same time
		if process == p.Self() {
			continue
		}
		if _, err := p.Await(ctx, process); err != nil {
			return o, err
		}
	}
	return o, nil
}

// receiveOffer returns what the host, the only member of g, offers. It ignores offers of others.
func receiveOffer(ctx context.Context, g *setup.Group) (n wire.Note, err error) {
	for n.From = -1; n.From != g.Members[0]; {
		if n, err = g.Plane.Receive(ctx, wire.Topic{Kind: control.KindOffer}); err != nil {
			return n, g.Unheard(ctx, err, nil)
		}
	}
	return n, nil
}

func (o *Offer) encode() []byte {
	body, err := json.Marshal(o)
	if err != nil {
		panic(err) // cannot happen: strings and numbers
	}
	return body
}

var errOffer = errors.New("an offer that makes no sense")

// decodeOffer returns the offer in b to process self, which is one of its processes.
func decodeOffer(b []byte, self int) (o Offer, err error) {
	if json.Unmarshal(b, &o) != nil || !distinct(o.Processes) || !slices.Contains(o.Processes, self) ||
		len(o.Name) > failure.MaxText || !failure.Printable(o.Name) || o.ID == control.WorldID || o.ID == 0 {
		return Offer{}, errOffer
	}
	return o, nil
}

// distinct reports whether processes are numbers of different processes.
func distinct(processes []int) bool {
	sorted := slices.Sorted(slices.Values(processes))
	return len(slices.Compact(sorted)) == len(processes) && (len(sorted) == 0 || sorted[0] >= 0)
}

// announce tells all processes of the job up to highest that a process was invited: its number and, once it has come,
// its card.
func announce(p Grower, number, highest int, card []byte) {
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(number)), card...)
	for process := range highest + 1 {
		if process != number && process != p.Self() { // the plane sends nothing to processes that are gone
			p.Send(process, wire.Topic{Kind: control.KindGrow}, body)
		}
	}
}

// HandleAnnouncements has m reserve the numbers of processes that were invited elsewhere, and admit these processes
// when their cards come.
func HandleAnnouncements(m *mesh.Mesh, log *slog.Logger) {
	m.Handle(0, control.KindGrow, func(n wire.Note) {
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
	})
}
