package exchangetest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/collgen/collgen/fast/internal/wire"
)

// Lengths of messages at which a transport may err: around alignments, pages, and the segments of each transport.
var Lengths = []int{0, 1, 2, 7, 8, 47, 48, 49, 63, 64, 65, 103, 104, 105, 1000, 1023, 1024, 1025, 2047, 2048, 3079,
	4095, 4096, 4097,
	8<<10 - 1, 8 << 10, 8<<10 + 1, 16<<10 - 1, 16 << 10, 16<<10 + 1, 32<<10 - 1, 32 << 10, 32<<10 + 1,
	64<<10 - 1, 64 << 10, 64<<10 + 1, 128<<10 - 1, 128 << 10, 128<<10 + 1, 256<<10 - 1, 256 << 10, 256<<10 + 1, 300007,
	384<<10 + 7, 1<<20 - 1, 1 << 20}

// bulk are lengths of more than a transport takes of a message at a time.
var bulk = []int{1<<20 + 1, 3000017, 5<<20 + 64}

// testAlone is a communicator of one rank.
func testAlone(t *testing.T, make Make) {
	e := group(t, make, 1)[0]
	e.Begin(wire.NewMark(&wire.Call{Seq: 1}))
	if err := e.Exchange(t.Context(), nil, nil); err != nil {
		t.Error(err)
	}
}

// testExchange has ranks send several messages of various lengths to each other in the same steps. A plan that fails
// can be repeated, and is made as small as one that fails can be: see the flags of rapid.
func testExchange(t *testing.T, make Make) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(2, 5).Draw(rt, "ranks")
		p := Plan(rapid.SliceOfN(rapid.SliceOfN(messages(size), 0, 8), 1, 4).Draw(rt, "plan"))
		all := group(t, make, size)
		defer func() {
			for _, e := range all {
				_ = e.Close()
			}
		}()
		succeed(rt, all, p.carryOut)
	})
}

// messages are any messages among so many ranks.
func messages(size int) *rapid.Generator[Message] {
	return rapid.Custom(func(t *rapid.T) Message {
		m := Message{From: rapid.IntRange(0, size-1).Draw(t, "from"), Length: rapid.SampledFrom(Lengths).Draw(t, "length")}
		m.To = (m.From + rapid.IntRange(1, size-1).Draw(t, "distance")) % size
		if m.Kernel = rapid.Bool().Draw(t, "kernel"); m.Kernel {
			m.First, m.InPlace = rapid.Bool().Draw(t, "first"), rapid.Bool().Draw(t, "in place")
		}
		if !m.Kernel || m.Length%8 != 0 {
			m.Shift = rapid.IntRange(0, 7).Draw(t, "shift")
		}
		return m
	})
}

// testLengths sends messages of all lengths in both directions, the long ones one by one and the others one after the
// other.
func testLengths(t *testing.T, make Make) {
	p := Plan{nil}
	for i, n := range Lengths {
		here, there := i%2, 1-i%2
		p[0] = append(p[0], Message{From: here, To: there, Length: n}, Message{From: there, To: here, Length: n,
			Kernel: true})
	}
	for i, n := range bulk {
		p = append(p, []Message{{From: 0, To: 1, Length: n, Kernel: i%2 == 0}, {From: 1, To: 0, Length: n, Shift: i}})
	}
	succeed(t, group(t, make, 2), p.carryOut)
}

// testManyRanks has more ranks than processors, and all of them send to all others.
func testManyRanks(t *testing.T, make Make) {
	const size = 9
	p := Plan{nil, nil, nil}
	for from := range size {
		for to := range size {
			if from != to {
				p[0] = append(p[0], Message{From: from, To: to, Length: 8, Kernel: to%2 == 0})
				p[1] = append(p[1], Message{From: from, To: to, Length: 1000 + from})
				p[2] = append(p[2], Message{From: from, To: to, Length: 70001, Kernel: true, First: from < to})
			}
		}
	}
	succeed(t, group(t, make, size), p.carryOut)
}

// testReduce receives operands, before and after the one that is there, in place and not.
func testReduce(t *testing.T, make Make) {
	var p Plan
	for _, n := range append(Lengths, bulk[0]) {
		var step []Message
		for variant := range 4 {
			step = append(step, Message{From: variant % 2, To: 1 - variant%2, Length: n, Kernel: true,
				First: variant < 2, InPlace: variant%3 == 0})
		}
		p = append(p, step)
	}
	for before := range 17 { // bytes, behind which operands begin at any place of what has come
		p = append(p, []Message{
			{From: 0, To: 1, Length: before}, {From: 0, To: 1, Length: 1000, Kernel: true},
			{From: 1, To: 0, Length: before}, {From: 1, To: 0, Length: 1000, Kernel: true, First: true, InPlace: true},
		})
	}
	succeed(t, group(t, make, 2), p.carryOut)
}

// filled returns n aligned bytes with a pattern.
func filled(step, number, n int) []byte {
	data := aligned(n)
	for i := range data {
		data[i] = pattern(step, number, i)
	}
	return data
}

// testSignals has the empty messages of a step counted, and hold a rank back.
func testSignals(t *testing.T, make Make) {
	var entered atomic.Int32
	all := group(t, make, 2)
	for i := range int32(10) {
		succeed(t, all, func(ctx context.Context, e rank) error {
			if e.rank == 0 {
				entered.Add(1)
				return e.Exchange(ctx, []wire.Send{{Peer: 1}, {Peer: 1}}, nil)
			}
			err := e.Exchange(ctx, nil, []wire.Recv{{Peer: 0}, {Peer: 0}})
			if err == nil && entered.Load() != i+1 {
				err = errors.New("the signal came before it was sent")
			}
			return err
		})
	}
}

// testBadPeers refuses ranks that there are not, and the rank itself.
func testBadPeers(t *testing.T, make Make) {
	for _, peer := range []int{-1, 0, 2} {
		if e := group(t, make, 2)[0]; e.send(t.Context(), peer, nil) == nil {
			t.Errorf("a send to rank %d is accepted", peer)
		}
		if e := group(t, make, 2)[0]; e.receive(t.Context(), peer, nil) == nil {
			t.Errorf("a receive from rank %d is accepted", peer)
		}
	}
}
