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

// A process of a host has a count of its own, which it shows to those that it has a handshake with. All that the first
// one introduces to each other have theirs on one tally, which it makes: to show each its own, each of them would have
// to map a file for each other one. They share a secret, so none can do by a false count what it could not do anyway.

// The seals fix the length of the memory, so that no access to it can fail. Nobody else may write to a process's own.
const (
	tallySeals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	beatsSeals = tallySeals | unix.F_SEAL_FUTURE_WRITE
)

// slotBytes is what a process's count takes on a tally: a cache line.
const slotBytes = 64

// newBeats returns a new count, which starts from 1.
func newBeats() (*beats, error) {
	b, err := newCounts(os.Getpagesize(), beatsSeals)
	if err != nil {
		return nil, err
	}
	b.beat(0)
	return b, nil
}

// newTally returns a new tally with the counts of so many processes.
func newTally(processes int) (*beats, error) { return newCounts(tallyBytes(processes), tallySeals) }

// tallyBytes returns the length of a tally: whole pages.
func tallyBytes(processes int) int {
	page := os.Getpagesize()
	return (processes*slotBytes + page - 1) / page * page
}

func newCounts(bytes, seals int) (_ *beats, err error) {
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
	if err := unix.Fallocate(file, 0, 0, int64(bytes)); err != nil {
		return nil, fmt.Errorf("allocating %d bytes of shared memory: %w", bytes, err)
	}
	if b.memory, err = unix.Mmap(file, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	if err := seal(file, seals); err != nil { // before Linux 5.1
		return nil, fmt.Errorf("sealing shared memory: %w", err)
	}
	return b, nil
}

// seal seals a file. Tests replace it.
var seal = func(file, seals int) error {
	_, err := unix.FcntlInt(uintptr(file), unix.F_ADD_SEALS, seals)
	return err
}

// openBeats maps and closes the file that another process has sent as its count.
func openBeats(file int) (*beats, error) {
	return openCounts(file, os.Getpagesize(), beatsSeals, unix.PROT_READ)
}

// openTally maps and closes the file that another process has sent as a tally.
func openTally(file, processes int) (*beats, error) {
	return openCounts(file, tallyBytes(processes), tallySeals, unix.PROT_READ|unix.PROT_WRITE)
}

func openCounts(file, bytes, seals, access int) (*beats, error) {
	defer closeFiles([]int{file})
	var s unix.Stat_t
	if err := unix.Fstat(file, &s); err != nil {
		return nil, err
	}
	got, err := unix.FcntlInt(uintptr(file), unix.F_GET_SEALS, 0)
	if err != nil || got&beatsSeals != seals || s.Size != int64(bytes) || s.Blocks < s.Size/512 {
		return nil, fmt.Errorf("%w: %d bytes, of which %d are there, seals %#x, %v", errBeats, s.Size, s.Blocks*512, got, err)
	}
	memory, err := unix.Mmap(file, 0, bytes, access, unix.MAP_SHARED)
	return &beats{-1, memory}, err
}

// slot returns a process's count on a tally. It is not closed.
func (b *beats) slot(process int) *beats {
	return &beats{-1, b.memory[process*slotBytes:][:slotBytes:slotBytes]}
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
	if b.memory != nil {
		_ = unix.Munmap(b.memory)
	}
	b.memory = nil
	if b.file >= 0 {
		_ = unix.Close(b.file)
		b.file = -1
	}
}
