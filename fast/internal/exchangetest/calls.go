package exchangetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

// ordinary returns a call in which no field is zero.
func ordinary() wire.Call {
	return wire.Call{Seq: 7, Primitive: 11, Schedule: 13, Count: 17, Root: 1, Depth: 2, Peer: 1,
		Op: uint32(spec.OpSum), Type: uint32(spec.TypeFloat32),
		PrimitiveName: wire.NewLabel("AllReduce"), AlgorithmName: wire.NewLabel("ring")}
}

// changes are those of the fields that ranks compare, by their names in wire.Fields.
var changes = map[string]func(*wire.Call){
	"primitive":          func(c *wire.Call) { c.Primitive, c.PrimitiveName = 12, wire.NewLabel("Reduce") },
	"peer":               func(c *wire.Call) { c.Peer++ },
	"seq":                func(c *wire.Call) { c.Seq++ },
	"op":                 func(c *wire.Call) { c.Op = uint32(spec.OpMax) },
	"type":               func(c *wire.Call) { c.Type = uint32(spec.TypeFloat64) },
	"count":              func(c *wire.Call) { c.Count-- },
	"root":               func(c *wire.Call) { c.Root-- },
	"algorithm":          func(c *wire.Call) { c.Schedule, c.AlgorithmName = 14, wire.NewLabel("tree") },
	"depth":              func(c *wire.Call) { c.Depth *= 2 },
	"ranks on each host": func(c *wire.Call) { c.Local = 4 },
	"lengths":            func(c *wire.Call) { c.Op += 1 << wire.OpBits },
	wire.Earlier:         func(c *wire.Call) { c.Before++ },
}

// testMismatch has the receiver of a message compare each field with its own call. The sender learns of it from the
// transport, or from the receiver's giving up.
func testMismatch(t *testing.T, make Make) {
	for _, f := range wire.Fields {
		change := changes[f.Name]
		if change == nil {
			t.Errorf("nobody changes field %s", f.Name)
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			calls := [2]wire.Call{ordinary(), ordinary()}
			change(&calls[0])
			sender, receiver := disagree(t, group(t, make, 2), [2]wire.Call(calls), [2]int{8, 8})
			wantMismatch(t, receiver, *wire.Mismatch(&calls[1], &calls[0], 0))
			wantToldOf(t, sender, *wire.Mismatch(&calls[0], &calls[1], 1))
		})
	}
}

// disagree has rank 0 send to rank 1 in different calls, or messages of different lengths, and then, once rank 1 has
// found out, receive something from it.
func disagree(t *testing.T, all []rank, calls [2]wire.Call, bytes [2]int) (sender, receiver error) {
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	errs := together(all[:2], func(e rank) error {
		e.Begin(wire.NewMark(&calls[e.rank]))
		if e.rank == 1 {
			defer e.giveUp()
			return e.receive(ctx, 0, aligned(bytes[1]))
		}
		if err := e.send(ctx, 1, aligned(bytes[0])); err != nil {
			return err
		}
		return e.receive(ctx, 1, aligned(1))
	})
	return errs[0], errs[1]
}

func wantMismatch(t *testing.T, err error, want wire.MismatchError) {
	t.Helper()
	var got *wire.MismatchError
	if !errors.As(err, &got) || *got != want {
		t.Errorf("got %v, want %v", err, &want)
	}
}

// wantToldOf wants the mismatch that another rank has found; or, where the transport does not tell, that the other rank
// gave up.
func wantToldOf(t *testing.T, err error, want wire.MismatchError) {
	t.Helper()
	if errors.Is(err, wire.ErrAborted) {
		wantPeer(t, err, want.Rank, wire.ErrAborted)
		t.Logf("rank %d is not told: %v", 1-want.Rank, err)
		return
	}
	wantMismatch(t, err, want)
}

// testCallsOfMessages has the messages of one Exchange belong to calls of their own, which begin with each of them or
// are those of the Exchange.
func testCallsOfMessages(t *testing.T, make Make) {
	all := group(t, make, 3)
	for seq := uint64(1); seq < 20; seq++ {
		succeed(t, all, func(ctx context.Context, e rank) error {
			e.Begin(wire.NewMark(&wire.Call{Seq: seq, Primitive: 1}))
			var sends []wire.Send
			var recvs []wire.Recv
			for peer := range e.size {
				if peer == e.rank {
					continue
				}
				for i := range 3 {
					sends = append(sends, wire.Send{Peer: peer, Data: filled(int(seq), i, i), Call: pairCall(seq, i, e.rank, peer)})
					recvs = append(recvs, wire.Recv{Peer: peer, Into: aligned(i), Call: pairCall(seq, i, peer, e.rank)})
				}
			}
			if err := e.Exchange(ctx, sends, recvs); err != nil {
				return err
			}
			for i, r := range recvs {
				if want := filled(int(seq), i%3, i%3); string(r.Into) != string(want) {
					return fmt.Errorf("message %d from rank %d is %x, want %x", i%3, r.Peer, r.Into, want)
				}
			}
			return nil
		})
	}
}

