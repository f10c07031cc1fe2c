package fast

import (
	"context"
	"fmt"
	"net"
	"os"

	"github.com/collgen/collgen/fast/internal/rendezvous"
	"github.com/collgen/collgen/fast/internal/shm"
)

// connect meets the other ranks and shares memory with them.
func connect(ctx context.Context, p *place) (transport, error) {
	if p.size > shm.MaxSize {
		return nil, Refuse("Init", "%d ranks, want at most %d", p.size, shm.MaxSize)
	}
	if err := onThisMachine(ctx, p.master); err != nil {
		return nil, err
	}
	m, err := rendezvous.Join(ctx, rendezvous.Job{Rank: p.rank, Size: p.size, Name: p.job, Dir: p.dir})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	t, err := share(ctx, m, p)
	if err != nil {
		m.Fail(err)
		return nil, err
	}
	if err := m.Ready(ctx); err != nil {
		m.Fail(err)
		t.Abort()
		return nil, err
	}
	return t, nil
}

// share attaches this rank to the memory that rank 0 makes for all.
func share(ctx context.Context, m *rendezvous.Meeting, p *place) (*shm.Endpoint, error) {
	if p.rank > 0 {
		files, err := m.Take(ctx)
		if err != nil {
			return nil, err
		}
		return shm.Attach(p.rank, p.size, files)
	}
	o, err := shm.NewOrigin(p.size)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	for rank := 1; rank < p.size; rank++ {
		if err := m.Give(rank, o.Files(rank)); err != nil {
			return nil, err
		}
	}
	return o.Attach(0)
}

// onThisMachine refuses the name or address of another machine.
func onThisMachine(ctx context.Context, host string) error {
	if name, err := os.Hostname(); host == "" || host == "localhost" || (err == nil && host == name) {
		return nil
	}
	theirs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("MASTER_ADDR: %w", err)
	}
	ours, err := net.InterfaceAddrs()
	if err != nil {
		return err
	}
	for _, addr := range theirs {
		addr = addr.Unmap()
		if addr.IsLoopback() {
			return nil
		}
		for _, a := range ours {
			if n, ok := a.(*net.IPNet); ok && n.IP.Equal(addr.AsSlice()) {
				return nil
			}
		}
	}
	return fmt.Errorf("MASTER_ADDR is %s, which is not this machine: %w", host, errSeveralMachines)
}
