package exchangetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/wire"
)

// release gives back what e has lent, if it lends.
func (e rank) release() {
	if l, ok := e.Transport.(Lender); ok {
		l.Release()
	}
}

// testLend has every rank send the same memory to all others, which may be lent it, and run ahead while others still
// look at what they were lent.
func testLend(t *testing.T, make Make) {
	for _, size := range []int{2, 4} {
		succeed(t, group(t, make, size), func(ctx context.Context, e rank) error {
			for i, n := range borrowed {
				for round := range 6 {
					if err := borrow(ctx, e, 6*i+round, n); err != nil {
						return err
					}
				}
			}
			e.release()
			return nil
		})
	}
}

// borrowed are lengths of messages that may be lent, or are too long for that.
var borrowed = []int{0, 1, 8, 64, 65, 1000, 4097, 64 << 10, 128 << 10, 128<<10 + 1, 300007}

// borrow makes a round of testLend. The ranks give back what they were lent at different times: at once, late, or
// with the next Exchange.
func borrow(ctx context.Context, e rank, round, n int) error {
	e.Begin(wire.NewMark(&wire.Call{Seq: uint64(round) + 1}))
	data := filled(round, e.rank, n)
	var sends []wire.Send
	var recvs []wire.Recv
	for peer := range e.size {
		if peer != e.rank {
			sends = append(sends, wire.Send{Peer: peer, Data: data})
			recvs = append(recvs, wire.Recv{Peer: peer, Into: aligned(n), Lend: true})
		}
	}
	if err := e.Exchange(ctx, sends, recvs); err != nil {
		return err
	}
	if e.rank == round%e.size {
		time.Sleep(time.Millisecond) // the others go on
	}
	for _, r := range recvs {
		if want := filled(round, r.Peer, n); string(r.Into) != string(want) {
			return fmt.Errorf("round %d: rank %d does not find the %d bytes that rank %d has sent", round, e.rank, n, r.Peer)
		}
	}
	if (e.rank+round)%3 != 0 {
		e.release()
	}
	return nil
}

// testLendWhileMoreComes has rank 0 send as much as it can while the others look at what they were lent: the same
// memory to both, and then long messages behind one that is lent, in the same Exchange.
func testLendWhileMoreComes(t *testing.T, make Make) {
	for _, n := range []int{8, 1000, 64 << 10} {
		succeed(t, group(t, make, 3), func(ctx context.Context, e rank) error {
			for round := range 30 {
				e.Begin(wire.NewMark(&wire.Call{Seq: uint64(round) + 1}))
				data := filled(round, 0, n)
				if e.rank == 0 {
					if err := e.Exchange(ctx, []wire.Send{{Peer: 1, Data: data}, {Peer: 2, Data: data}}, nil); err != nil {
						return err
					}
					continue
				}
				recvs := []wire.Recv{{Peer: 0, Into: aligned(n), Lend: true}}
				if err := e.Exchange(ctx, nil, recvs); err != nil {
					return err
				}
				if round%4 == 0 {
					time.Sleep(time.Millisecond) // rank 0 goes on
				}
				if string(recvs[0].Into) != string(data) {
					return fmt.Errorf("round %d: what was lent has changed", round)
				}
				e.release()
			}
			return nil
		})
	}
	more := filled(2, 2, bulk[1])
	succeed(t, group(t, make, 2), func(ctx context.Context, e rank) error {
		if e.rank == 0 {
			return e.Exchange(ctx, []wire.Send{{Peer: 1, Data: more[:1000]}, {Peer: 1, Data: more}}, nil)
		}
		recvs := []wire.Recv{{Peer: 0, Into: aligned(1000), Lend: true}, {Peer: 0, Into: aligned(len(more)), Lend: true}}
		err := e.Exchange(ctx, nil, recvs)
		if err == nil && (string(recvs[0].Into) != string(more[:1000]) || string(recvs[1].Into) != string(more)) {
			err = errors.New("it is not what was sent")
		}
		e.release()
		return err
	})
}

// testLendSeveral has several messages come on each link in one step, of which some may be lent: the same memory to
// all, and more of them than a transport has places for. All are there when the step is over, and as long as nothing is
// given back.
func testLendSeveral(t *testing.T, make Make) {
	const messages = 40
	lends := []func(i int) bool{
		func(i int) bool { return i == 0 },
		func(i int) bool { return i < 3 },
		func(i int) bool { return i%3 == 0 },
		func(i int) bool { return true },
		func(i int) bool { return i == messages-1 },
	}
	for _, size := range []int{2, 3} {
		all, seq := group(t, make, size), uint64(0)
		for _, n := range []int{8, 65, 1000, 4097, 40000} {
			for _, lend := range lends {
				seq++
				succeed(t, all, func(ctx context.Context, e rank) error { return lendSeveral(ctx, e, seq, messages, n, lend) })
			}
		}
	}
}

