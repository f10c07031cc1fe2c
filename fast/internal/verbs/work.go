package verbs

import (
	"math"
	"unsafe"
)

// Opcode says what a Send does.
type Opcode uint32

// The operations that can be posted to a send queue.
const (
	Write        Opcode = 0 // RDMA WRITE: writes the peer's memory without notifying it
	WriteWithImm Opcode = 1 // RDMA WRITE WITH IMMEDIATE: completes a receive of the peer too, with the immediate
	Message      Opcode = 2 // SEND: writes the memory of a receive of the peer
)

// Send is an operation for a send queue, which carries them out in the order of posting.
type Send struct {
	ID             uint64 // returned in the completion
	Opcode         Opcode
	MR             *MR // the data: Length bytes from Offset on; nil for none
	Offset, Length int
	Remote         uint64 // for writes: the address at the peer, which its MR.Address returns
	RKey           uint32 // and the key of its memory
	Imm            uint32
	Signaled       bool // it has a completion if it succeeds; if it fails, it always has one
	Inline         bool // the bytes, at most QP.Depths.Inline, are copied while posting, and need not be registered
}

// Receive makes room for one message, or one immediate.
type Receive struct {
	ID             uint64
	MR             *MR // nil if only immediates are received
	Offset, Length int
}

// Kind says which operation a Completion is about.
type Kind uint32

// The kinds of completions.
const (
	SendDone     Kind = 0
	WriteDone    Kind = 1
	Received     Kind = 128 // a message arrived and consumed a receive
	ReceivedImm  Kind = 129 // a write with immediate arrived and consumed a receive
	receivedMask Kind = 128
)

// IsReceive reports whether k consumed a receive.
func (k Kind) IsReceive() bool { return k&receivedMask != 0 }

// Completion is the end of a Send or a Receive. Unless Status is Success, only ID, QP, Status and Vendor are valid.
type Completion struct {
	ID     uint64
	Status Status
	Kind   Kind
	Bytes  uint32 // how many were received
	Imm    uint32 // if HasImm
	HasImm bool
	QP     uint32 // the number of the queue pair that it was posted to
	Vendor uint32
}

// Err returns nil or a *CompletionError. device and peer describe the queue pair.
func (c *Completion) Err(device, peer string) error {
	if c.Status == Success {
		return nil
	}
	return &CompletionError{Device: device, Peer: peer, Status: c.Status, Vendor: c.Vendor}
}

// MR is registered memory: the device reads and writes it by itself.
type MR struct {
	Memory     []byte
	LKey, RKey uint32 // the keys by which this side and the peer name it
	lifetime
}

// Address returns the address of the memory for a peer's Send.Remote.
func (m *MR) Address() uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(m.Memory)))) }

// holds reports whether length bytes from offset on lie in m, and are not more than a post can have. A nil m is empty.
func (m *MR) holds(offset, length int) bool {
	n := 0
	if m != nil {
		n = len(m.Memory)
	}
	return offset >= 0 && length >= 0 && offset <= n && length <= n-offset && uint64(length) <= math.MaxUint32
}
