package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/fast/internal/control"
	"github.com/collgen/collgen/fast/internal/setup"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/shm"
	"github.com/collgen/collgen/fast/internal/transport"
)

// region is memory outside of Go's heap, of which other processes of this host can have a mapping.
type region struct {
	*shm.Region
	file int // a descriptor, until the others have theirs; then -1
}

// registrar is a transport whose ranks read from each other's regions.
type registrar interface {
	Register(number uint64, r *shm.Region, files []int) error
	Unregister(number uint64)
}

// registrar returns c's transport to the ranks that can read from this one's regions, and these, by their rank in it;
// nil if there is none.
func (c *Comm) registrar() (t registrar, near []int) {
	if both, ok := c.exec.Transport.(*transport.Composite); ok {
		half, members := both.Near()
		if t, _ = half.(registrar); t != nil {
			return t, members
		}
	} else {
		t, _ = c.exec.Transport.(registrar)
	}
	if t == nil {
		return nil, nil
	}
	for rank := range c.size {
		near = append(near, rank)
	}
	return t, near
}

// newRegion makes a region of n bytes, and looks whether this process can open the files of those of the other ranks.
func (c *Comm) newRegion(n int, number uint64) (*region, error) {
	r, file, err := shm.NewRegion(n, c.rank+int(number%1024)*c.size)
	if err != nil {
		return nil, err
	}
	_, near := c.registrar()
	if err = c.canOpen(file, len(near)-1); err != nil {
		r.Free()
		return nil, errors.Join(err, unix.Close(file))
	}
	return &region{r, file}, nil
}

// canOpen returns why this process cannot open n more files, if it cannot.
func (c *Comm) canOpen(file, n int) error {
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
func (c *Comm) exchangeFiles(ctx context.Context, f *setup.Group, a *allocation) error {
	t, near := c.registrar()
	for _, rank := range near {
		if rank != c.rank {
			f.Plane.Send(f.Members[rank], f.Topic(control.KindFound), nil, a.file)
		}
	}
	err := unix.Close(a.file) // the messages have copies
	a.file = -1
	if err != nil || t == nil {
		return err
	}
	files, err := c.collect(ctx, f, near)
	if err != nil {
		return err
	}
	return t.Register(a.number, a.Region, files)
}

// collect returns the descriptors that the other ranks of this host have sent, in the order of near; -1 for this one.
func (c *Comm) collect(ctx context.Context, f *setup.Group, near []int) (files []int, err error) {
	files = slices.Repeat([]int{-1}, len(near))
	defer func() {
		for _, fd := range files {
			if err != nil && fd >= 0 {
				_ = unix.Close(fd)
			}
		}
	}()
	for range len(near) - 1 {
		missing := unheard(f, near, files)
		m, err := f.Plane.ReceiveFiles(ctx, f.Topic(control.KindFound))
		if err != nil {
			return files, f.Unheard(ctx, err, missing)
		}
		file, err := setup.MemoryOf(m, missing)
		if err != nil {
			return files, err
		}
		files[slices.Index(near, slices.Index(f.Members, m.From))] = file
	}
	return files, nil
}

// unheard returns the processes of the ranks near that have sent no file yet, this one aside.
func unheard(f *setup.Group, near, files []int) (missing []int) {
	for at, rank := range near {
		if rank != f.Rank && files[at] < 0 {
			missing = append(missing, f.Members[rank])
		}
	}
	return missing
}

// release ends all use of a region.
func (c *Comm) release(a allocation) {
	if t, _ := c.registrar(); t != nil {
		t.Unregister(a.number)
	}
	if a.file >= 0 {
		_ = unix.Close(a.file)
	}
	a.Free()
}
