package fast

import (
	"context"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/rdma"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// reaches tells whether this process and another one talk by RDMA, unless they share memory.
func (p *processes) reaches(process int) bool {
	return !p.mesh.Encrypts() && p.mesh.HasRDMA(process) && p.mesh.HasRDMA(p.mesh.Self())
}

// beyond makes the transport to the members that this process shares no memory with: RDMA, TCP, or both.
func (p *processes) beyond(ctx context.Context, f *founding) (transport.Half, error) {
	var able []int // ranks that are reached by RDMA, itself included
	for r, process := range f.members {
		if r == f.rank || p.reaches(process) && !p.near(process) {
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
	case len(able) == len(f.members):
		return transport.Half{Name: "rdma", Transport: t}, nil
	}
	return transport.Half{Transport: transport.NewComposite(len(f.members), able, transport.Half{Name: "rdma", Transport: t},
		transport.Half{Name: "tcp", Transport: p.dial(f)})}, nil
}

// connectRDMA is a rank's end of connections by RDMA to the ranks of able, by their places in it. They are made when they are first
// needed: each rank tells the other one over the control plane where it can be written to.
func (p *processes) connectRDMA(ctx context.Context, f *founding, able []int) (*rdma.Endpoint, error) {
	domains, err := p.openRDMA(ctx, len(able)-1)
	if err != nil {
		return nil, err
	}
	e := rdma.New(slices.Index(able, f.rank), len(able), domains, func(peer int, card []byte) {
		f.plane.Send(f.members[able[peer]], f.topic(kindCard), card)
	})
	p.mesh.Handle(f.id, kindCard, func(n wire.Note) {
		if peer := slices.Index(able, slices.Index(f.members, n.From)); peer >= 0 {
			e.Told(peer, n.Body)
		}
	})
	return e, nil
}

// know has c's transport know memory of Alloc.
func (c *Comm) know(memory []byte) {
	if k, ok := c.transport.(transport.Registrar); ok {
		k.Know(memory)
	}
}

// unknow is the opposite of know: the memory is about to go.
func (c *Comm) unknow(memory []byte) {
	if k, ok := c.transport.(transport.Registrar); ok {
		_ = k.Forget(memory)
	}
}
