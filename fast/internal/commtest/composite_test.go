package commtest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// mixedComms are communicators over two transports each: near among the ranks of each of hosts, far among all.
func mixedComms(hosts [][]int) []*fast.Comm { return commsOver(composites(hosts)) }

func commsOver(each []*transport.Composite) (all []*fast.Comm) {
	for rank, t := range each {
		all = append(all, access.Fast.CommOver(rank, len(each), t).(*fast.Comm))
	}
	return all
}

// composites are the transports of mixedComms, by rank.
func composites(hosts [][]int) []*transport.Composite {
	size := 0
	for _, ranks := range hosts {
		size += len(ranks)
	}
	far, all := inproc.New(size), make([]*transport.Composite, size)
	for _, ranks := range hosts {
		for i, near := range inproc.New(len(ranks)) {
			all[ranks[i]] = compositeOf(size, ranks, near, far[ranks[i]])
		}
	}
	return all
}

func compositeOf(size int, members []int, near, far transport.Transport) *transport.Composite {
	return transport.NewComposite(size, members, transport.Half{Name: "shm", Transport: near},
		transport.Half{Name: "tcp", Transport: far})
}

// TestCompositeIsOne: ranks on several hosts, in any order, are one communicator.
func TestCompositeIsOne(t *testing.T) {
	for _, hosts := range [][][]int{{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{4, 1}, {0, 2, 3}}, {{0, 1, 2}, {3}}} {
		errs := fasttest.OnAll(mixedComms(hosts), func(c *fast.Comm) error {
			defer c.Close()
			for _, count := range []int{0, 1, 5, 10_000} {
				for _, algorithm := range []string{"ring", "one-shot", "tree", "recursive-doubling"} {
					buf := slices.Repeat([]int{c.Rank() + 1}, count)
					if err := fast.AllReduce(t.Context(), c, buf, fast.Sum, fast.WithAlgorithm(algorithm)); err != nil {
						return err
					}
					if want := c.Size() * (c.Size() + 1) / 2; count > 0 && (buf[0] != want || buf[count-1] != want) {
						t.Errorf("%v, %s: %v, want %d", hosts, algorithm, buf[0], want)
					}
				}
			}
			return nil
		})
		if err := errors.Join(errs...); err != nil {
			t.Errorf("%v: %v", hosts, err)
		}
	}
}

// TestCompositeTranslates the ranks in the errors of both halves.
func TestCompositeTranslates(t *testing.T) {
	all := mixedComms([][]int{{3, 1}, {0, 2}})
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	errs := fasttest.OnAll(all, func(c *fast.Comm) error {
		if c.Rank() != 3 {
			<-ctx.Done()
			return nil
		}
		return fast.AllGatherInto(ctx, c, make([]byte, 4), make([]byte, 1), fast.WithAlgorithm("direct"))
	})
	var timeout *fast.TimeoutError
	if !errors.As(errs[3], &timeout) || !slices.Equal(timeout.Waiting, []int{0, 1, 2}) {
		t.Errorf("the one that waits: %v", errs[3])
	}

	ctx, stop := context.WithCancel(t.Context())
	errs = fasttest.OnAll(mixedComms([][]int{{2, 0}, {1}}), func(c *fast.Comm) error {
		defer stop() // there is no control plane that would tell the others
		buf := make([]byte, 8)
		if c.Rank() == 2 {
			buf = buf[:7]
		}
		return fast.Broadcast(ctx, c, buf, 0)
	})
	var mismatch *fast.MismatchError
	if !errors.As(errs[2], &mismatch) || mismatch.Rank != 0 || mismatch.Field != "count" {
		t.Errorf("the one that differs: %v", errs[2])
	}

	errs = fasttest.OnAll(mixedComms([][]int{{2, 0}, {1}}), func(c *fast.Comm) error {
		if c.Rank() == 1 {
			return nil
		}
		return fast.Recv(t.Context(), c, make([]byte, 8), 2-c.Rank())
	})
	for _, rank := range []int{0, 2} {
		var deadlock *fast.DeadlockError
		if !errors.As(errs[rank], &deadlock) || !slices.Equal(deadlock.Ranks, []int{rank, 2 - rank}) {
			t.Errorf("rank %d, which waits for one that waits for it: %v", rank, errs[rank])
		}
	}

	errs = fasttest.OnAll(mixedComms([][]int{{2, 0}, {1}}), func(c *fast.Comm) error {
		if c.Rank() != 2 {
			return c.Close()
		}
		return fast.Recv(t.Context(), c, make([]byte, 8), 0)
	})
	var peer *fast.PeerError
	if !errors.As(errs[2], &peer) || peer.Rank != 0 || !errors.Is(peer, fast.ErrClosed) {
		t.Errorf("the one that waits for one that has closed: %v", errs[2])
	}
}

