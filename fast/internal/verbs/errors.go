// Package verbs is a binding of libibverbs, the interface to RDMA devices (InfiniBand, RoCE). It has what a transport
// with reliable connections needs, and nothing else.
//
// The library is loaded when the first device is asked for. A program that contains this package is not linked to the
// library, and runs where it is missing. The library's structures are declared here, and a test compares them with its
// header. Devices and Open return an error that is ErrUnavailable, and says what is missing, where there is no library
// or no device, on systems other than Linux, without cgo, and with the tag netgo, which asks for programs without C
// libraries.
//
// A Context is an open device. What is made from it has to be closed, in any order: closing an object first closes
// those that were made with it. Making, connecting and closing take up to a second each, and block nothing else in the
// context. Only one goroutine at a time may use a queue pair or a completion queue, and none after it is closed.
// Posting and polling allocate nothing.
package verbs

import (
	"errors"
	"fmt"
)

// ErrUnavailable means that there is no RDMA here. Errors that wrap it say what is missing.
var ErrUnavailable = errors.New("RDMA is unavailable")

// ErrClosed is the error of the use of an object after its Close.
var ErrClosed = errors.New("verbs: closed")

// Error is an operation that a device, or the library, has refused.
type Error struct {
	Device string // its name
	Op     string // what was tried, such as "create a queue pair"
	Hint   string // what can be done about it, or ""
	Err    error  // usually a syscall.Errno
}

func (e *Error) Error() string {
	text := fmt.Sprintf("RDMA device %s: %s: %v", e.Device, e.Op, e.Err)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// CompletionError is the failure of a posted operation. The queue pair has failed with it.
type CompletionError struct {
	Device string
	Peer   string // what the queue pair is connected with, as its user calls it, or ""
	Status Status
	Vendor uint32 // the device's own code
}

func (e *CompletionError) Error() string {
	text := "RDMA device " + e.Device
	if e.Peer != "" {
		text += ", connection to " + e.Peer
	}
	return fmt.Sprintf("%s: %v (status %d, vendor's %#x)", text, e.Status, e.Status, e.Vendor)
}

// Status says how a posted operation has ended, by the numbers of the InfiniBand verbs.
type Status uint32

// The statuses that a reliable connection can have and that a transport distinguishes.
const (
	Success           Status = 0
	LengthError       Status = 1
	LocalQPError      Status = 2 // with rxe also: a port that is down, local memory that is not registered
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
