package setup

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// RDMAOpener opens what one communicator has of RDMA devices, each of which is a rail, for connections to so many
// ranks.
type RDMAOpener func(ctx context.Context, peers int) ([]rdma.Domain, error)

// Reaches reports whether this process and another one talk by RDMA, unless they share memory.
func (p *Connector) Reaches(process int) bool {
	return !p.Mesh.Encrypts() && p.Mesh.HasRDMA(process) && p.Mesh.HasRDMA(p.Mesh.Self())
}

// beyond makes the transport to the members that this process shares no memory with: RDMA, TCP, or both.
func (p *Connector) beyond(ctx context.Context, f *Group) (transport.Half, error) {
	var able []int // ranks that are reached by RDMA, itself included
	for r, process := range f.Members {
		if r == f.Rank || p.Reaches(process) && !p.near(process) {
			able = append(able, r)
		}
	}
	if len(able) == 1 {
		return transport.Half{Name: "tcp", Transport: p.dial(f)}, nil
	}
	t, err := p.connectRDMA(ctx, f, able)
	switch {
	case err != nil:
		return transport.Half{}, fmt.Errorf("RDMA: %w (WithTransport(\"tcp\"), or COLL_TRANSPORT=tcp, does without)", err)
	case len(able) == len(f.Members):
		return transport.Half{Name: "rdma", Transport: t}, nil
	}
	return transport.Half{Transport: transport.NewComposite(len(f.Members), able,
		transport.Half{Name: "rdma", Transport: t},
		transport.Half{Name: "tcp", Transport: p.dial(f)})}, nil
}

// connectRDMA returns a rank's end of connections by RDMA to the ranks of able, by their places in it. They are made
// when they are first needed: each rank tells the other one over the control plane where it can be written to.
func (p *Connector) connectRDMA(ctx context.Context, f *Group, able []int) (*rdma.Endpoint, error) {
	domains, err := p.OpenRDMA(ctx, len(able)-1)
	if err != nil {
		return nil, err
	}
	e := rdma.New(slices.Index(able, f.Rank), len(able), domains, func(peer int, card []byte) {
		f.Plane.Send(f.Members[able[peer]], f.Topic(control.KindCard), card)
	})
	p.Mesh.Handle(f.ID, control.KindCard, func(n wire.Note) {
		if peer := slices.Index(able, slices.Index(f.Members, n.From)); peer >= 0 {
			e.ReceiveCard(peer, n.Body)
		}
	})
	return e, nil
}
