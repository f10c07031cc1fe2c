package fast

import (
	"context"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Call is one call in progress on one rank: what generated code runs on.
type Call struct {
	Rank, Size, Root, Peer, Depth int
	In, Out, Scratch              Buffer

	c     *Comm
	sends []wire.Send
	recvs []wire.Recv
}

// Layout cuts every block into chunks chunks and provides slots slots of scratch. It comes first in an algorithm.
func (x *Call) Layout(chunks, slots int) error { panic("TODO") }

// Send lists a message to the rank to, for the next Exchange. Like all messages, one without bytes is left out: both
// ranks know its length.
func (x *Call) Send(to int, data []byte) { panic("TODO") }

// Recv lists a message of the rank from that fills into.
func (x *Call) Recv(from int, into []byte) { panic("TODO") }

// RecvReduce lists a message of the rank from that is an operand: into = with ⊕ received, or received ⊕ with.
func (x *Call) RecvReduce(from int, into, with []byte, receivedFirst bool) { panic("TODO") }

// AfterSend marks the receive listed last: each part of it is overwritten only after it was sent, by the send of the
// same memory to the same rank.
func (x *Call) AfterSend() { panic("TODO") }

// Signal lists an empty message to the rank to. Unlike data without bytes it is sent.
func (x *Call) Signal(to int) { panic("TODO") }

// Await lists an empty message of the rank from.
func (x *Call) Await(from int) { panic("TODO") }

// Exchange carries out what was listed since the last Exchange, all at once.
func (x *Call) Exchange(ctx context.Context) error { panic("TODO") }

// Copy copies from to into, unless both are the same memory.
func (x *Call) Copy(into, from []byte) { panic("TODO") }

// Operand lists an operand of the next Reduce.
func (x *Call) Operand(from []byte) { panic("TODO") }

// Reduce sets into to the reduction, from left to right, of the operands listed since the last Reduce.
func (x *Call) Reduce(into []byte) { panic("TODO") }

// Finish completes a reduction in place: what the op does once to the combination of all operands.
func (x *Call) Finish(data []byte) { panic("TODO") }
