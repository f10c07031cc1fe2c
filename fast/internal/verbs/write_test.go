//go:build linux && cgo && !netgo

package verbs

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/collgen/collgen/fast/internal/rdma/vm"
)

func TestWrite(t *testing.T) {
	ways(t, func(t *testing.T, from, to vm.NIC) {
		for _, n := range []int{0, 1, 4095, 4096, 4097, 100003} {
			writeWhole(t, from, to, n)
		}
	})
}

// TestLongWrite writes more than one message of the device can carry.
func TestLongWrite(t *testing.T) {
	vm.Need(t)
	writeWhole(t, vm.NICs[0], vm.NICs[1], 20<<20)
}

func TestWriteMTU(t *testing.T) {
	for _, mtu := range []int{1024, 4096} {
		vm.Need(t)
		vm.MTU(t, mtu)
		if a := newEnd(t, vm.NICs[0], 1); a.port.MTU.Bytes() != mtu {
			t.Errorf("the active MTU is %d, not %d", a.port.MTU.Bytes(), mtu)
		}
		writeWhole(t, vm.NICs[0], vm.NICs[1], 1<<20)
	}
}

func TestWriteFaults(t *testing.T) {
	vm.Need(t)
	for _, faults := range []string{"loss 2%", "delay 2ms", "delay 2ms reorder 2%", "duplicate 2%"} {
		t.Run(faults, func(t *testing.T) {
			vm.Netem(t, strings.Fields(faults)...)
			writeWhole(t, vm.NICs[0], vm.NICs[1], 200003)
		})
	}
}

// writeWhole writes n bytes in pieces of what the port can carry, the last one with an immediate.
func writeWhole(t *testing.T, from, to vm.NIC, n int) {
	t.Helper()
	a, b := newPair(t, from, to, n, Retry{Timeout: 14, Count: 6, RNR: 6})
	source := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = source.Read(a.mr.Memory)
	b.receive(t, 1)
	whole := Send{ID: 7, Opcode: Write, MR: a.mr, Length: n, Remote: b.mr.Address(), RKey: b.mr.RKey, Imm: 0xdeadbeef}
	for most := int(a.port.MaxMessage); whole.Length > most; whole.Length -= most {
		piece := whole
		piece.Length = most
		a.post(t, piece)
		whole.Offset += most
		whole.Remote += uint64(most)
	}
	whole.Opcode, whole.Signaled = WriteWithImm, true
	a.post(t, whole)
	want := Completion{Kind: ReceivedImm, Imm: 0xdeadbeef, HasImm: true, QP: b.qp.Number, Bytes: uint32(whole.Length)}
	if got := b.next(t); got != want {
		t.Errorf("%d bytes: received %+v, want %+v", n, got, want)
	}
	if got := a.next(t); got.ID != 7 || got.Status != Success || got.Kind != WriteDone || got.QP != a.qp.Number {
		t.Errorf("%d bytes: sent %+v", n, got)
	}
	if !bytes.Equal(a.mr.Memory[:n], b.mr.Memory[:n]) {
		t.Errorf("%d bytes: they are others", n)
	}
}

func TestMessage(t *testing.T) {
	ways(t, func(t *testing.T, from, to vm.NIC) {
		a, b := newPair(t, from, to, 100, quick)
		copy(a.mr.Memory, "0123456789")
		if _, err := b.qp.PostReceives([]Receive{{ID: 5, MR: b.mr, Offset: 50, Length: 50}}); err != nil {
			t.Fatal(err)
		}
		a.post(t, Send{Opcode: Message, MR: a.mr, Offset: 2, Length: 8})
		if got := b.next(t); got != (Completion{ID: 5, Kind: Received, Bytes: 8, QP: b.qp.Number}) {
			t.Errorf("received %+v", got)
		}
		if got := string(b.mr.Memory[50:59]); got != "23456789\x00" {
			t.Errorf("received %q", got)
		}
	})
}

// TestInline changes what was posted before it can have gone out.
func TestInline(t *testing.T) {
	vm.Need(t)
	a, b := newPair(t, vm.NICs[0], vm.NICs[1], 1<<20, quick)
	if a.qp.Depths.Inline < 64 {
		t.Fatalf("%d bytes can be inline", a.qp.Depths.Inline)
	}
	b.receive(t, 1)
	send := Send{Opcode: WriteWithImm, MR: &MR{Memory: []byte("not registered")}, Length: 14, Inline: true,
		Remote: b.mr.Address(), RKey: b.mr.RKey}
	a.post(t, send)
	clear(send.MR.Memory)
	b.next(t)
	if got := string(b.mr.Memory[:14]); got != "not registered" {
		t.Errorf("received %q", got)
	}
	send.MR, send.Length = a.mr, a.qp.Depths.Inline+1
	if n, err := a.qp.Post([]Send{send}); n != 0 || !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("more inline than granted: %d, %v", n, err)
	}
}

// TestFull posts more than the queue can hold: all that fit are posted, and carried out.
func TestFull(t *testing.T) {
	vm.Need(t)
	a, b := newPair(t, vm.NICs[0], vm.NICs[1], 1, Retry{Timeout: 14, Count: 6, RNR: 7})
	sends := make([]Send, 3*depth)
	for i := range sends {
		sends[i] = Send{ID: uint64(i), Opcode: WriteWithImm, Imm: uint32(i), Signaled: true}
	}
	posted, err := a.qp.Post(sends) // the peer has no receive yet
	if posted < depth || posted == len(sends) || !errors.Is(err, syscall.ENOMEM) {
		t.Fatalf("%d are posted: %v", posted, err)
	}
	for i := range posted {
		b.receive(t, 1)
		if got := a.next(t); got.ID != uint64(i) || got.Status != Success {
			t.Fatalf("%d: %+v", i, got)
		}
		if got := b.next(t); got.Imm != uint32(i) || !got.HasImm || got.Status != Success {
			t.Fatalf("%d: %+v", i, got)
		}
	}
}

func TestOutside(t *testing.T) {
	vm.Need(t)
	a, _ := newPair(t, vm.NICs[0], vm.NICs[1], 100, quick)
	for _, s := range []Send{
		{MR: a.mr, Offset: 1, Length: 100}, {MR: a.mr, Offset: 101}, {MR: a.mr, Offset: -1, Length: 1},
		{MR: a.mr, Length: -1},
		{MR: a.mr, Offset: 1 << 62, Length: 1 << 62}, {Length: 1},
	} {
		if n, err := a.qp.Post([]Send{s}); n != 0 || !errors.Is(err, errBounds) {
			t.Errorf("%+v: %d, %v", s, n, err)
		}
		r := Receive{MR: s.MR, Offset: s.Offset, Length: s.Length}
		if n, err := a.qp.PostReceives([]Receive{r}); n != 0 || !errors.Is(err, errBounds) {
			t.Errorf("%+v: %d, %v", r, n, err)
		}
	}
}
