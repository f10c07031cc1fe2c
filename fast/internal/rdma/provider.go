package rdma

import (
	"errors"
	"time"
)

// MostRails is how many domains an endpoint may have: devices, or ports of them.
const MostRails = 8

// Domain is what one endpoint has of a port of a device: a protection domain, and a completion queue with a channel
// that tells a goroutine which sleeps. Poll and Arm are called by one goroutine at a time, Wait by one at a time as
// well, the others by any.
type Domain interface {
	// Name is the device and port, for people.
	Name() string
	// MaxMessage is how many bytes a Write may have.
	MaxMessage() int
	// Register has the device read and write memory, and peers write it that know its key. The memory is not Go's.
	Register(memory []byte) (Region, error)
	// Pair makes a queue pair that can have so many writes and receives in flight.
	Pair(writes, receives int) (Pair, error)
	// Poll takes completions, at most len(into). While there is none it may look for a microsecond or two, if it is to
	// be patient. An error is that of the device or port.
	Poll(into []Completion, patient bool) (int, error)
	// Arm has the next Wait end at the next completion. What came before may go unnoticed: poll after it.
	Arm() error
	// Wait sleeps until a completion, a Wake, or the end of the time.
	Wait(atMost time.Duration) error
	// Wake ends the Wait in progress, or the next one. After Close it does nothing.
	Wake()
	// Close gives everything back, after all pairs and regions were closed.
	Close() error
}

// Region is registered memory.
type Region interface {
	// Place is its address and key, as peers name it.
	Place() (address uint64, key uint32)
	// Close ends the registration: nothing of the memory is read or written after that.
	Close() error
}

// Pair is a queue pair of a reliable connection.
type Pair interface {
	// Address is what the peer has to know to connect.
	Address() Address
	// Inline is how many bytes a Write may have that is marked so.
	Inline() int
	// Connect connects it with a peer's pair. Both may write when both have.
	Connect(peer Address) error
	// Receive has room for n more immediates.
	Receive(n int) error
	// Write has writes carried out, in this order. On an error only the first of them are, so many.
	Write(writes []Write) (posted int, err error)
	// Break ends the connection: what is in flight completes, with ErrFlushed, and the peer writes nothing any more.
	Break() error
	Close() error
}

// Address is where a queue pair is.
type Address struct {
	GID [16]byte // of the port
	LID uint16   // of the port in an InfiniBand subnet, or 0
	MTU uint16   // the bytes of a packet: 256 to 4096
	QP  uint32   // the number of the queue pair, 24 bits
	PSN uint32   // of its first packet, 24 bits
}

// Write is a write of registered memory to that of the peer.
type Write struct {
	ID             uint64 // comes back with the completion
	From           Region // of the bytes; nil if there are none
	Memory         []byte // all of From's
	Offset, Length int    // the part of it
	To             uint64 // the address
	Key            uint32
	Immediate      uint32 // comes to the peer after all bytes of this Write and those before, if Tell
	Tell           bool
	Signal         bool // its completion is told, also if it succeeds
	Inline         bool // the bytes are copied while posting
}

// Completion is the end of a Write, or an immediate that has come.
type Completion struct {
	QP        uint32 // the number of the queue pair
	ID        uint64 // of the Write
	Received  bool   // an immediate
	Immediate uint32
	Bytes     uint32 // that were written with the immediate
	Err       error  // nil, or why it failed: then no other field but QP, ID and Received has a meaning
}

// ErrFlushed is the error of what was in flight when a queue pair broke. What broke it is the error of another
// completion.
var ErrFlushed = errors.New("the queue pair failed before this was carried out")