// lendSeveral makes a step of testLendSeveral.
func lendSeveral(ctx context.Context, e rank, seq uint64, messages, n int, lend func(i int) bool) error {
	e.Begin(wire.NewMark(&wire.Call{Seq: seq}))
	var sends []wire.Send
	var recvs []wire.Recv
	for i := range messages {
		data := filled(i, e.rank, n)
		for peer := range e.size {
			if peer != e.rank {
				sends = append(sends, wire.Send{Peer: peer, Data: data})
				recvs = append(recvs, wire.Recv{Peer: peer, Into: aligned(n)[:n], Lend: lend(i)})
			}
		}
	}
	if err := e.Exchange(ctx, sends, recvs); err != nil {
		return err
	}
	for k, r := range recvs {
		if i := k / (e.size - 1); string(r.Into) != string(filled(i, r.Peer, n)) {
			return fmt.Errorf("message %d of %d bytes from rank %d, lent %v, is not what was sent", i, n, r.Peer, r.Lend)
		}
	}
	e.release()
	return nil
}

// testLendAndEnd ends a rank's part while it looks at what it was lent: that stays until it is given back.
func testLendAndEnd(t *testing.T, make Make) {
	for name, end := range map[string]func(e rank){
		"fail":  func(e rank) { e.Fail(wire.ErrFrozen) },
		"close": func(e rank) { _ = e.Close() },
	} {
		all := group(t, make, 3)
		var recvs []wire.Recv
		succeed(t, all[:2], func(ctx context.Context, e rank) error {
			if e.rank == 1 {
				return e.send(ctx, 0, filled(1, 1, 5000))
			}
			recvs = []wire.Recv{{Peer: 1, Into: aligned(5000), Lend: true}}
			return e.Exchange(ctx, nil, recvs)
		})
		_ = errors.Join(all[1].Close(), all[2].Close())
		end(all[0])
		if string(recvs[0].Into) != string(filled(1, 1, 5000)) {
			t.Errorf("%s: what was lent has changed", name)
		}
		all[0].release()
		if all[0].Exchange(t.Context(), nil, nil) == nil {
			t.Errorf("%s: then an Exchange succeeds", name)
		}
	}
}

// testSameMemory has ranks send one piece of memory to all others, once more in the next step, in which one rank is
// late: the others get theirs all the same, one after the other.
func testSameMemory(t *testing.T, make Make) {
	all := group(t, make, 4)
	for i, n := range append(borrowed, bulk[0]) {
		succeed(t, all, func(ctx context.Context, e rank) error {
			for round := range 12 { // more than any transport keeps for those who are late
				e.Begin(wire.NewMark(&wire.Call{Seq: uint64(12*i+round) + 1}))
				if e.rank == 0 {
					data := filled(round, 0, n)
					if err := e.Exchange(ctx, []wire.Send{{Peer: 1, Data: data}, {Peer: 2, Data: data}, {Peer: 3, Data: data}},
						nil); err != nil {
						return err
					}
					continue
				}
				if e.rank == 3 && round == 5 {
					time.Sleep(time.Millisecond)
				}
				into := aligned(n)
				if err := e.receive(ctx, 0, into); err != nil {
					return err
				}
				if string(into) != string(filled(round, 0, n)) {
					return fmt.Errorf("round %d: %d bytes are not those that were sent", round, n)
				}
			}
			return nil
		})
	}
}

// testSameBeginning has rank 0 send messages of different lengths that begin at one place of its memory, each to all
// others, which get them in another order.
func testSameBeginning(t *testing.T, make Make) {
	const size = 4
	all, seq := group(t, make, size), uint64(0)
	for _, lengths := range [][]int{{1000, 999}, {200, 1000, 300}, {64 << 10, 65<<10 + 1},
		{300007, 4097, 1000, 8, 128<<10 + 1}} {
		data := filled(1, 2, slices.Max(lengths))
		seq++
		succeed(t, all, func(ctx context.Context, e rank) error {
			e.Begin(wire.NewMark(&wire.Call{Seq: seq}))
			var sends []wire.Send
			var recvs []wire.Recv
			for i := range lengths {
				for to := 1; to < size; to++ {
					n := lengths[(i+to)%len(lengths)]
					if e.rank == 0 {
						sends = append(sends, wire.Send{Peer: to, Data: data[:n:n]})
					} else if e.rank == to {
						recvs = append(recvs, wire.Recv{Peer: 0, Into: aligned(n)[:n]})
					}
				}
			}
			err := e.Exchange(ctx, sends, recvs)
			for _, r := range recvs {
				if err == nil && string(r.Into) != string(data[:len(r.Into)]) {
					err = fmt.Errorf("%d bytes are not those that were sent", len(r.Into))
				}
			}
			return err
		})
	}
}
