package exchangetest

import (
	"bytes"
	"context"
	"fmt"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
)

// message is one message of a plan.
type message struct {
	from, to, length int
	kernel, first    bool // received and reduced, with what was received before or after the operand that is there
	inPlace          bool // the operand that is there lies where the result goes
	shift            int  // of a message without a kernel: of its buffers against alignment
}

// plan is steps of messages. Each step is an Exchange of every rank, in a call of its own.
type plan [][]message

// pattern is the byte at i of message n of a step.
func pattern(step, n, i int) byte { return byte(step*31 + n*7 + i*13 + i>>8 + i>>16) }

const (
	canary = 0xa5
	margin = 64 // bytes of canaries before and after a buffer
)

// guarded is n bytes between canaries, aligned for any element, and then shifted.
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

// subtract is the kernel for messages of n bytes, which tells its operands apart. Where the elements could be of 8 bytes it
// panics if they are cut, or not aligned.
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

// carryOut is e's part of p. It checks what it receives.
func (p plan) carryOut(ctx context.Context, e rank) error {
	for s, step := range p {
		e.Begin(wire.NewMark(&wire.Call{Seq: uint64(s) + 1}))
		var sends []wire.Send
		var recvs []wire.Recv
		var checks []func() error
		for n, m := range step {
			if m.from == e.rank {
				sends = append(sends, m.send(s, n))
			}
			if m.to == e.rank {
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

func (m message) send(step, n int) wire.Send {
	_, data := guarded(m.length, m.shift)
	for i := range data {
		data[i] = pattern(step, n, i)
	}
	return wire.Send{Peer: m.to, Data: data}
}

// receive is the receive of m, and the check of what came.
func (m message) receive(step, n int) (wire.Recv, func() error) {
	all, into := guarded(m.length, m.shift)
	want := bytes.Repeat([]byte{canary}, len(all))
	wanted := want[margin+m.shift:]
	r := wire.Recv{Peer: m.from, Into: into}
	if m.kernel {
		r.Kernel, r.With, r.ReceivedFirst = subtract(m.length), into, m.first
		if !m.inPlace {
			_, r.With = guarded(m.length, m.shift)
		}
		for i := range r.With {
			r.With[i] = byte(i)
		}
	}
	for i := range m.length {
		switch got := pattern(step, n, i); {
		case !m.kernel:
			wanted[i] = got
		case m.first:
			wanted[i] = got - byte(i)
		default:
			wanted[i] = byte(i) - got
		}
	}
	return r, func() error {
		for i := range all {
			if all[i] != want[i] {
				return fmt.Errorf("step %d, message %d %+v: byte %d is %#x, want %#x", step, n, m, i-margin-m.shift, all[i], want[i])
			}
		}
		return nil
	}
}
