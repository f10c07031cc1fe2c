//go:build linux

package shm

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/collgen/collgen/fast/internal/wire"
)

// send and recv are an Exchange of one byte.
func send(e *Endpoint, to int) error {
	return e.Exchange(context.Background(), []wire.Send{{Peer: to, Data: []byte{1}}}, nil)
}

func recv(e *Endpoint, from int) error {
	return e.Exchange(context.Background(), nil, []wire.Recv{{Peer: from, Into: make([]byte, 1)}})
}

// TestMismatch: the receiver of a message of another call is told.
func TestMismatch(t *testing.T) {
	calls := [2]wire.Call{
		{Seq: 7, Count: 10, PrimitiveName: wire.NewLabel("AllReduce")},
		{Seq: 7, Count: 12, PrimitiveName: wire.NewLabel("AllReduce")},
	}
	all := group(t, 2)
	defer closeGroup(all)
	for rank, e := range all {
		e.Begin(wire.NewMark(&calls[rank]))
	}
	if err := send(all[0], 1); err != nil {
		t.Fatal(err)
	}
	all[0].Begin(wire.NewMark(&wire.Call{Seq: 8})) // it is further, but its call can still be read
	err := recv(all[1], 0)
	var m *wire.MismatchError
	if !errors.As(err, &m) || *m != (wire.MismatchError{Rank: 0, Seq: 7, TheirSeq: 7, Field: "count", Mine: "12",
		Theirs: "10"}) {
		t.Error(err)
	}
}

// TestForgottenMismatch: the sender's call is too long ago to be read.
func TestForgottenMismatch(t *testing.T) {
	all := group(t, 2)
	defer closeGroup(all)
	all[0].Begin(wire.NewMark(&wire.Call{Seq: 1}))
	if err := send(all[0], 1); err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(history + 1) { // the last one is not shown yet
		all[0].Begin(wire.NewMark(&wire.Call{Seq: seq + 2}))
	}
	all[1].Begin(wire.NewMark(&wire.Call{Seq: 100}))
	var m *wire.MismatchError
	if err := recv(all[1], 0); !errors.As(err, &m) || m.Field != "fingerprint" {
		t.Error(err)
	}
}

// TestFail: asleep, between calls and while messages always come, a rank is told what Fail was given first, and that
// before another rank's closing.
func TestFail(t *testing.T) {
	first := &wire.PeerError{Rank: 2, Err: wire.ErrDied}
	for name, begin := range map[string]func(e, other *Endpoint) error{
		"asleep":  func(e, _ *Endpoint) error { return recv(e, 1) },
		"between": func(*Endpoint, *Endpoint) error { return first },
		"busy": func(e, other *Endpoint) error {
			go func() {
				for send(other, 0) == nil {
				}
			}()
			for {
				if err := recv(e, 1); err != nil {
					return err
				}
			}
		},
	} {
		all := group(t, 3)
		done := make(chan error)
		go func() { done <- begin(all[0], all[1]) }()
		time.Sleep(20 * time.Millisecond)
		all[0].Fail(first)
		all[0].Fail(wire.ErrFrozen)
		if err := <-done; err != first {
			t.Errorf("%s: %v", name, err)
		}
		_ = all[1].Close()
		if err := recv(all[0], 1); err != first {
			t.Errorf("%s: then %v", name, err)
		}
		closeGroup(all)
	}
}

// What the errors say of a broken peer, and of one that is in another call.
const (
	broken  = "the shared memory is corrupt"
	differs = "does not match"
)

// hostile are things that a broken process may do to the memory that it shares with rank 0, which receives from rank 1
// and sends to it, and what rank 0 is to say of that.
var hostile = map[string]struct {
	attack func(e *Endpoint)
	want   string
}{
	"taken too much":   {func(e *Endpoint) { e.links[1].out.head.tail.Store(slots + 1) }, broken},
	"taken before":     {func(e *Endpoint) { e.links[1].out.head.tail.Store(1<<32 - 1) }, broken},
	"wrong seq":        {func(e *Endpoint) { e.links[1].in.head.lines[0].seq.Store(77) }, broken},
	"next round's seq": {func(e *Endpoint) { e.links[1].in.head.lines[0].seq.Store(depth + 1) }, broken},
	"wrong fingerprint": {func(e *Endpoint) { l := &e.links[1].in.head.lines[0]; l.fingerprint = 1; l.seq.Store(1) },
		differs},
	"wrong length": {func(e *Endpoint) {
		l := &e.links[1].in.head.lines[0]
		l.fingerprint, l.left = e.current.Fingerprint, 1<<31
		l.seq.Store(1)
	}, differs},
	"a multicast slot that is not there":      {lieAt(inMulticast), broken},
	"a full multicast slot that is not there": {lieAt(inFullMulticast), broken},
	"the last slot of one":                    {lieAt(nowhere - 1), broken},
	"a slot too many":                         {lieAt(nowhere), broken},
	"a region that is not there":              {lieAt(inRegion), broken},
	"a process that cannot be read":           {lieAt(inProcess), broken},
	"the last place":                          {lieAt(1<<32 - 1), broken},
}

