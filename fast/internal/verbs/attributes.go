package verbs

import (
	"fmt"
	"time"
)

// Attributes are the limits of a device.
type Attributes struct {
	Firmware  string
	MaxQP     int // queue pairs
	MaxQPWR   int // what a queue of a queue pair can hold
	MaxCQ     int
	MaxCQE    int    // what a completion queue can hold
	MaxMR     int    // registrations
	MaxMRSize uint64 // bytes of one
	Ports     int    // numbered from 1
}

// MTU is the number of bytes that a packet carries, as the verbs encode it: 1 for 256, up to 5 for 4096.
type MTU uint32

// Bytes is 256 to 4096.
func (m MTU) Bytes() int { return 128 << m }

// LinkLayer says what a port is plugged into.
type LinkLayer uint8

// What a port can be plugged into. Others are written as a number.
const (
	LinkUnspecified LinkLayer = 0 // of drivers that know InfiniBand alone
	InfiniBand      LinkLayer = 1
	Ethernet        LinkLayer = 2
)

// String returns the layer in words.
func (l LinkLayer) String() string {
	switch l {
	case LinkUnspecified, InfiniBand:
		return "InfiniBand"
	case Ethernet:
		return "Ethernet"
	}
	return fmt.Sprintf("link layer %d", uint8(l))
}

// PortState says whether a port can be used: if it is PortActive.
type PortState uint32

// The states of a port that can be used and of one without a link.
const (
	PortDown   PortState = 1
	PortActive PortState = 4
)

var portWords = [...]string{"no state", "down", "initializing", "armed", "active", "active, deferred"}

// String returns the state in words.
func (s PortState) String() string {
	if int(s) < len(portWords) {
		return portWords[s]
	}
	return fmt.Sprintf("state %d", uint32(s))
}

// Port is what a port of a device is like now.
type Port struct {
	Number     int
	State      PortState
	MTU        MTU    // the active one: what its packets carry
	MaxMessage uint32 // bytes of what one Send carries
	LID        uint16 // its address in an InfiniBand subnet; 0 on Ethernet
	Link       LinkLayer
	GIDs       int // the length of its table of GIDs
}

// Access says what may be done to memory, and by way of a queue pair.
type Access uint32

// Bits of Access. Local reading is always allowed.
const (
	LocalWrite  Access = 1 << 0
	RemoteWrite Access = 1 << 1 // needs LocalWrite
)

// Depths are the sizes of a queue pair: how many posts are under way at most, and how many bytes of a Send can be
// inline.
type Depths struct {
	Sends, Receives int
	Inline          int
}

// Path leads to the queue pair of a peer.
type Path struct {
	QP           uint32 // the peer's queue pair's number
	PSN          uint32 // of the first packet from it, 24 bits
	GID          [16]byte
	LID          uint16 // instead of the GID, if that is zero
	MTU          MTU    // the smaller one of both ports'
	GIDIndex     int    // this side's GID, by its Index
	TrafficClass uint8
	ServiceLevel uint8
	HopLimit     uint8 // 0 for 64
	MinRNRTimer  uint8 // how long the peer waits when there is no receive, encoded: 12 is 0.64 ms
}

// Retry says how long a queue pair tries before it fails.
type Retry struct {
	Timeout uint8 // of one try, encoded: see Try
	Count   uint8 // tries after the first, at most 6: some devices take 7 for endless
	RNR     uint8 // tries while the peer has no receive; 7 is endless
}

// Try returns how long one try takes, 4.096 µs << Timeout: 67 ms for 14. A device may wait up to four times as long.
func (r Retry) Try() time.Duration { return 4096 * time.Nanosecond << r.Timeout }
