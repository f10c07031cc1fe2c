package verbs

import (
	"math"
	"unsafe"
)

// MR is registered memory: the device reads and writes it itself.
type MR struct {
	Memory     []byte
	LKey, RKey uint32 // by which this side and the peer name it
	lifetime
}

// Address returns where the memory begins, as a peer's Send.Remote names it.
func (m *MR) Address() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.Memory)))) }

// holds reports whether length bytes from offset on are in m, and not more than a post can have. A nil one has none.
func (m *MR) holds(offset, length int) bool {
	n := 0
	if m != nil {
		n = len(m.Memory)
	}
	return offset >= 0 && length >= 0 && offset <= n && length <= n-offset && uint64(length) <= math.MaxUint32
}
