package verbs

import (
	"errors"
	"fmt"
)

// ErrUnavailable says that there is no RDMA here. Errors that are it say what is missing.
var ErrUnavailable = errors.New("RDMA is unavailable")

// ErrClosed is the error of the use of an object after its Close.
var ErrClosed = errors.New("verbs: closed")

// Error is what a device, or the library, refused.
type Error struct {
	Device string // its name
	Op     string // what was tried, as "create a queue pair"
	Hint   string // what can be done about it, in words; or nothing
	Err    error  // as a rule a syscall.Errno
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

// CompletionError is the failure of something that was posted. The queue pair has failed with it.
type CompletionError struct {
	Device string
	Peer   string // whom the queue pair leads to, in the words of whoever connected it; or nothing
	Status Status
	Vendor uint32 // what the device calls it
}

func (e *CompletionError) Error() string {
	text := "RDMA device " + e.Device
	if e.Peer != "" {
		text += ", connection to " + e.Peer
	}
	return fmt.Sprintf("%s: %v (status %d, vendor's %#x)", text, e.Status, e.Status, e.Vendor)
}
