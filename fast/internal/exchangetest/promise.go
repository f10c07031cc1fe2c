package exchangetest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/collgen/collgen/fast/internal/wire"
)

// testApart has rank 0 exchange messages with all others in one step. One of these comes first, and the others when it
// is done: what goes between two ranks does not wait for others.
func testApart(t *testing.T, make Make) {
	for _, size := range []int{3, 10} {
		all, seq := group(t, make, size), uint64(0)
		for _, n := range []int{0, 8, 1000, 70001, bulk[0]} {
			for variant := range 4 {
				if size > 3 && (n > 128<<10 || variant%2 == 0) { // enough is enough
					continue
				}
				seq++
				call := &wire.Call{Seq: seq, Count: uint64(n)}
				first := size - 1 - variant%2
				done, finish := context.WithCancel(t.Context())
				succeed(t, all, func(ctx context.Context, e rank) error {
					e.Begin(wire.NewMark(call))
					switch e.rank {
					case 0:
						return e.swapWith(ctx, others(size), n, variant < 2)
					case first:
						defer finish()
					default:
						select {
						case <-done.Done():
						case <-ctx.Done():
						}
					}
					return e.swapWith(ctx, []int{0}, n, false)
				})
			}
		}
	}
}

// others returns the ranks but 0.
func others(size int) (ranks []int) {
	for r := 1; r < size; r++ {
		ranks = append(ranks, r)
	}
	return ranks
}

// swapWith sends each peer n bytes, of the same memory or not, and receives as many.
func (e rank) swapWith(ctx context.Context, peers []int, n int, sameMemory bool) error {
	var sends []wire.Send
	var recvs []wire.Recv
	data := filled(0, e.rank, n)
	for _, peer := range peers {
		if !sameMemory {
			data = bytes.Clone(data)
		}
		sends = append(sends, wire.Send{Peer: peer, Data: data})
		recvs = append(recvs, wire.Recv{Peer: peer, Into: aligned(n)[:n]})
	}
	if err := e.Exchange(ctx, sends, recvs); err != nil {
		return err
	}
	for _, r := range recvs {
		if !bytes.Equal(r.Into, filled(0, r.Peer, n)) {
			return fmt.Errorf("%d bytes of rank %d are not what it sent, same memory: %v", n, r.Peer, sameMemory)
		}
	}
	return nil
}