// TestCompositeFails: what fast gives to Fail comes out of both halves, in its own ranks, and one half's failure ends
// the other.
func TestCompositeFails(t *testing.T) {
	given := &fast.PeerError{Rank: 3, Err: fast.ErrDied}
	for _, sends := range []string{"direct", "ring"} {
		each := composites([][]int{{3, 1}, {0, 2}})
		all := commsOver(each)
		errs := fasttest.OnAll(all[:3], func(c *fast.Comm) error {
			time.AfterFunc(5*time.Millisecond, func() { each[c.Rank()].Fail(given) })
			return fast.AllGather(t.Context(), c, make([]byte, 4), fast.WithAlgorithm(sends))
		})
		for rank, err := range errs {
			if !errors.Is(err, given) {
				t.Errorf("%s, rank %d: %v", sends, rank, err)
			}
		}
	}
}

// lending is a transport whose messages have come: each is one byte, which says who sent it.
type lending struct {
	fasttest.Idle
	mine     byte
	released int
}

func (l *lending) Exchange(_ context.Context, _ []wire.Send, recvs []wire.Recv) error {
	for i := range recvs {
		if data := []byte{l.mine + byte(recvs[i].Peer)}; recvs[i].Lend {
			recvs[i].Into = data
		} else {
			copy(recvs[i].Into, data)
		}
	}
	return nil
}

func (l *lending) Release() { l.released++ }

// TestCompositeLends what its halves lend, and has them take it back.
func TestCompositeLends(t *testing.T) {
	near, far := &lending{mine: 10}, &lending{mine: 20}
	m := compositeOf(5, []int{0, 2, 4}, near, far)
	defer m.Close()
	for _, peers := range [][]int{{1, 2, 3, 4}, {4, 3, 2, 1}, {2, 4}, {3, 1}, {1, 3}, {1, 2, 3}, {}} {
		for lent := range 1 << len(peers) { // each choice of those that may be lent
			lendThrough(t, m, peers, lent)
		}
	}
	m.Release()
	if near.released != 1 || far.released != 1 {
		t.Errorf("released: near %d, far %d", near.released, far.released)
	}
}

// lendThrough receives from peers through m, whose halves lend what each rank has sent where the bit in lent says so.
func lendThrough(t *testing.T, m *transport.Composite, peers []int, lent int) {
	t.Helper()
	place := []byte{0}
	var recvs []wire.Recv
	for i, peer := range peers {
		recvs = append(recvs, wire.Recv{Peer: peer, Into: place, Lend: lent>>i&1 == 1})
		if !recvs[i].Lend {
			recvs[i].Into = []byte{0}
		}
	}
	if err := m.Exchange(t.Context(), nil, recvs); err != nil {
		t.Fatal(err)
	}
	for i, peer := range peers {
		want := map[int]byte{1: 21, 2: 11, 3: 23, 4: 12}[peer]
		if got := recvs[i].Into[0]; got != want || place[0] != 0 {
			t.Errorf("of %v, lent %b, rank %d sent %d, want %d", peers, lent, peer, got, want)
		}
	}
}
