package setup

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/mesh"
	"github.com/collgen/collgen/fast/internal/tcp"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// Connector makes transports among processes: shared memory between those of one host, RDMA between others that ask for
// it and have it, and TCP between all others.
type Connector struct {
	Mesh     *mesh.Mesh
	NoCMA    bool // this one is secluded
	OpenRDMA RDMAOpener
}

// near reports whether this process shares memory with another one, and the other one with it.
func (p *Connector) near(process int) bool { return CanShare && p.Mesh.SharesMemory(process) }

// Locate returns the host of a process, and how it is reached.
func (p *Connector) Locate(process int) (host, link string) {
	link = "tcp"
	switch {
	case p.near(process):
		link = "shm"
	case p.Reaches(process):
		link = "rdma"
	}
	return p.Mesh.Host(process), link
}

// Memory stands for the memory that a process may share with others, the same for all that do; "": none.
func (p *Connector) Memory(process int) string {
	if !CanShare {
		return ""
	}
	return p.Mesh.Memory(process)
}

// Reads returns the number that the system has for a process, if that one and this one may read each other's memory;
// 0: they may not, or it has none here.
func (p *Connector) Reads(process int) int {
	if p.NoCMA || !p.near(process) {
		return 0
	}
	return p.Mesh.PID(process)
}

// Create makes rank's transport for a new communicator of members, when all of them do. It fails on all or on none,
// apart from members that go down meanwhile.
func (p *Connector) Create(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error) {
	f := &Group{Plane: p.Mesh, ID: id, Rank: rank, Members: members}
	ctx, stop := f.Watched(ctx)
	defer stop()
	t, err := p.connect(ctx, f)
	if err = f.Decide(ctx, err); err == nil {
		return t, nil
	}
	if t != nil {
		_ = t.Close() // the failure before counts
	}
	return nil, err
}

// connect makes the transport: of shared memory, what reaches beyond it, or both.
func (p *Connector) connect(ctx context.Context, f *Group) (transport.Transport, error) {
	var local []int // ranks that share memory with this one, itself included
	for r, process := range f.Members {
		if r == f.Rank || p.near(process) {
			local = append(local, r)
		}
	}
	if len(local) == 1 {
		far, err := p.beyond(ctx, f)
		return far.Transport, err
	}
	host := &Group{Plane: f.Plane, ID: f.ID, Rank: slices.Index(local, f.Rank), Members: make([]int, len(local)),
		Ranks: local}
	for i, r := range local {
		host.Members[i] = f.Members[r]
	}
	memory, err := share(ctx, host)
	if err != nil {
		return nil, err
	}
	if s, ok := memory.(transport.Secluder); ok && p.NoCMA {
		s.Seclude()
	}
	if len(local) == len(f.Members) {
		return memory, nil
	}
	far, err := p.beyond(ctx, f)
	if err != nil {
		return memory, err
	}
	return transport.NewComposite(len(f.Members), local, transport.Half{Name: "shm", Transport: memory}, far), nil
}

// beside returns how many of the members are on the host of one of them, which is one of them.
func (p *Connector) beside(one int, members []int) (n int) {
	for _, process := range members {
		if p.Mesh.Host(process) == p.Mesh.Host(one) {
			n++
		}
	}
	return n
}

// dial returns a rank's end of connections to all members. They are made when they are first needed, by the lower rank
// of the two, which the higher one asks for it.
func (p *Connector) dial(f *Group) *tcp.Endpoint {
	var e *tcp.Endpoint
	dialled := make([]atomic.Bool, len(f.Members))
	connect := func(peer int) {
		if peer <= f.Rank || dialled[peer].Swap(true) {
			return
		}
		go func() {
			if c, err := p.Mesh.Dial(context.Background(), f.Members[peer], f.ID); err != nil {
				e.ConnectFailed(peer, err)
			} else {
				e.Attach(peer, c)
			}
		}()
	}
	e = tcp.New(f.Rank, len(f.Members), p.beside(f.Members[f.Rank], f.Members), p.Mesh.Encrypts(), func(peer int) {
		if f.Rank < peer {
			connect(peer)
		} else {
			f.Plane.Send(f.Members[peer], f.Topic(control.KindConnect), nil)
		}
	})
	p.Mesh.Handle(f.ID, control.KindConnect, func(m wire.Note) { connect(slices.Index(f.Members, m.From)) })
	p.Mesh.HandleConns(f.ID, func(from int, c wire.Conn) {
		if peer := slices.Index(f.Members, from); peer >= 0 {
			e.Attach(peer, c)
		} else {
			_ = c.Close()
		}
	})
	return e
}
