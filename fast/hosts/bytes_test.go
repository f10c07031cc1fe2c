package hosts

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/inproc"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/fast/internal/wire"
)

// counting is a transport that counts the bytes and the messages that its rank sends to other hosts.
type counting struct {
	*inproc.Endpoint
	host            int
	hostOf          func(rank int) int
	bytes, messages *atomic.Int64
}

// Exchange counts, and passes on.
func (c *counting) Exchange(ctx context.Context, sends []wire.Send, recvs []wire.Recv) error {
	for _, s := range sends {
		if c.hostOf(s.Peer) != c.host {
			c.bytes.Add(int64(len(s.Data)))
			c.messages.Add(1)
		}
	}
	return c.Endpoint.Exchange(ctx, sends, recvs)
}

// counted returns ranks on these hosts, all of whose communicators count.
func (p placement) counted(t *testing.T) (all []*fast.Comm, bytes, messages *atomic.Int64) {
	job := inproc.NewJob(len(p))
	bytes, messages = new(atomic.Int64), new(atomic.Int64)
	return fasttest.Begin(t, len(p), func(rank int) (*fast.Comm, error) {
		plane := job.Plane(rank)
		create := func(ctx context.Context, id uint64, rank int, members []int) (transport.Transport, error) {
			e, err := plane.Found(ctx, id, rank, members)
			if err != nil {
				return nil, err
			}
			return &counting{e, p[plane.Self()], func(rank int) int { return p[members[rank]] }, bytes, messages}, nil
		}
		c, err := access.Fast.FirstComm(t.Context(), len(p), access.World{Plane: plane, Create: create})
		if err != nil {
			return nil, err
		}
		return c.(*fast.Comm), nil
	}), bytes, messages
}

// fewest is how many blocks hosts have to send each other in a call, whatever it does: with so many ranks in all.
var fewest = map[string]func(hosts [][]int, size int) int{
	"AllReduce":     func(hosts [][]int, _ int) int { return 2 * (len(hosts) - 1) },
	"Broadcast":     func(hosts [][]int, _ int) int { return len(hosts) - 1 },
	"Reduce":        func(hosts [][]int, _ int) int { return len(hosts) - 1 },
	"AllGather":     func(hosts [][]int, size int) int { return (len(hosts) - 1) * size },
	"ReduceScatter": func(hosts [][]int, size int) int { return (len(hosts) - 1) * size },
	"AllToAll": func(hosts [][]int, size int) (n int) {
		for _, ranks := range hosts {
			n += len(ranks) * (size - len(ranks))
		}
		return n
	},
}

// TestBytes: in every call, hosts send each other the fewest bytes, and a call in one level sends more.
func TestBytes(t *testing.T) {
	const count = 1009
	more := map[string]bool{}
	for _, p := range some {
		all, bytes, _ := p.counted(t)
		two := make([]*Comm, len(p))
		on := func(f func(c *fast.Comm, h *Comm) error) int {
			before := bytes.Load()
			fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error { return f(c, two[c.Rank()]) }))
			return int(bytes.Load() - before)
		}
		on(func(c *fast.Comm, _ *Comm) (err error) {
			two[c.Rank()], err = onHosts(t.Context(), c, p)
			return err
		})
		for i := range operations {
			for _, x := range operations[i].calls(len(p), count) {
				sent := on(func(c *fast.Comm, h *Comm) error {
					return made().into[x.name](t.Context(), h, make([]int64, x.blocks(x.outEach)*count), x.input(c.Rank()), x.op,
						x.root)
				})
				want := 8 * count * fewest[x.name](p.hosts(), len(p))
				if sent != want {
					t.Errorf("%v, %v: hosts send each other %d bytes, want %d", p, &x, sent, want)
				}
				flat := on(func(c *fast.Comm, _ *Comm) error {
					return inOneLevel[x.name](t.Context(), c, make([]int64, x.blocks(x.outEach)*count), x.input(c.Rank()), x.op,
						x.root)
				})
				if flat < want {
					t.Errorf("%v, %v: in one level, hosts send each other %d bytes, fewer than %d", p, &x, flat, want)
				}
				more[x.name] = more[x.name] || flat > want
			}
		}
		fasttest.CloseAll(t, two)
		fasttest.CloseAll(t, all)
	}
	for name := range fewest {
		if !more[name] && name != "AllToAll" { // which sends each block once in any case
			t.Errorf("%s in one level sends as little", name)
		}
	}
}

// onHosts is New for these hosts.
func onHosts(ctx context.Context, c *fast.Comm, p placement) (*Comm, error) {
	return on(ctx, c, p.hosts())
}

// inOneLevel are the calls of package fast.
var inOneLevel = map[string]func(ctx context.Context, c *fast.Comm, dst, src []int64, op fast.Op, root int) error{
	"AllReduce": func(ctx context.Context, c *fast.Comm, dst, src []int64, op fast.Op, _ int) error {
		return fast.AllReduceInto(ctx, c, dst, src, op)
	},
	"Broadcast": func(ctx context.Context, c *fast.Comm, dst, src []int64, _ fast.Op, root int) error {
		return fast.BroadcastInto(ctx, c, dst, src, root)
	},
	"Reduce": func(ctx context.Context, c *fast.Comm, dst, src []int64, op fast.Op, root int) error {
		return fast.ReduceInto(ctx, c, dst, src, op, root)
	},
	"AllGather": func(ctx context.Context, c *fast.Comm, dst, src []int64, _ fast.Op, _ int) error {
		return fast.AllGatherInto(ctx, c, dst, src)
	},
	"ReduceScatter": func(ctx context.Context, c *fast.Comm, dst, src []int64, op fast.Op, _ int) error {
		return fast.ReduceScatterInto(ctx, c, dst, src, op)
	},
	"AllToAll": func(ctx context.Context, c *fast.Comm, dst, src []int64, _ fast.Op, _ int) error {
		return fast.AllToAllInto(ctx, c, dst, src)
	},
}

// TestMessages: two hosts exchange one message each in an AllToAll, however many ranks they have.
func TestMessages(t *testing.T) {
	p := placement{0, 0, 0, 0, 1, 1, 2}
	all, _, messages := p.counted(t)
	defer fasttest.CloseAll(t, all)
	two := make([]*Comm, len(p))
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) (err error) {
		two[c.Rank()], err = onHosts(t.Context(), c, p)
		return err
	}))
	defer fasttest.CloseAll(t, two)
	before := messages.Load()
	fasttest.CheckErrors(t, fasttest.OnAll(two,
		func(h *Comm) error { return AllToAll(t.Context(), h, make([]int64, len(p))) }))
	if sent := messages.Load() - before; sent != 6 {
		t.Errorf("three hosts exchange %d messages, want 6", sent)
	}
}
