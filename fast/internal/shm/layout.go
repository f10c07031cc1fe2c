//go:build linux

package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
)

// The shared memory: a header, a control block per rank, a ring per ordered pair of ranks, and a board per rank if there
// are more than two. All of it is a function of the number of ranks. Whatever is read from it may have been written by a
// broken process: what says where data lie, or how many, is checked before it is used, and nothing read is an address here.
const (
	// MaxSize is the largest number of ranks. The memory grows with its square.
	MaxSize = 256

	slots   = 8         // segments that a ring holds; a power of two, so that counters may wrap around
	maxSlot = 128 << 10 // bytes of a slot
	minSlot = 1 << 10
	budget  = 64 << 20 // bytes of all slots together, up to 91 ranks; more ranks have slots of minSlot each
	stagger = 320      // between slots, so that the beginnings of all slots do not meet in the same cache sets
	// Calls of a rank that others can read: those of the messages that wait in a ring, the current one, and a few that
	// send nothing to the rank that reads. More of these outrun it: then only a call's fingerprint is known.
	history = 2 * slots
	huge    = 2 << 20 // bytes of a huge page

	magic   = 0x676c6c6f63 // "collg"
	version = 8
)

// header begins the shared memory.
type header struct {
	magic         uint64
	version, size uint32
	_             [4096 - 16]byte
}

// control is what one rank tells all others.
type control struct {
	// doorbell is the futex that the rank sleeps on. sleeping says what would wake it: see want.
	doorbell, sleeping atomic.Uint32
	cpu                atomic.Uint32 // the processor that the rank has run on, plus 1; 0: not known
	_                  [116]byte

	closed atomic.Uint32 // not 0: the rank has left
	_      [4]byte
	card   card // how others can read the memory of its process
	_      [96]byte

	calls [history]record
}

// record is a call that a rank has begun. It is written without a lock: a reader takes a copy, which is good if its
// fingerprint is the right one.
type record struct {
	fingerprint uint64
	call        wire.Call
}

// line announces one segment of a message. One that is short enough lies in the line itself, so that one or two cache
// lines, which processors fetch in pairs, take all of it from rank to rank.
type line struct {
	seq         atomic.Uint32 // number of the segment in its ring, plus 1; written last
	left        uint32        // bytes of the message from this segment on; at most MaxUint32
	fingerprint uint64        // of the message's call
	where       uint32        // 0: the data are in the line or the slot; 1 and up: on the sender's board; inRegion: see place
	_           uint32
	inline      [inline]byte
}

const inline = 128 - 24

// ringHead begins a ring; the slots follow.
type ringHead struct {
	lines [slots]line
	tail  atomic.Uint32 // how many segments the receiver has taken
	_     [124]byte
	// What the receiver and the sender wait for here, once they have slept in vain.
	receiver, sender stuck
	// Calls of messages that have one of their own, by the line of the message's first segment.
	calls [slots]record
	// withdrawn, if not 0, says that the sender has given up while a message that it had offered was not taken.
	withdrawn atomic.Uint32
	// readable, if not 0, says that the receiver can read the memory of the sender's process.
	readable atomic.Uint32
	_        [8]byte
}

// stuck is for which segment a rank waits at one end of a ring, and in which call: see stuckAt.
type stuck struct {
	at   atomic.Uint64
	call record
}

// memory is a mapping of the shared memory.
type memory struct {
	bytes []byte
	size  int // ranks
	slot  int // bytes per slot
}

// slotBytes is the length of the slots for size ranks: the largest power of two from minSlot to maxSlot that keeps all
// slots within the budget.
func slotBytes(size int) int {
	slot := maxSlot
	for slot > minSlot && size*(size-1) > budget/(slots*slot) {
		slot /= 2
	}
	return slot
}

// ringBytes is the length of a ring with slots of the given length.
func ringBytes(slot int) int { return int(unsafe.Sizeof(ringHead{})) + slots*(slot+stagger) }

func ringsOffset(size int) int {
	return int(unsafe.Sizeof(header{})) + size*int(unsafe.Sizeof(control{}))
}

// boardBytes is the length of a board with slots of the given length.
func boardBytes(slot int) int { return posts * (slot + stagger) }

func boardsOffset(size int) int {
	return ringsOffset(size) + size*(size-1)*ringBytes(slotBytes(size))
}

// memoryBytes is the length of the shared memory for size ranks, a multiple of the length of huge pages: besides the
// header, 2048 bytes per rank, 4864 bytes and 8 slots per ordered pair of ranks, and 4 slots per rank if there are more than
// two. That is 4 MiB for 2 ranks, at most 104 MiB for up to 91, and 816 MiB for 256. Create takes all of it at once.
func memoryBytes(size int) int {
	n := boardsOffset(size)
	if size > 2 {
		n += size * boardBytes(slotBytes(size))
	}
	return (n + huge - 1) / huge * huge
}

// post is a slot of a rank's board; there is none for two ranks.
func (m *memory) post(rank, i int) []byte {
	if m.size <= 2 {
		return nil
	}
	at := boardsOffset(m.size) + rank*boardBytes(m.slot) + i*(m.slot+stagger)
	return m.bytes[at : at+m.slot : at+m.slot]
}

func (m *memory) header() *header { return (*header)(unsafe.Pointer(&m.bytes[0])) }

func (m *memory) control(rank int) *control {
	at := int(unsafe.Sizeof(header{})) + rank*int(unsafe.Sizeof(control{}))
	return (*control)(unsafe.Pointer(&m.bytes[at]))
}

// ring is the ring from one rank to another.
func (m *memory) ring(from, to int) ring {
	index := from*(m.size-1) + to
	if to > from {
		index--
	}
	length := ringBytes(m.slot)
	at := ringsOffset(m.size) + index*length
	b := m.bytes[at : at+length : at+length]
	return ring{head: (*ringHead)(unsafe.Pointer(&b[0])), slots: b[unsafe.Sizeof(ringHead{}):], slot: m.slot}
}

// initialize makes m the memory of m.size ranks.
func (m *memory) initialize() {
	h := m.header()
	h.magic, h.version, h.size = magic, version, uint32(m.size)
}

// check says why m is not the memory of m.size ranks, if it is not.
func (m *memory) check() error {
	h := m.header()
	if h.magic != magic || h.version != version || int(h.size) != m.size {
		return fmt.Errorf("the shared memory is not that of %d ranks, version %d", m.size, version)
	}
	return nil
}