// pairCall is message i's call, nil for that of the Exchange.
func pairCall(seq uint64, i, from, to int) *wire.Call {
	if i == 1 {
		return nil
	}
	return &wire.Call{Seq: 3*seq + uint64(i), Primitive: 2, Count: uint64(i), Root: uint32(from), Peer: uint32(to) + 1,
		PrimitiveName: wire.NewLabel("Send")}
}

// testMismatchOfOneMessage has one message of several disagree, which is found although the calls of Begin agree.
func testMismatchOfOneMessage(t *testing.T, make Make) {
	all := group(t, make, 2)
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	good, sent, expected := pairCall(1, 0, 0, 1), pairCall(1, 2, 0, 1), pairCall(1, 2, 0, 1)
	expected.Count = 5
	errs := together(all, func(e rank) error {
		e.Begin(wire.NewMark(&wire.Call{Seq: 1, Primitive: 1}))
		if e.rank == 0 {
			sends := []wire.Send{{Peer: 1, Data: aligned(8), Call: good}, {Peer: 1, Data: aligned(8), Call: sent}}
			err := e.Exchange(ctx, sends, nil)
			if err == nil {
				err = e.receive(ctx, 1, aligned(1))
			}
			return err
		}
		defer e.giveUp()
		recvs := []wire.Recv{{Peer: 0, Into: aligned(8), Call: good}, {Peer: 0, Into: aligned(8), Call: expected}}
		return e.Exchange(ctx, nil, recvs)
	})
	wantMismatch(t, errs[1], wire.MismatchError{Rank: 0, Seq: 5, TheirSeq: 5, Field: "count", Mine: "5", Theirs: "2"})
	wantToldOf(t, errs[0], wire.MismatchError{Rank: 1, Seq: 5, TheirSeq: 5, Field: "count", Mine: "2", Theirs: "5"})
}

// testMismatchBeforeMany has the first message of many disagree, each of which has a call of its own: what is told of
// the first one is its own call, however many are behind it.
func testMismatchBeforeMany(t *testing.T, make Make) {
	all := group(t, make, 2)
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	var sent atomic.Bool
	errs := together(all, func(e rank) error {
		e.Begin(wire.NewMark(&wire.Call{Seq: 1, Primitive: 1}))
		if e.rank == 0 {
			defer sent.Store(true)
			var sends []wire.Send
			for i := range 40 {
				sends = append(sends, wire.Send{Peer: 1, Data: aligned(8)[:8], Call: pairCall(uint64(i)+1, 2, 0, 1)})
			}
			return e.Exchange(ctx, sends, nil)
		}
		defer e.giveUp()
		for !sent.Load() && len(all[0].Waiting()) == 0 && ctx.Err() == nil { // rank 0 has sent what it can
			time.Sleep(time.Millisecond)
		}
		expected := pairCall(1, 2, 0, 1)
		expected.Count = 5
		return e.Exchange(ctx, nil, []wire.Recv{{Peer: 0, Into: aligned(8)[:8], Call: expected}})
	})
	wantMismatch(t, errs[1], wire.MismatchError{Rank: 0, Seq: 5, TheirSeq: 5, Field: "count", Mine: "5", Theirs: "2"})
}

func testLengthMismatch(t *testing.T, make Make) {
	for _, bytes := range [][2]int{{1, 2}, {2, 1}, {0, 1}, {1, 0}, {64 << 10, 64<<10 + 1}, {3000017, 3000016},
		{8, 3000017}} {
		t.Run(fmt.Sprint(bytes), func(t *testing.T) {
			sender, receiver := disagree(t, group(t, make, 2), [2]wire.Call{ordinary(), ordinary()}, bytes)
			words := [2]string{fmt.Sprint(bytes[0], " bytes"), fmt.Sprint(bytes[1], " bytes")}
			wantMismatch(t, receiver, wire.MismatchError{Rank: 0, Seq: 7, TheirSeq: 7, Field: "message length", Mine: words[1],
				Theirs: words[0]})
			wantToldOf(t, sender, wire.MismatchError{Rank: 1, Seq: 7, TheirSeq: 7, Field: "message length", Mine: words[0],
				Theirs: words[1]})
		})
	}
}
