//go:build linux

package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Origin is what one process makes for all ranks, which each of them then gets its files of.
type Origin struct {
	size   int
	memory int // the shared memory
	// The lifelines, by rank: the ends for reading, which all others get, and the end for writing, which the rank gets.
	readers, writers []int
}

// NewOrigin makes the shared memory and the lifelines for size ranks.
func NewOrigin(size int) (*Origin, error) {
	if size < 2 || size > MaxSize {
		return nil, fmt.Errorf("%d ranks: shared memory serves 2 to %d", size, MaxSize)
	}
	fd, err := createMemory(size)
	if err != nil {
		return nil, err
	}
	f := &Origin{size: size, memory: fd}
	for range size {
		var p [2]int
		if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
			return nil, errors.Join(fmt.Errorf("pipe2: %w", err), f.Close())
		}
		f.readers, f.writers = append(f.readers, p[0]), append(f.writers, p[1])
	}
	return f, nil
}

// Files are the descriptors that rank gets, for its Attach: its own copies of them. They stay f's.
func (f *Origin) Files(rank int) []int {
	files := []int{f.memory, f.writers[rank]}
	for r, fd := range f.readers {
		if r != rank {
			files = append(files, fd)
		}
	}
	return files
}

// Attach is Attach for a rank in this process.
func (f *Origin) Attach(rank int) (*Endpoint, error) {
	var files []int
	for _, fd := range f.Files(rank) {
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("dup: %w", err), closeAll(files))
		}
		files = append(files, dup)
	}
	return Attach(rank, f.size, files)
}

// Close closes f's files. Only then the end of a rank is the end of its lifeline.
func (f *Origin) Close() error {
	err := closeAll(append(append([]int{f.memory}, f.readers...), f.writers...))
	f.memory, f.readers, f.writers = -1, nil, nil
	return err
}

func closeAll(fds []int) error {
	var errs []error
	for _, fd := range fds {
		errs = append(errs, unix.Close(fd))
	}
	return errors.Join(errs...)
}
