package rdma

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/collgen/collgen/fast/internal/linkproto"
)

// The memory of a link: slots to receive segments into, slots for control frames, and slots to send from. The peer may
// write to the first two at any time.
const (
	defaultSlots = 16
	defaultBytes = 16 << 10
	fewestSlots  = 4
	controlSlots = 4
	controlBytes = 4 << 10

	// In a slot, a message's bytes begin at a cache line, behind the header of the segment. The frame that tells its
	// call precedes that header, unless the call was told before.
	payloadAt = 192
	headerAt  = payloadAt - linkproto.HeaderBytes
	callAt    = headerAt - linkproto.HeaderBytes - linkproto.CallBytes
)

// controlOffset returns where the slots for control frames begin.
func controlOffset(slots, bytes uint32) uint64 { return uint64(slots) * uint64(bytes) }

// sendOffset returns where the slots to send from begin.
func sendOffset(slots, bytes uint32) int {
	return int(controlOffset(slots, bytes)) + controlSlots*controlBytes
}

// linkBytes returns the size of a link's memory.
func linkBytes(slots, bytes uint32) int {
	return sendOffset(slots, bytes) + int(controlOffset(slots, bytes))
}

// allocate returns memory outside of Go's heap.
func allocate(n int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("%d KiB of memory: %w", n>>10, err)
	}
	return b, nil
}

// segment is the contents of a slot, read once: the peer may change them.
type segment struct {
	linkproto.Header
	told  linkproto.Header // of the frame that tells the call, or of kind 0
	call  []byte           // its body, in the slot
	bytes int              // of the message
}

// parse reads the segment in a slot with which that many bytes were written.
func parse(slot []byte, written uint32) (s segment, err error) {
	if s.Header, err = linkproto.ParseHeader(slot[headerAt:]); err != nil {
		return s, err
	}
	most := uint64(len(slot) - payloadAt)
	s.bytes = int(min(s.Left, most))
	rest := int(written) - linkproto.HeaderBytes
	if s.Left >= longBytes && (rest == 0 || rest == headerAt-callAt) { // it asks for the destination
		s.bytes = 0
	}
	rest -= s.bytes
	if s.Kind != linkproto.Message || rest != 0 && rest != headerAt-callAt {
		return s, fmt.Errorf("a frame of kind %d with %d of %d bytes in %d", s.Kind, s.bytes, s.Left, written)
	}
	if rest == 0 {
		return s, nil
	}
	s.call = slot[callAt+linkproto.HeaderBytes : headerAt]
	if s.told, err = linkproto.ParseHeader(slot[callAt:]); err == nil && s.told.Kind != linkproto.Call {
		err = fmt.Errorf("a frame of kind %d before a message", s.told.Kind)
	}
	return s, err
}
