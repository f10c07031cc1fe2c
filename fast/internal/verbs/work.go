package verbs

// Opcode says what a Send does.
type Opcode uint32

// What can be posted to a send queue.
const (
	Write        Opcode = 0 // RDMA WRITE: into the peer's memory, of which the peer learns nothing
	WriteWithImm Opcode = 1 // RDMA WRITE WITH IMMEDIATE: consumes a receive of the peer's, whose completion has the immediate
	Message      Opcode = 2 // SEND: into the memory of a receive of the peer's
)

// Send is something to be carried out by a send queue, in the order of posting.
type Send struct {
	ID             uint64 // comes back in the completion
	Opcode         Opcode
	MR             *MR // what is sent: Length bytes from Offset on; nil for none
	Offset, Length int
	Remote         uint64 // for writes: the address at the peer, as its MR.Address gives it
	RKey           uint32 // and the key of its memory
	Imm            uint32
	Signaled       bool // completes visibly when it is done; if it fails, it does in any case
	Inline         bool // the bytes are copied while posting, and need not be registered; at most QP.Inline of them
}

// Receive is room for one message, or for one immediate.
type Receive struct {
	ID             uint64
	MR             *MR // nil for immediates alone
	Offset, Length int
}

// Kind says what a Completion is of.
type Kind uint32

// What completes.
const (
	SendDone     Kind = 0
	WriteDone    Kind = 1
	Received     Kind = 128 // a message, which consumed a receive
	ReceivedImm  Kind = 129 // a write with immediate, which consumed a receive
	receivedMask Kind = 128
)

// IsReceive reports whether k consumed a receive.
func (k Kind) IsReceive() bool { return k&receivedMask != 0 }

// Completion is how a Send or a Receive has ended. Unless Status is Success, only ID, QP, Status and Vendor mean
// anything.
type Completion struct {
	ID     uint64
	Status Status
	Kind   Kind
	Bytes  uint32 // of what was received
	Imm    uint32 // if HasImm
	HasImm bool
	QP     uint32 // the number of the queue pair it was posted to
	Vendor uint32
}

// Err returns nil or a CompletionError. Device and peer are those of the queue pair.
func (c *Completion) Err(device, peer string) error {
	if c.Status == Success {
		return nil
	}
	return &CompletionError{Device: device, Peer: peer, Status: c.Status, Vendor: c.Vendor}
}
