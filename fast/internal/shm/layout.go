//go:build linux

package shm

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
)

// The shared memory begins with a header, a control block per rank, a ring per ordered pair of ranks and, if there are
// more than two ranks, multicast slots per rank. All these slots are small. Then follow, for each rank, the full slots
// of the same rings and multicasts, which have no memory until the rank grows. The layout depends only on the number of
// ranks. Anything read from the memory may have been written by a broken process: positions and lengths are checked
// before they are used, and nothing read is used as an address here.
const (
	// MaxSize is the largest number of ranks. The memory grows with its square.
	MaxSize = 256

	slots   = 8         // segments in slots that a ring holds; a power of two, so that counters may wrap around
	depth   = 32        // segments that it holds if they lie in their lines; likewise, and a multiple of slots
	small   = 1 << 10   // bytes of a small slot
	maxSlot = 128 << 10 // most bytes of a full one
	few     = 8         // most ranks whose rings have full slots
	budget  = 64 << 20  // bytes of all full slots of more ranks
	stagger = 320       // between slots, so that the beginnings of all slots do not meet in the same cache sets
	// history is how many calls of a rank others can read: those of the messages that wait in a ring, the current one,
	// and a few that send nothing to the reader. Beyond that, only a call's fingerprint is known.
	history = 2 * depth
	page    = 4 << 10 // what the memory is made of, as far as its length is concerned
	huge    = 2 << 20 // bytes of a huge page

	magic   = 0x676c6c6f63 // "collg"
	version = 11
)

// header begins the shared memory.
type header struct {
	magic         uint64
	version, size uint32
	_             [4096 - 16]byte
}

// control is what one rank publishes to all others.
type control struct {
	// doorbell is the futex that the rank sleeps on. sleeping encodes what would wake it: see want.
	doorbell, sleeping atomic.Uint32
	cpu                atomic.Uint32 // the processor that the rank has run on, plus 1; 0: not known
	orders             atomic.Uint32 // not 0: see order
	_                  [112]byte

	closed atomic.Uint32 // not 0: the rank has left
	_      [4]byte
	card   card // how others can read the memory of its process
	_      [96]byte

	calls [history]record
}

// record is a call that a rank has begun. It is written without a lock: a reader takes a copy, which is consistent if
// its fingerprint matches.
type record struct {
	fingerprint uint64
	_           [112 - unsafe.Sizeof(wire.Call{})]byte // nothing, with 64 bits
	call        wire.Call
}

// line announces one segment of a message. A short one lies in the line itself, so that one or two cache lines, which
// processors fetch in pairs, carry all of it from rank to rank.
type line struct {
	seq         atomic.Uint32 // number of the segment in its ring, plus 1; written last
	left        uint32        // bytes of the message from this segment on; at most MaxUint32
	fingerprint uint64        // of the message's call
	where       uint32        // where the data are
	_           uint32
	inline      [inline]byte
}

const inline = 128 - 24

// The values of line.where for segments that are not offered.
const (
	// in the line if they fit there, or else in the ring's small slot of that line
	inSmall         = iota
	inFull                                         // in its full slot
	inMulticast                                    // in small multicast slot 0 of the sender, and so on
	inFullMulticast = inMulticast + multicastSlots // in full slot 0
	nowhere         = inFullMulticast + maxMulticastSlots
)

// ringHead begins a ring; the small slots follow.
type ringHead struct {
	lines [depth]line
	tail  atomic.Uint32 // how many segments the receiver has taken
	_     [124]byte
	// What the receiver and the sender wait for here, once they have slept a whole nap.
	receiver, sender stuck
	// Calls of messages that have one of their own, by the line of the message's first segment.
	calls [slots]record
	// withdrawn, if not 0, says that the sender has given up while a message that it had offered was not taken.
	withdrawn atomic.Uint32
	// readable, if not 0, says that the receiver can read the memory of the sender's process.
	readable atomic.Uint32
	_        [56]byte
}

// stuck is the segment that a rank waits for at one end of a ring, and its call: see stuckAt.
type stuck struct {
	at   atomic.Uint64
	call record
}

// memory is a mapping of the shared memory.
type memory struct {
	bytes []byte
	size  int // ranks
}

// fullSlots returns how many full slots a ring has, and a multicast, among size ranks, and of how many bytes all of
// them are: the largest power of two up to maxSlot that keeps them within the budget. Many ranks have none in their
// rings: messages to a single rank use multicast slots too, so that the memory grows with the ranks and not with their
// pairs.
func fullSlots(size int) (ring, multicast, slot int) {
	switch {
	case size == 2:
		return slots, 0, maxSlot
	case size <= few:
		return slots, multicastSlots, maxSlot
	}
	for slot = maxSlot; size*maxMulticastSlots*slot > budget; {
		slot /= 2
	}
	return 0, maxMulticastSlots, slot
}

const (
	ringBytes      = int(unsafe.Sizeof(ringHead{})) + slots*(small+stagger)
	multicastBytes = multicastSlots * (small + stagger)
)

// multicasts returns how many of size ranks have multicast slots.
func multicasts(size int) int {
	if size == 2 {
		return 0
	}
	return size
}

func ringsOffset(size int) int {
	return int(unsafe.Sizeof(header{})) + size*int(unsafe.Sizeof(control{}))
}

func multicastOffset(size int) int { return ringsOffset(size) + size*(size-1)*ringBytes }

