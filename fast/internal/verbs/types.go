package verbs

import (
	"fmt"
	"time"
)

// Device is an RDMA device.
type Device struct {
	Name string
	Node NodeType
}

// String returns the name.
func (d Device) String() string { return d.Name }

// Kernel is the kernel's folder of RDMA devices. Tests replace it.
var Kernel = "/sys/class/infiniband"

// NodeType says what kind of device it is.
type NodeType int32

// The kinds of devices. This package supports the first one.
const (
	ChannelAdapter NodeType = 1
	Switch         NodeType = 2
	Router         NodeType = 3
	RNIC           NodeType = 4
	USNIC          NodeType = 5
	USNICUDP       NodeType = 6
	Unspecified    NodeType = 7
)

var nodeWords = map[NodeType]string{
	ChannelAdapter: "an adapter of InfiniBand or RoCE",
	Switch:         "a switch",
	Router:         "a router",
	RNIC:           "an adapter of iWARP",
	USNIC:          "an adapter of usNIC",
	USNICUDP:       "an adapter of usNIC",
	Unspecified:    "an adapter of its vendor's own kind, as Amazon's EFA",
}

// String returns the kind in words.
func (t NodeType) String() string {
	if words, ok := nodeWords[t]; ok {
		return words
	}
	return fmt.Sprintf("a device of unknown type %d", int32(t))
}

// Attributes are the limits of a device.
type Attributes struct {
	Firmware  string
	MaxQP     int // queue pairs
	MaxQPWR   int // the most that a queue of a queue pair can hold
	MaxCQ     int
	MaxCQE    int    // the most that a completion queue can hold
	MaxMR     int    // registrations
	MaxMRSize uint64 // the most bytes of one
	Ports     int    // numbered from 1
}

// MTU is the number of bytes that a packet carries, as the verbs encode it: 1 for 256, up to 5 for 4096.
type MTU uint32

// Bytes returns the MTU in bytes, 256 to 4096.
func (m MTU) Bytes() int { return 128 << m }

// LinkLayer is the kind of network that a port is plugged into.
type LinkLayer uint8

// The link layers. String prints others as a number.
const (
	LinkUnspecified LinkLayer = 0 // reported by drivers that only know InfiniBand
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

// PortState is the state of a port. A port can be used if it is PortActive.
type PortState uint32

// The states of a port without a link, and of one that can be used.
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

// Port describes the present state of a device's port.
type Port struct {
	Number     int
	State      PortState
	MTU        MTU    // the active one: how much its packets carry
	MaxMessage uint32 // the most bytes of a Send
	LID        uint16 // its address in an InfiniBand subnet; 0 on Ethernet
	Link       LinkLayer
	GIDs       int // the length of its GID table
}

// Access says which operations memory, or a queue pair, permits.
type Access uint32

// Bits of Access. Local reading is always allowed.
const (
	LocalWrite  Access = 1 << 0
	RemoteWrite Access = 1 << 1 // needs LocalWrite
)

// Depths are the sizes of a queue pair: the most sends and receives that are posted at a time, and the most bytes of an
// inline Send.
type Depths struct {
	Sends, Receives int
	Inline          int
}

// Path leads to the queue pair of a peer.
type Path struct {
	QP           uint32 // the number of the peer's queue pair
	PSN          uint32 // the number of the first packet from it, 24 bits
	GID          [16]byte
	LID          uint16 // used if the GID is zero
	MTU          MTU    // the smaller one of the two ports
	GIDIndex     int    // the Index of this side's GID
	TrafficClass uint8
	ServiceLevel uint8
	HopLimit     uint8 // 0 for 64
	MinRNRTimer  uint8 // how long the peer waits if there is no receive, encoded: 12 is 0.64 ms
}

// Retry says how long a queue pair tries before it fails.
type Retry struct {
	Timeout uint8 // of one try, encoded as in Try
	Count   uint8 // tries after the first one, at most 6: some devices take 7 to mean endless
	RNR     uint8 // tries while the peer has no receive; 7 means endless
}

// Try returns how long one try takes, 4.096 µs << Timeout: 67 ms for 14. A device may wait up to four times as long.
func (r Retry) Try() time.Duration { return 4096 * time.Nanosecond << r.Timeout }
