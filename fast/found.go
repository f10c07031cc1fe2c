package fast

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/tcp"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// processes makes transports among processes: shared memory between those of one host, RDMA between others that ask for it and have
// it, and TCP between all others.
type processes struct {
	mesh     *mesh.Mesh
	noCMA    bool // this one is secluded
	openRDMA rdmaOpener
}

// near tells whether this process shares memory with another one, and the other one with it.
func (p *processes) near(process int) bool { return canShare && p.mesh.SharesMemory(process) }

// locate is the host of a process, and how it is reached.
func (p *processes) locate(process int) (host, link string) {
	link = "tcp"
	switch {
	case p.near(process):
		link = "shm"
	case p.reaches(process):
		link = "rdma"
	}
	return p.mesh.Host(process), link
}

// memory stands for the memory that a process may share with others, the same for all that do; "": none.
func (p *processes) memory(process int) string {
	if !canShare {
		return ""
	}
	return p.mesh.Memory(process)
}

// found makes rank's transport for a new communicator of members, when all of them do. It fails on all or on none, apart
// from members that go down meanwhile.
func (p *processes) found(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error) {
	f := &founding{plane: p.mesh, id: id, rank: rank, members: members}
	ctx, stop := f.watched(ctx)
	defer stop()
	t, err := p.connect(ctx, f)
	if err = f.decide(ctx, err); err == nil {
		return t, nil
	}
	if t != nil {
		_ = t.Close() // the failure before counts
	}
	return nil, err
}

// connect makes the transport: of shared memory, what reaches beyond it, or both.
func (p *processes) connect(ctx context.Context, f *founding) (transport.Transport, error) {
	var local []int // ranks that share memory with this one, itself included
	for r, process := range f.members {
		if r == f.rank || p.near(process) {
			local = append(local, r)
		}
	}
	if len(local) == 1 {
		far, err := p.beyond(ctx, f)
		return far.Transport, err
	}
	host := &founding{f.plane, f.id, slices.Index(local, f.rank), make([]int, len(local)), local}
	for i, r := range local {
		host.members[i] = f.members[r]
	}
	memory, err := share(ctx, host)
	if err != nil {
		return nil, err
	}
	if s, ok := memory.(transport.Secluder); ok && p.noCMA {
		s.Seclude()
	}
	if len(local) == len(f.members) {
		return memory, nil
	}
	far, err := p.beyond(ctx, f)
	if err != nil {
		return memory, err
	}
	return transport.NewComposite(len(f.members), local, transport.Half{Name: "shm", Transport: memory}, far), nil
}

// beside is how many of the members are on the host of one of them, which is one of them.
func (p *processes) beside(one int, members []int) (n int) {
	for _, process := range members {
		if p.mesh.Host(process) == p.mesh.Host(one) {
			n++
		}
	}
	return n
}

// dial is a rank's end of connections to all members. They are made when they are first needed, by the lower rank of
// the two, which the higher one asks for it.
func (p *processes) dial(f *founding) *tcp.Endpoint {
	var e *tcp.Endpoint
	dialled := make([]atomic.Bool, len(f.members))
	connect := func(peer int) {
		if peer <= f.rank || dialled[peer].Swap(true) {
			return
		}
		go func() {
			if c, err := p.mesh.Dial(context.Background(), f.members[peer], f.id); err != nil {
				e.Broken(peer, err)
			} else {
				e.Attach(peer, c)
			}
		}()
	}
	e = tcp.New(f.rank, len(f.members), p.beside(f.members[f.rank], f.members), p.mesh.Encrypts(), func(peer int) {
		if f.rank < peer {
			connect(peer)
		} else {
			f.plane.Send(f.members[peer], f.topic(kindConnect), nil)
		}
	})
	p.mesh.Handle(f.id, kindConnect, func(m wire.Note) { connect(slices.Index(f.members, m.From)) })
	p.mesh.HandleConns(f.id, func(from int, c wire.Conn) {
		if peer := slices.Index(f.members, from); peer >= 0 {
			e.Attach(peer, c)
		} else {
			_ = c.Close()
		}
	})
	return e
}
