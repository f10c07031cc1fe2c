package commtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/collective"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/spec"
)

// worlds are all ways in which ranks talk.
var worlds = fasttest.Worlds(fast.Init)

// World is one of them.
type World = fasttest.World[*fast.Comm]

// comms returns the ranks of a communicator of goroutines.
func comms(t testing.TB, size int) []*fast.Comm {
	return fasttest.Goroutines[*fast.Comm, fast.InitOption](t, size)
}

// initComms returns ranks that Init connects.
func initComms(t testing.TB, size int, opts ...fast.InitOption) []*fast.Comm {
	return fasttest.InitAll(t, size, fast.Init, opts...)
}

func oddAndEven() fast.InitOption         { return fasttest.OddAndEven[fast.InitOption]() }
func withDevices() fast.InitOption        { return fasttest.WithDevices[fast.InitOption]() }
func deviceless(rank int) fast.InitOption { return fasttest.Deviceless[fast.InitOption](rank) }

// checkSum makes an all-reduce, which has to count the ranks.
func checkSum(ctx context.Context, c *fast.Comm) error {
	x := []int64{1}
	if err := fast.AllReduce(ctx, c, x, fast.Sum); err != nil {
		return err
	}
	if x[0] != int64(c.Size()) {
		return fmt.Errorf("%v: the sum is %d", c, x[0])
	}
	return nil
}

// checkHealthy makes a call that succeeds on a communicator which nothing has happened to.
func checkHealthy(t *testing.T, all []*fast.Comm) {
	t.Helper()
	fasttest.CheckErrors(t, fasttest.OnAll(all, func(c *fast.Comm) error { return checkSum(t.Context(), c) }))
}

// TestDisagreement has two ranks make calls between which no message tells of the difference: both learn of it without
// an end of their context, at the latest by their next call.
func TestDisagreement(t *testing.T) {
	for name, calls := range map[string][2]func(ctx context.Context, c *fast.Comm) error{
		"both receive": {
			func(ctx context.Context, c *fast.Comm) error { return fast.Broadcast(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *fast.Comm) error { return fast.Broadcast(ctx, c, make([]int32, 4), 0) }},
		"both send": {
			func(ctx context.Context, c *fast.Comm) error { return fast.Broadcast(ctx, c, make([]int32, 4), 0) },
			func(ctx context.Context, c *fast.Comm) error { return fast.Broadcast(ctx, c, make([]int32, 4), 1) }},
		"a receive against a collective": {
			func(ctx context.Context, c *fast.Comm) error { return fast.Recv(ctx, c, make([]int32, 4), 1) },
			func(ctx context.Context, c *fast.Comm) error { return fast.Broadcast(ctx, c, make([]int32, 4), 0) }},
		"nothing against something": {
			func(ctx context.Context, c *fast.Comm) error { return fast.AllReduce(ctx, c, []int32{}, fast.Sum) },
			func(ctx context.Context, c *fast.Comm) error {
				return fast.AllReduce(ctx, c, make([]int32, 4), fast.Sum)
			}},
	} {
		for _, w := range worlds {
			t.Run(w.Name+"/"+name, func(t *testing.T) {
				all := w.Comms(t, 2)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				for rank, err := range fasttest.OnAll(all, func(c *fast.Comm) error {
					defer c.Close()
					if err := calls[c.Rank()](ctx, c); err != nil {
						return err
					}
					return fast.Barrier(ctx, c)
				}) {
					var m *fast.MismatchError
					if !errors.As(err, &m) || m.Rank != 1-rank {
						t.Errorf("rank %d: %v", rank, err)
					}
				}
			})
		}
	}
}

// TestDisagreementLabels: where calls differ in nothing but their labels, and no message tells so, the next call does.
// The calls between them had no label.
func TestDisagreementLabels(t *testing.T) {
	for _, w := range worlds {
		t.Run(w.Name, func(t *testing.T) {
			all := w.Comms(t, 2)
			defer fasttest.CloseAll(t, all)
			errs := fasttest.OnAll(all, func(c *fast.Comm) error {
				var none []int32
				label := fast.WithLabel(fmt.Sprint("loss of ", c.Rank()))
				if err := errors.Join(fast.AllReduce(t.Context(), c, none, fast.Sum, label),
					fast.AllReduce(t.Context(), c, none, fast.Sum)); err != nil {
					return err
				}
				return fast.Barrier(t.Context(), c)
			})
			err := wantMismatch(errs, 0, []string{"primitive"})
			if text := fmt.Sprint(errs); err != nil || !strings.Contains(text, `AllReduce "loss of 0"`) {
				t.Errorf("%v, of %s", err, text)
			}
		})
	}
}

// TestSameBits: what an algorithm leaves on every rank does not depend on how ranks talk. The inputs are such that sums
// of other trees have other bits.
func TestSameBits(t *testing.T) {
	ways := map[string][]fast.InitOption{
		"tcp":        {fast.WithTransport("tcp")},
		"shm":        {fast.WithTransport("shm")},
		"rdma":       {fast.WithTransport("rdma"), withDevices()},
		"three ways": {oddAndEven(), withDevices(), deviceless(3)},
	}
	for _, size := range []int{2, 4} {
		all := map[string][]*fast.Comm{}
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
						t.Errorf("%s, %+v, count %d: over %s it leaves other bits than over tcp", a.FullName(), calls[len(calls)-1],
							count, name)
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
func equal(buf []float32, blocks int) (b fast.Blocks) {
	for i := 0; blocks > 1 && i < blocks; i++ {
		b.Counts = append(b.Counts, len(buf)/blocks)
	}
	return b
}

// leftBy makes a call on float32 by an algorithm, and returns what it leaves in the Out of all ranks.
func leftBy(t *testing.T, ranks []*fast.Comm, a *gen.Algorithm, p gen.Params, count int) []byte {
	t.Helper()
	all := access.Fast.Collectives()
	k := all[slices.IndexFunc(all, func(k *exec.Collective) bool { return k.Name == a.Primitive.Name })]
	expect, err := spec.Expect(a.Primitive, spec.Call{Size: p.Size, Root: p.Root, Peer: p.Peer})
	if err != nil {
		t.Fatal(err)
	}
	outs := make([][]float32, len(ranks))
	if err := errors.Join(fasttest.OnAll(ranks, func(c *fast.Comm) error {
		if k.PointToPoint && c.Rank() != p.Root && c.Rank() != p.Peer {
			return nil
		}
		x := &expect.Ranks[c.Rank()]
		in, out := make([]float32, len(x.In)*count), make([]float32, len(x.Out)*count)
		for i := range in {
			in[i] = 1 / float32(i%1000+c.Rank()+1)
		}
		outs[c.Rank()] = out
		args := exec.Args{Count: count, Op: fast.Sum, Root: p.Root, Peer: p.Peer}
		opts := []fast.Option{fast.WithAlgorithm(a.Name), fast.WithDepth(p.Depth)}
		if k.Uneven {
			return collective.DoUneven(t.Context(), c, k, out, in, &exec.BlocksOf{Dst: equal(out, len(x.Out)),
				Src: equal(in, len(x.In))}, &args, opts)
		}
		return collective.Do(t.Context(), c, k, out, in, &args, opts)
	})...); err != nil {
		t.Fatalf("%s, %+v, count %d: %v", a.FullName(), p, count, err)
	}
	return exec.Bytes(slices.Concat(outs...))
}