// lieAt says that the first segment lies at a place where there is nothing. All else of it is right.
func lieAt(where uint32) func(e *Endpoint) {
	return func(e *Endpoint) {
		l := &e.links[1].in.head.lines[0]
		l.fingerprint, l.left, l.where = e.current.Fingerprint, maxSlot+1, where
		*l.place() = place{at: 1, length: maxSlot + 1}
		l.seq.Store(1)
	}
}

func TestHostileMemory(t *testing.T) {
	for name, x := range hostile {
		all := group(t, 2)
		all[0].Begin(wire.NewMark(&wire.Call{Seq: 1}))
		x.attack(all[0])
		err := all[0].Exchange(t.Context(), []wire.Send{{Peer: 1, Data: make([]byte, (slots+1)*maxSlot)}},
			[]wire.Recv{{Peer: 1, Into: make([]byte, maxSlot+1)}})
		if !says(err, x.want) {
			t.Errorf("%s: %v, want one that says: %s", name, err, x.want)
		}
		closeGroup(all)
	}
}

// says reports whether err is the one that broken or differs stands for.
func says(err error, want string) bool {
	var peer *wire.PeerError
	var mismatch *wire.MismatchError
	if want == broken {
		return errors.As(err, &peer) && errors.Is(err, wire.ErrDied) && strings.Contains(err.Error(), want)
	}
	return errors.As(err, &mismatch) && strings.Contains(err.Error(), want)
}

// TestSegmentNowhere: a multicast slot that does not exist is no segment, also where it is no int of 32 bits.
func TestSegmentNowhere(t *testing.T) {
	all := group(t, 3)
	defer closeGroup(all)
	l := &all[0].links[1]
	for _, where := range []uint32{inFullMulticast + multicastSlots, nowhere - 1, nowhere, inRegion, inProcess,
		1<<32 - multicastSlots, 1<<32 - 1} {
		if all[0].segment(l, &l.in.head.lines[0], where, small) != nil {
			t.Errorf("%#x is a place", where)
		}
	}
}

// FuzzHostileMemory overwrites shared memory, all but the data in slots, while three ranks talk, so that there are
// multicasts, and messages that were sent are not received yet: they fail or do not, but within their time and without
// touching what is not theirs.
func FuzzHostileMemory(f *testing.F) {
	f.Add(uint64(1), []byte{1, 2, 3, 255})
	f.Add(uint64(2), []byte{})
	f.Add(uint64(52), []byte("00000000000")) // has a segment that was sent lie where no slot is
	const size, head = 3, int(unsafe.Sizeof(ringHead{}))
	before, after := []int{1, small, maxSlot + 1}, []int{slots*maxSlot + 1}
	lengths := slices.Concat(before, after)
	f.Fuzz(func(t *testing.T, seed uint64, junk []byte) {
		all := group(t, size)
		defer closeGroup(all)
		for _, e := range all {
			if err := e.Exchange(t.Context(), toAll(e, before), nil); err != nil {
				t.Fatal(err)
			}
		}
		rnd := rand.New(rand.NewPCG(seed, 0))
		for i, b := range junk {
			at := rnd.IntN(ringsOffset(size) + head)
			if i%2 == 0 { // rings are the more interesting part
				at = ringsOffset(size) + rnd.IntN(size*(size-1))*ringBytes + rnd.IntN(head)
			}
			all[0].mem.bytes[at] = b
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		for rank, err := range together(all, func(e *Endpoint) error {
			recvs, untouched := fromAll(e, lengths)
			_ = e.Exchange(ctx, toAll(e, after), recvs) // whatever comes of it
			return untouched()
		}) {
			if err != nil {
				t.Errorf("rank %d: %v", rank, err)
			}
		}
	})
}

// toAll sends messages of the lengths to all other ranks, to each the same, which multicast slots are for.
func toAll(e *Endpoint, lengths []int) (sends []wire.Send) {
	for _, n := range lengths {
		same := make([]byte, n)
		for peer := range e.links {
			if peer != e.rank {
				sends = append(sends, wire.Send{Peer: peer, Data: same})
			}
		}
	}
	return sends
}

// fromAll receives messages of the lengths from all other ranks, and reduces those of rank 0. What lies beside them is
// to be untouched.
func fromAll(e *Endpoint, lengths []int) (recvs []wire.Recv, untouched func() error) {
	var beside []*byte
	for _, n := range lengths {
		for peer := range e.links {
			if peer == e.rank {
				continue
			}
			room := bytes.Repeat([]byte{canary}, n+2)
			beside = append(beside, &room[0], &room[n+1])
			r := wire.Recv{Peer: peer, Into: room[1 : n+1]}
			if peer == 0 {
				r.Kernel, r.With = subtract, r.Into
			}
			recvs = append(recvs, r)
		}
	}
	return recvs, func() error {
		for _, b := range beside {
			if *b != canary {
				return errors.New("what is beside a message is overwritten")
			}
		}
		return nil
	}
}
