package mesh

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// beats is a process's count of its heartbeats, and its delay, in memory that the other processes of its host read. So
// a heartbeat wakes nobody up, no matter how many processes there are.
type beats struct {
	file   int
	memory []byte
}

// beatsSeals fix the length of the memory, so that no access to it can fail, and keep others from writing to it.
const beatsSeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL | unix.F_SEAL_FUTURE_WRITE

// newBeats returns a new count, which starts from 1 so that its memory is allocated.
func newBeats() (_ *beats, err error) {
	file, err := unix.MemfdCreate("collgen-heartbeats", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create: %w", err)
	}
	b := &beats{file: file}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	bytes := os.Getpagesize()
	if err := unix.Fallocate(file, 0, 0, int64(bytes)); err != nil {
		return nil, fmt.Errorf("allocating %d bytes of shared memory: %w", bytes, err)
	}
	if b.memory, err = unix.Mmap(file, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	b.beat(0)
	if err := seal(file); err != nil { // before Linux 5.1
		return nil, fmt.Errorf("sealing shared memory: %w", err)
	}
	return b, nil
}

// seal seals a file with beatsSeals. Tests replace it.
var seal = func(file int) error {
	_, err := unix.FcntlInt(uintptr(file), unix.F_ADD_SEALS, beatsSeals)
	return err
}

// openBeats maps and closes the file that another process has sent as its count.
func openBeats(file int) (*beats, error) {
	defer closeFiles([]int{file})
	var s unix.Stat_t
	if err := unix.Fstat(file, &s); err != nil {
		return nil, err
	}
	got, err := unix.FcntlInt(uintptr(file), unix.F_GET_SEALS, 0)
	if err != nil || got&beatsSeals != beatsSeals || s.Size != int64(os.Getpagesize()) || s.Blocks < s.Size/512 {
		return nil, fmt.Errorf("%w: %d bytes, of which %d are there, seals %#x, %v", errBeats, s.Size, s.Blocks*512, got, err)
	}
	memory, err := unix.Mmap(file, 0, int(s.Size), unix.PROT_READ, unix.MAP_SHARED)
	return &beats{-1, memory}, err
}

func (b *beats) count() *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&b.memory[0])) }

func (b *beats) late() *atomic.Int64 { return (*atomic.Int64)(unsafe.Pointer(&b.memory[8])) }

func (b *beats) beat(late int64) {
	b.late().Store(late)
	b.count().Add(1)
}

// beaten returns the count.
func (b *beats) beaten() uint64 { return b.count().Load() }

func (b *beats) close() {
	if b == nil {
		return
	}
	_ = unix.Munmap(b.memory)
	b.memory = nil
	if b.file >= 0 {
		_ = unix.Close(b.file)
		b.file = -1
	}
}
