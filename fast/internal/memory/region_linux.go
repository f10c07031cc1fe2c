package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/shm"
	"github.com/collgen/collgen/fast/internal/transport"
)

// region is memory outside Go's heap that other processes of this host can map.
type region struct {
	*shm.Region
	file int // a descriptor until the others have theirs, then -1
}

// registrar is a transport whose ranks read from each other's regions.
type registrar interface {
	Register(number uint64, r *shm.Region, files []int) error
	Unregister(number uint64)
}

// registrar returns the transport to the ranks that can read this one's regions, and these ranks, in the order of that
// transport; nil if there is none.
func (p *Pool) registrar() (t registrar, local []int) {
	if both, ok := p.transport.(*transport.Composite); ok {
		half, members := both.Near()
		if t, _ = half.(registrar); t != nil {
			return t, members
		}
	} else {
		t, _ = p.transport.(registrar)
	}
	if t == nil {
		return nil, nil
	}
	for rank := range p.size {
		local = append(local, rank)
	}
	return t, local
}

// newRegion makes a region of n bytes. It fails if this process cannot open the files of the other ranks' regions.
func (p *Pool) newRegion(n int, number uint64) (*region, error) {
	r, file, err := shm.NewRegion(n, p.rank+int(number%1024)*p.size)
	if err != nil {
		return nil, err
	}
	_, local := p.registrar()
	if err = checkCanOpen(file, len(local)-1); err != nil {
		r.Free()
		return nil, errors.Join(err, unix.Close(file))
	}
	return &region{r, file}, nil
}

// checkCanOpen returns an error if this process cannot open n more files.
func checkCanOpen(file, n int) error {
	var opened []int
	defer func() {
		for _, fd := range opened {
			_ = unix.Close(fd)
		}
	}()
	for range n {
		fd, err := unix.FcntlInt(uintptr(file), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%d more files are to be opened: %w", n, err)
		}
		opened = append(opened, fd)
	}
	return nil
}

// exchangeFiles has the ranks of this host map each other's regions.
func (p *Pool) exchangeFiles(ctx context.Context, g *setup.Group, a *allocation) error {
	t, local := p.registrar()
	for _, rank := range local {
		if rank != p.rank {
			g.Plane.Send(g.Members[rank], g.Topic(control.KindFound), nil, a.file)
		}
	}
	err := unix.Close(a.file) // the messages have copies
	a.file = -1
	if err != nil || t == nil {
		return err
	}
	files, err := collect(ctx, g, local)
	if err != nil {
		return err
	}
	return t.Register(a.number, a.Region, files)
}

// collect returns the descriptors that the other ranks of this host have sent, in the order of local; -1 for this one.
func collect(ctx context.Context, g *setup.Group, local []int) (files []int, err error) {
	files = slices.Repeat([]int{-1}, len(local))
	defer func() {
		for _, fd := range files {
			if err != nil && fd >= 0 {
				_ = unix.Close(fd)
			}
		}
	}()
	for range len(local) - 1 {
		missing := unheard(g, local, files)
		m, err := g.Plane.ReceiveFiles(ctx, g.Topic(control.KindFound))
		if err != nil {
			return files, g.Unheard(ctx, err, missing)
		}
		file, err := setup.MemoryOf(m, missing)
		if err != nil {
			return files, err
		}
		files[slices.Index(local, slices.Index(g.Members, m.From))] = file
	}
	return files, nil
}

// unheard returns the processes of the other ranks in local that have sent no file yet.
func unheard(g *setup.Group, local, files []int) (missing []int) {
	for at, rank := range local {
		if rank != g.Rank && files[at] < 0 {
			missing = append(missing, g.Members[rank])
		}
	}
	return missing
}

// release frees a region, and tells the transport.
func (p *Pool) release(a allocation) {
	if t, _ := p.registrar(); t != nil {
		t.Unregister(a.number)
	}
	if a.file >= 0 {
		_ = unix.Close(a.file)
	}
	a.Free()
}