// idleBytes returns the length of what size ranks have from the beginning: a header of 4 KiB, 7.75 KiB per rank, 15.9
// KiB per ordered pair of ranks, and 5.25 KiB per rank if there are more than two. That is 52 KiB for 2 ranks, 248 KiB
// for 4, 63 MiB for 64, and 1015 MiB for 256.
func idleBytes(size int) int {
	n := multicastOffset(size) + multicasts(size)*multicastBytes
	return (n + page - 1) / page * page
}

// idlePart returns which of these bytes a rank allocates: whole huge pages as far as there are any, and none if the
// ranks before it have allocated all.
func idlePart(rank, size int) (from, to int) {
	n := idleBytes(size)
	part := (n/size + huge) &^ (huge - 1)
	return min(rank*part, n), min((rank+1)*part, n)
}

// ownBytes returns the length of one rank's full slots.
func ownBytes(size int) int {
	ring, multicast, slot := fullSlots(size)
	return (size-1)*rowBytes(ring, slot) + rowBytes(multicast, slot)
}

// memoryBytes returns the length of the shared memory for size ranks with all full slots. Those are 1 MiB per ordered
// pair of ranks, and 0.5 MiB per rank if there are more than two; among more than 8 ranks, no more than 69 MiB in all.
func memoryBytes(size int) int {
	n := idleBytes(size) + size*ownBytes(size)
	return (n + page - 1) / page * page
}

func (m *memory) header() *header { return (*header)(unsafe.Pointer(&m.bytes[0])) }

func (m *memory) control(rank int) *control {
	at := int(unsafe.Sizeof(header{})) + rank*int(unsafe.Sizeof(control{}))
	return (*control)(unsafe.Pointer(&m.bytes[at]))
}

// part returns length bytes of m from offset at on.
func (m *memory) part(at, length int) []byte { return m.bytes[at : at+length : at+length] }

// ring returns the ring from one rank to another.
func (m *memory) ring(from, to int) ring {
	index := to // among those of its sender
	if to > from {
		index--
	}
	b := m.part(ringsOffset(m.size)+(from*(m.size-1)+index)*ringBytes, ringBytes)
	n, _, slot := fullSlots(m.size)
	r := ring{head: (*ringHead)(unsafe.Pointer(&b[0])), small: rowOf(b[unsafe.Sizeof(ringHead{}):], slots, small),
		full: rowOf(m.own(from)[index*rowBytes(n, slot):], n, slot)}
	r.small.there = true
	return r
}

// multicast returns a rank's multicast slots, the small ones and the full ones. Two ranks have none.
func (m *memory) multicast(rank int) (little, full row) {
	if multicasts(m.size) == 0 {
		return little, full
	}
	little = rowOf(m.part(multicastOffset(m.size)+rank*multicastBytes, multicastBytes), multicastSlots, small)
	little.there = true
	ring, n, slot := fullSlots(m.size)
	return little, rowOf(m.own(rank)[(m.size-1)*rowBytes(ring, slot):], n, slot)
}

// own returns a rank's full slots.
func (m *memory) own(rank int) []byte {
	return m.part(idleBytes(m.size)+rank*ownBytes(m.size), ownBytes(m.size))
}

// initialize makes m the memory of m.size ranks.
func (m *memory) initialize() {
	h := m.header()
	h.magic, h.version, h.size = magic, version, uint32(m.size)
}

// check returns an error if m is not the memory of m.size ranks.
func (m *memory) check() error {
	h := m.header()
	if h.magic != magic || h.version != version || int(h.size) != m.size {
		return fmt.Errorf("the shared memory is not that of %d ranks, version %d", m.size, version)
	}
	return nil
}

// row is slots of one length, one after another.
type row struct {
	bytes []byte
	n     int  // how many
	slot  int  // bytes of each
	there bool // this process knows that they have memory
}

// rowOf returns the beginning of b as n slots of slot bytes.
func rowOf(b []byte, n, slot int) row { return row{bytes: b[:rowBytes(n, slot)], n: n, slot: slot} }

func rowBytes(n, slot int) int { return n * (slot + stagger) }

// data returns the first n bytes of slot i.
func (r *row) data(i, n int) []byte {
	from := i * (r.slot + stagger)
	return r.bytes[from : from+n : from+n]
}

// write writes the beginning of data to slot i, and returns how many bytes fitted.
func (r *row) write(i int, data []byte) int {
	n := min(r.slot, len(data))
	kernel.Deliver(r.data(i, n), data[:n])
	return n
}

// Every rank has multicast slots, which all others can read. A segment that the rank sends to several of them is
// written once, and the lines of all their rings refer to it. Among many ranks these are the only full slots, so that
// they also carry messages to a single rank. A slot is reused when all its readers have taken the segment. While none
// is free, a segment goes into the ring's own slot, so that a slow rank does not hold back the others.
const (
	multicastSlots    = 4  // small ones, and full ones among few ranks
	maxMulticastSlots = 64 // full ones among more
)

// card tells the others how to find a rank's process. A cookie in its memory proves that they have found that process:
// its number may belong to another process in their PID namespace, or after it has ended.
type card struct {
	pid        atomic.Int64 // 0: the rest is not there yet
	at, cookie uint64       // the cookie, and its address
}

// The values of line.where for offered messages.
const (
	inRegion  = 1<<31 + iota // in a region of the sender
	inProcess                // at an address of the sender's process
)

// place is where the data of an offered message lie, as the line that offers it says. The receiver checks all of it.
type place struct {
	number     uint64 // of the sender's region
	at, length uint64 // in it, or an address; in bytes
}

// place returns the part of l that holds the place of an offered message.
func (l *line) place() *place { return (*place)(unsafe.Pointer(&l.inline)) }
