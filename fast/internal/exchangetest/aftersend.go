package exchangetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// testAfterSend has ranks overwrite what they send: each pair has a region of its own, and both ranks receive or reduce
// into it, or one of them. Out of place there is nothing to overwrite. The faster rank runs ahead into the next round.
func testAfterSend(t *testing.T, make Make) {
	for _, size := range []int{2, 3} {
		all, seq := group(t, make, size), uint64(0)
		for _, n := range append(Lengths, bulk...) {
			for _, s := range []swap{
				{inPlace: true}, {inPlace: true, both: true}, {both: true},
				{inPlace: true, reduces: true}, {inPlace: true, both: true, reduces: true}, {both: true, reduces: true},
			} {
				if n > bulk[0] && (!s.inPlace || testing.Short()) || n > 128<<10 && size > 2 { // enough is enough
					continue
				}
				s.seq, s.n = seq, n
				succeed(t, all, s.carryOut)
				seq += 2
			}
		}
	}
}

// swap is two rounds in which each pair of ranks exchanges n bytes, in the calls after that of number seq.
type swap struct {
	seq     uint64
	n       int
	both    bool // the lower rank of a pair also receives in the memory that it sends
	inPlace bool
	reduces bool // what is received is subtracted
}

func (s swap) carryOut(ctx context.Context, e rank) error {
	for round := range 2 {
		e.Begin(wire.NewMark(&wire.Call{Seq: s.seq + uint64(round) + 1, Count: uint64(s.n)}))
		var sends []wire.Send
		var recvs []wire.Recv
		for peer := range e.size {
			if peer == e.rank {
				continue
			}
			data := filled(round, e.rank*e.size+peer, s.n)
			sends = append(sends, wire.Send{Peer: peer, Data: data})
			r := wire.Recv{Peer: peer, Into: aligned(s.n)[:s.n], AfterSend: s.both || peer < e.rank}
			if r.AfterSend && s.inPlace {
				r.Into = data
			}
			if s.reduces {
				r.Kernel, r.With, r.ReceivedFirst = subtract(s.n), data, peer < e.rank
			}
			recvs = append(recvs, r)
		}
		if err := e.Exchange(ctx, sends, recvs); err != nil {
			return err
		}
		for _, r := range recvs {
			if err := s.check(e, round, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// check finds what is wrong with what r has received.
func (s swap) check(e rank, round int, r wire.Recv) error {
	low, high := min(r.Peer, e.rank), max(r.Peer, e.rank)
	for i, got := range r.Into {
		want := pattern(round, r.Peer*e.size+e.rank, i)
		if s.reduces {
			want = pattern(round, low*e.size+high, i) - pattern(round, high*e.size+low, i)
		}
		if got != want {
			return fmt.Errorf("%+v with rank %d: byte %d is %#x, want %#x", s, r.Peer, i, got, want)
		}
	}
	return nil
}

// RunAfterSend is the part of Run in which ranks overwrite what they send, for links on which the two directions do not
// go on alike. Transports among two ranks are made.
func RunAfterSend(t *testing.T, make Make) {
	all, seq := group(t, make, 2), uint64(0)
	for _, n := range []int{8, 9001, 64 << 10, 300007, bulk[0]} {
		for _, reduces := range []bool{false, true} {
			s := swap{seq: seq, n: n, both: true, inPlace: true, reduces: reduces}
			succeed(t, all, s.carryOut)
			seq += 2
		}
	}
}
