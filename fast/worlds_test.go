package fast

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// testWorld makes the ranks of communicators, all in this process, that talk in one way.
type World struct {
	Name  string
	Comms func(t testing.TB, size int) []*Comm
}

// worlds are all ways in which ranks talk.
var Worlds = []World{
	{"goroutines", func(_ testing.TB, size int) []*Comm { return comms(size) }},
	{"shm", func(t testing.TB, size int) []*Comm { return initComms(t, size, WithTransport("shm")) }},
	{"tcp", func(t testing.TB, size int) []*Comm { return initComms(t, size, WithTransport("tcp")) }},
	{"tcp, encrypted", func(t testing.TB, size int) []*Comm {
		return initComms(t, size, WithTransport("tcp"), WithEncryption())
	}},
	{"mixed", func(t testing.TB, size int) []*Comm { return initComms(t, size, oddAndEven) }},
}

// oddAndEven has ranks believe that there are two hosts.
func oddAndEven(p *initConfig) { p.Host = fmt.Sprint("host ", p.Rank%2) }

// initComms returns ranks that Init connects.
func initComms(t testing.TB, size int, opts ...InitOption) []*Comm {
	meeting := NewMemoryStore()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return fasttest.Begin(t, size, func(rank int) (*Comm, error) {
		return Init(ctx, append([]InitOption{WithRank(rank, size), WithStore(meeting)}, opts...)...)
	})
}

// TestDisagreement has two ranks make calls between which no message tells of the difference: both learn of it without
// an end of their context, at the latest by their next call.
func TestDisagreement(t *testing.T) {
	for name, calls := range map[string][2]func(ctx context.Context, c *Comm) error{
		"both receive": {
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) }},
		"both send": {
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 1) }},
		"a receive against a collective": {
			func(ctx context.Context, c *Comm) error { return Recv(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *Comm) error { return Broadcast(ctx, c, make([]int32, 4), 0) }},
		"nothing against something": {
			func(ctx context.Context, c *Comm) error { return AllReduce(ctx, c, []int32{}, Sum) },
			func(ctx context.Context, c *Comm) error { return AllReduce(ctx, c, make([]int32, 4), Sum) }},
	} {
		for _, w := range Worlds {
			t.Run(w.Name+"/"+name, func(t *testing.T) {
				all := w.Comms(t, 2)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				for rank, err := range fasttest.OnAll(all, func(c *Comm) error {
					defer c.Close()
					if err := calls[c.Rank()](ctx, c); err != nil {
						return err
					}
					return Barrier(ctx, c)
				}) {
					var m *MismatchError
					if !errors.As(err, &m) || m.Rank != 1-rank {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			})
		}
	}
}

// TestSameBits: what an algorithm leaves on every rank does not depend on how ranks talk. The inputs are such that sums
// of other trees have other bits.
func TestSameBits(t *testing.T) {
	ways := map[string][]InitOption{
		"tcp":        {WithTransport("tcp")},
		"shm":        {WithTransport("shm")},
		"rdma":       {WithTransport("rdma"), overRDMA()},
		"three ways": {oddAndEven, overRDMA(), deviceless(3)},
	}
	for _, size := range []int{2, 4} {
		all := map[string][]*Comm{}
		for name, opts := range ways {
			all[name] = initComms(t, size, opts...)
		}
		for _, a := range catalogue.Algorithms() {
			calls := a.Calls(size, 1)
			if len(calls) == 0 {
				continue
			}
			if a.HasLocal() { // its order of operands is that of the hosts, which are not the same in all ways
				continue
			}
			for _, count := range []int{1, 1021, 17_011} {
				want := leftBy(t, all["tcp"], &a, calls[len(calls)-1], count)
				for name := range ways {
					if got := leftBy(t, all[name], &a, calls[len(calls)-1], count); !bytes.Equal(got, want) {
						t.Errorf("%s, %+v, count %d: over %s it leaves other bits than over tcp", a.FullName(), calls[len(calls)-1], count, name)
					}
				}
			}
		}
		for name := range ways {
			fasttest.CloseAll(t, all[name])
		}
	}
}

// equal returns so many blocks of buf as a call of uneven ones takes them.
func equal(buf []float32, blocks int) (b Blocks) {
	for i := 0; blocks > 1 && i < blocks; i++ {
		b.Counts = append(b.Counts, len(buf)/blocks)
	}
	return b
}

// leftBy makes a call on float32 by an algorithm, and returns what it leaves in the Out of all ranks.
func leftBy(t *testing.T, all []*Comm, a *gen.Algorithm, p gen.Params, count int) []byte {
	t.Helper()
	k := collectiveOf(a.Primitive.Name)
	expect, err := spec.Expect(a.Primitive, spec.Call{Size: p.Size, Root: p.Root, Peer: p.Peer})
	if err != nil {
		t.Fatal(err)
	}
	outs := make([][]float32, len(all))
	if err := errors.Join(fasttest.OnAll(all, func(c *Comm) error {
		if k.PointToPoint && c.Rank() != p.Root && c.Rank() != p.Peer {
			return nil
		}
		x := &expect.Ranks[c.Rank()]
		in, out := make([]float32, len(x.In)*count), make([]float32, len(x.Out)*count)
		for i := range in {
			in[i] = 1 / float32(i%1000+c.Rank()+1)
		}
		outs[c.Rank()] = out
		args := exec.Args{Count: count, Op: Sum, Root: p.Root, Peer: p.Peer}
		opts := []Option{WithAlgorithm(a.Name), WithDepth(p.Depth)}
		if k.Uneven {
			return doUneven(t.Context(), c, k, out, in, &exec.BlocksOf{Dst: equal(out, len(x.Out)), Src: equal(in, len(x.In))}, &args, opts)
		}
		return do(t.Context(), c, k, out, in, &args, opts)
	})...); err != nil {
		t.Fatalf("%s, %+v, count %d: %v", a.FullName(), p, count, err)
	}
	return exec.Bytes(slices.Concat(outs...))
}
