package rdma

import (
	"errors"
	"time"
)

// MostRails is the most domains that an endpoint may have. Each is a device, or a port of one.
const MostRails = 8

// Domain is one endpoint's share of a device's port: a protection domain, and a completion queue with a channel that
// wakes a sleeping goroutine. One goroutine at a time calls Poll and Arm, and one at a time Wait. Any may call the
// others.
type Domain interface {
	// Name returns the device and port, for people.
	Name() string
	// MaxMessage returns the most bytes of a Write.
	MaxMessage() int
	// Register lets the device read and write memory, and peers that know its key write it. The memory must not be
	// Go's.
	Register(memory []byte) (Region, error)
	// Pair makes a queue pair that can have that many writes and receives in flight.
	Pair(writes, receives int) (Pair, error)
	// Poll takes at most len(into) completions, and returns their number. If there is none and it is patient, it may
	// poll for a microsecond or two. An error means that the device or port has failed.
	Poll(into []Completion, patient bool) (int, error)
	// Arm makes the next Wait end at the next completion. An earlier one may go unnoticed: poll after Arm.
	Arm() error
	// Wait sleeps until a completion arrives, Wake is called, or the time is over.
	Wait(atMost time.Duration) error
	// Wake ends the Wait in progress, or the next one. After Close it does nothing.
	Wake()
	// Close frees everything, after all pairs and regions were closed.
	Close() error
}

// Region is registered memory.
type Region interface {
	// Remote returns the address and the key by which peers name it.
	Remote() (address uint64, key uint32)
	// Close ends the registration: the device does not touch the memory after that.
	Close() error
}

// Pair is a queue pair of a reliable connection.
type Pair interface {
	// Address returns what the peer has to know to connect.
	Address() Address
	// Inline returns the most bytes of a Write that is marked Inline.
	Inline() int
	// Connect connects it with a peer's pair. Both may write once both are connected.
	Connect(peer Address) error
	// Receive makes room for n more immediates.
	Receive(n int) error
	// Write posts writes, which are carried out in this order. After an error only the first posted of them are.
	Write(writes []Write) (posted int, err error)
	// Break ends the connection: what is in flight completes, with ErrFlushed, and the peer cannot write any more.
	Break() error
	Close() error
}

// Address locates a queue pair.
type Address struct {
	GID [16]byte // of the port
	LID uint16   // of the port in an InfiniBand subnet, or 0
	MTU uint16   // bytes of a packet, 256 to 4096
	QP  uint32   // the number of the queue pair, 24 bits
	PSN uint32   // the number of its first packet, 24 bits
}

// Write is a write from registered memory to the peer's memory.
type Write struct {
	ID             uint64 // returned with the completion
	From           Region // where the bytes are; nil if there are none
	Memory         []byte // all of From's memory
	Offset, Length int    // the part of it to write
	To             uint64 // the address at the peer
	Key            uint32
	Immediate      uint32 // if Tell, it arrives at the peer after the bytes of this Write and of those before
	Tell           bool
	Signal         bool // it completes visibly even if it succeeds
	Inline         bool // the bytes are copied while posting
}

// Completion is the end of a Write, or an immediate that has arrived.
type Completion struct {
	QP        uint32 // the number of the queue pair
	ID        uint64 // of the Write
	Received  bool   // it is an immediate
	Immediate uint32
	Bytes     uint32 // that were written with the immediate
	Err       error  // nil, or why it failed: then only QP, ID and Received are valid
}

// ErrFlushed is the error of what was in flight when a queue pair broke. Another completion says what broke it.
var ErrFlushed = errors.New("the queue pair failed before this was carried out")
