package exchangetest

import (
	"bytes"
	"context"
	"fmt"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Message is one message of a plan.
type Message struct {
	From, To, Length int
	Kernel, First    bool // received and reduced, with what was received before or after the operand that is there
	InPlace          bool // the operand that is there lies where the result goes
	Shift            int  // of the buffers against alignment, 0 to 7; 0 where whole elements of 8 bytes are reduced
}

// Plan is steps of messages. Each step is an Exchange of every rank, in a call of its own.
type Plan [][]Message

// pattern returns the byte at i of message n of a step.
func pattern(step, n, i int) byte { return byte(step*31 + n*7 + i*13 + i>>8 + i>>16) }

const (
	canary = 0xa5
	margin = 64 // bytes of canaries before and after a buffer
)

// guarded returns n bytes between canaries, aligned for any element, and then shifted by less than the margin.
func guarded(n, shift int) (all, data []byte) {
	all = aligned(n + 2*margin)
	for i := range all {
		all[i] = canary
	}
	return all, all[margin+shift : margin+shift+n]
}

func aligned(n int) []byte {
	words := make([]uint64, n/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
}

// subtract returns the kernel for messages of n bytes, which tells its operands apart. Where the elements could be of 8
// bytes it panics if they are cut, or not aligned.
func subtract(n int) wire.Kernel {
	if n%8 != 0 {
		return subtractBytes
	}
	return subtractWords
}

func subtractBytes(dst, a, b []byte) {
	for i := range dst {
		dst[i] = a[i] - b[i]
	}
}

func subtractWords(dst, a, b []byte) {
	if !words(dst) || !words(a) || !words(b) {
		panic(fmt.Sprintf("a kernel is to reduce %d, %d and %d bytes at %p, %p and %p", len(dst), len(a), len(b), dst, a, b))
	}
	subtractBytes(dst, a, b)
}

func words(b []byte) bool {
	return len(b)%8 == 0 && uintptr(unsafe.Pointer(unsafe.SliceData(b)))%8 == 0
}

func (p Plan) carryOut(ctx context.Context, e rank) error {
	return p.CarryOut(ctx, e.Transport, e.rank)
}

// CarryOut makes a rank's part of p, over its transport. It checks what it receives.
func (p Plan) CarryOut(ctx context.Context, e Transport, rank int) error {
	for s, step := range p {
		e.Begin(wire.NewMark(&wire.Call{Seq: uint64(s) + 1}))
		var sends []wire.Send
		var recvs []wire.Recv
		var checks []func() error
		for n, m := range step {
			if m.From == rank {
				sends = append(sends, m.send(s, n))
			}
			if m.To == rank {
				r, check := m.receive(s, n)
				recvs, checks = append(recvs, r), append(checks, check)
			}
		}
		if err := e.Exchange(ctx, sends, recvs); err != nil {
			return fmt.Errorf("step %d: %w", s, err)
		}
		for _, check := range checks {
			if err := check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m Message) send(step, n int) wire.Send {
	_, data := guarded(m.Length, m.Shift)
	for i := range data {
		data[i] = pattern(step, n, i)
	}
	return wire.Send{Peer: m.To, Data: data}
}

// receive returns the receive of m, and the check of what came.
func (m Message) receive(step, n int) (wire.Recv, func() error) {
	all, into := guarded(m.Length, m.Shift)
	want := bytes.Repeat([]byte{canary}, len(all))
	wanted := want[margin+m.Shift:]
	r := wire.Recv{Peer: m.From, Into: into}
	if m.Kernel {
		r.Kernel, r.With, r.ReceivedFirst = subtract(m.Length), into, m.First
		if !m.InPlace {
			_, r.With = guarded(m.Length, -m.Shift)
		}
		for i := range r.With {
			r.With[i] = byte(i)
		}
	}
	for i := range m.Length {
		switch got := pattern(step, n, i); {
		case !m.Kernel:
			wanted[i] = got
		case m.First:
			wanted[i] = got - byte(i)
		default:
			wanted[i] = byte(i) - got
		}
	}
	return r, func() error {
		for i := range all {
			if all[i] != want[i] {
				return fmt.Errorf("step %d, message %d %+v: byte %d is %#x, want %#x", step, n, m, i-margin-m.Shift, all[i],
					want[i])
			}
		}
		return nil
	}
}
