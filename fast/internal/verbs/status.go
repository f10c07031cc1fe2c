package verbs

import "fmt"

// Status says how something that was posted has ended, by the numbers of the InfiniBand verbs.
type Status uint32

// Those that a reliable connection can have, and a transport tells apart.
const (
	Success           Status = 0
	LengthError       Status = 1
	LocalQPError      Status = 2 // rxe's of a port that is down, and of local memory that is not registered, too
	ProtectionError   Status = 4 // local memory is not registered, or not for this
	Flushed           Status = 5 // the queue pair had failed before
	RemoteAccessError Status = 10
	RetriesExceeded   Status = 12 // the peer does not answer
	RNRRetries        Status = 13 // the peer has posted no receive
)

var statusWords = [...]string{
	"success",
	"a message is longer than its buffer",
	"the queue pair, or its port, cannot carry this out",
	"an end-to-end context failed",
	"local memory is not registered for this",
	"the queue pair failed before this was carried out",
	"a memory window could not be bound",
	"the peer's device answered what it should not",
	"local memory is not registered for what the peer wrote",
	"the peer's device found the request invalid",
	"the peer's memory is not registered for this",
	"the peer's device could not carry this out",
	"the peer does not answer",
	"the peer was not ready to receive",
	"a reliable datagram's domain was violated",
	"the peer refused a read",
	"the peer ended the connection",
	"an end-to-end context's number is invalid",
	"an end-to-end context is in a state that does not allow this",
	"the device failed",
	"the device did not answer",
	"an error that the device does not name",
	"tags could not be matched",
	"a rendezvous by tags is incomplete",
}

// String returns the status in words.
func (s Status) String() string {
	if int(s) < len(statusWords) {
		return statusWords[s]
	}
	return fmt.Sprintf("status %d", uint32(s))
}
