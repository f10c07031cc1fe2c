//go:build linux

package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// seals fix the length of the shared memory, so that no access to it can fail.
const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// Create makes the shared memory for size ranks and returns a descriptor of its file. Every rank needs its own
// descriptor for Attach. The memory that ranks have from the beginning is allocated by them, so that a lack of it is an
// error of Create or Attach and not a signal on use: the first part here, which has all that Attach uses, and the
// others by one rank each, at the same time. Before Linux 5.14, which cannot be asked for more later, everything is
// allocated here.
func Create(size int) (fd int, err error) {
	if size < 2 || size > MaxSize {
		return -1, fmt.Errorf("%d ranks: shared memory serves 2 to %d", size, MaxSize)
	}
	bytes := idleBytes(size)
	fd, err = unix.MemfdCreate("collgen", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(noMemory(bytes, size, err), unix.Close(fd))
			fd = -1
		}
	}()
	if err := unix.Ftruncate(fd, int64(memoryBytes(size))); err != nil {
		return fd, err
	}
	m, err := mapMemory(fd, size)
	if err != nil {
		return fd, err
	}
	defer m.unmap()
	_, now := idlePart(0, size)
	if advise(m.bytes[:page], unix.MADV_POPULATE_WRITE) == unix.EINVAL {
		bytes, now = len(m.bytes), len(m.bytes)
	}
	if err = spare.take(int64(bytes)); err != nil {
		return fd, err
	}
	if err = populate(fd, m.bytes, 0, now); err != nil {
		return fd, err
	}
	m.initialize()
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	return fd, err
}

// noMemory returns the error of a rank that gets no memory because of err.
func noMemory(bytes, size int, err error) error {
	return fmt.Errorf("allocating %d KiB of shared memory for %d ranks: %w", bytes>>10, size, err)
}

// populatePart allocates the memory that a rank allocates.
func (m *memory) populatePart(fd, rank int) error {
	from, to := idlePart(rank, m.size)
	if err := populate(fd, m.bytes, from, to); err != nil {
		return noMemory(to-from, m.size, err)
	}
	return nil
}

// openMemory maps a file that another process claims is the shared memory of size ranks.
func openMemory(fd, size int) (*memory, error) {
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || got&seals != seals {
		return nil, fmt.Errorf("the shared memory is not sealed (%#x, %v)", got, err)
	}
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return nil, err
	}
	if want := memoryBytes(size); s.Size != int64(want) {
		return nil, fmt.Errorf("the shared memory for %d ranks has %d bytes, want %d", size, s.Size, want)
	}
	m, err := mapMemory(fd, size)
	if err != nil {
		return nil, err
	}
	if err := m.check(); err != nil {
		m.unmap()
		return nil, err
	}
	return m, nil
}

func mapMemory(fd, size int) (*memory, error) {
	b, err := mapShared(fd, memoryBytes(size), unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		return nil, err
	}
	return &memory{bytes: b, size: size}, nil
}

func (m *memory) unmap() {
	unmapShared(m.bytes)
	m.bytes = nil
}
