//go:build linux

package shm

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// Region is memory of this process that other ranks' processes map read-only: a file without a name and of fixed
// length.
type Region struct {
	Bytes  []byte // zeros at first
	mapped []byte // the whole file; Bytes begin at an offset
}

// Regions that all begin at the same offset in their pages would compete for the same cache sets. Also, a processor
// mistakes a read for one of data just written a multiple of a page away.
const (
	regionStagger = 5 * 64
	regionStarts  = 12 // number of different offsets; together less than a page of 4 KiB
)

// regionSeals fix the length of a region, so that no access to it can fail, and keep other processes from writing to
// it.
const regionSeals = seals | unix.F_SEAL_FUTURE_WRITE

// NewRegion returns a region of n bytes, zeroed, and a descriptor of its file for the other ranks. Regions with
// consecutive salts begin at different offsets in their pages. All memory is taken now, and a lack of it is an error.
func NewRegion(n, salt int) (r *Region, fd int, err error) {
	start, page := salt%regionStarts*regionStagger, os.Getpagesize()
	if err := spare.take(int64(n)); err != nil {
		return nil, -1, fmt.Errorf("allocating %d bytes of shared memory: %w", n, err)
	}
	whole := (n + start + page) / page * page
	if n >= huge {
		whole = (whole + huge - 1) / huge * huge
	}
	if fd, err = unix.MemfdCreate("collgen", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING); err != nil {
		return nil, -1, fmt.Errorf("memfd_create: %w", err)
	}
	mapped, err := fillRegion(fd, whole)
	if err != nil {
		return nil, -1, errors.Join(fmt.Errorf("allocating %d bytes of shared memory: %w", n, err), unix.Close(fd))
	}
	return &Region{Bytes: mapped[start : start+n : start+n], mapped: mapped}, fd, nil
}

// fillRegion maps a new file, gives it memory, and seals it.
func fillRegion(fd, whole int) ([]byte, error) {
	if err := unix.Ftruncate(fd, int64(whole)); err != nil {
		return nil, err
	}
	mapped, err := mapShared(fd, whole, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		return nil, err
	}
	if err = populate(fd, mapped, 0, len(mapped)); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, regionSeals)
	}
	if err != nil {
		unmapShared(mapped)
		return nil, err
	}
	return mapped, nil
}

// Free unmaps the region. Its memory is free when the other ranks have unmapped it too. Nothing may use Bytes any more.
func (r *Region) Free() {
	unmapShared(r.mapped)
	r.Bytes, r.mapped = nil, nil
}

// openRegion maps a file that another process claims is a region. It checks that the length is fixed and that all of it
// has memory, so that no access can fail.
func openRegion(fd int) ([]byte, error) {
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return nil, err
	}
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	switch {
	case err != nil || got&regionSeals != regionSeals:
		return nil, fmt.Errorf("a region is not sealed (%#x, %v)", got, err)
	case s.Size <= 0 || s.Size%int64(os.Getpagesize()) != 0 || s.Size != int64(int(s.Size)):
		return nil, fmt.Errorf("a region has %d bytes", s.Size)
	case s.Blocks < s.Size/512:
		return nil, fmt.Errorf("a region of %d bytes has memory for %d", s.Size, s.Blocks*512)
	}
	mapped, err := mapShared(fd, int(s.Size), unix.PROT_READ)
	if err == nil {
		_ = unix.Madvise(mapped, unix.MADV_POPULATE_READ) // otherwise pages are read when they are needed
	}
	return mapped, err
}

// Register lets this rank send from r without copies and read from the regions of the others. Files are descriptors of
// the others' regions, by rank; Register closes them. All ranks register under the same number, each its own region,
// while none is in an Exchange.
func (e *Endpoint) Register(number uint64, r *Region, files []int) (err error) {
	if !e.guard.acquire() {
		return errors.Join(e.reason(), closeFiles(files))
	}
	defer e.release()
	for rank, fd := range files {
		if rank == e.rank {
			continue
		}
		mapped, bad := openRegion(fd)
		if bad != nil {
			err = cmp.Or(err, fmt.Errorf("rank %d: %w", rank, bad))
			continue
		}
		l := &e.links[rank]
		l.regions = append(l.regions, registered{number, mapped})
	}
	at, _ := e.regionAt(address(r.mapped))
	e.regions = slices.Insert(e.regions, at, registered{number, r.mapped})
	if err != nil {
		e.unregister(number)
	}
	return errors.Join(err, closeFiles(files))
}

// closeFiles closes descriptors, except negative ones.
func closeFiles(files []int) (err error) {
	for _, fd := range files {
		if fd >= 0 {
			err = errors.Join(err, unix.Close(fd))
		}
	}
	return err
}

// Unregister ends the use of the regions registered under a number. This rank's region remains for its owner to free.
func (e *Endpoint) Unregister(number uint64) {
	if e.guard.acquire() {
		defer e.release()
		e.unregister(number)
	}
}

func (e *Endpoint) unregister(number uint64) {
	is := func(r registered) bool { return r.number == number }
	e.regions = slices.DeleteFunc(e.regions, is)
	for rank := range e.links {
		l := &e.links[rank]
		if mapped := l.region(number); mapped != nil {
			unmapShared(mapped)
			l.regions = slices.DeleteFunc(l.regions, is)
		}
	}
}

// region returns the region that l's peer has registered under a number, or nil.
func (l *link) region(number uint64) []byte {
	for i := range l.regions {
		if l.regions[i].number == number {
			return l.regions[i].mapped
		}
	}
	return nil
}

// regionAt returns the index of the region that contains an address among this rank's, which are sorted by address, or
// the index at which it would be inserted.
func (e *Endpoint) regionAt(a uintptr) (at int, found bool) {
	return slices.BinarySearchFunc(e.regions, a, func(r registered, a uintptr) int {
		switch from := address(r.mapped); {
		case a < from:
			return 1
		case a-from >= uintptr(len(r.mapped)):
			return -1
		}
		return 0
	})
}

// registeredPlace returns the place of data in one of this rank's regions, if they lie in one.
func (e *Endpoint) registeredPlace(data []byte) (place, bool) {
	if len(e.regions) == 0 {
		return place{}, false
	}
	at, found := e.regionAt(address(data))
	if !found {
		return place{}, false
	}
	r := e.regions[at]
	offset := address(data) - address(r.mapped)
	if len(data) > len(r.mapped)-int(offset) {
		return place{}, false
	}
	return place{number: r.number, at: uint64(offset), length: uint64(len(data))}, true
}
