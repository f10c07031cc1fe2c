package fast

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/gen/catalogue"
)

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
			u := generated(t, &a)
			e := u.instantiate(t, u.k, calls[len(calls)-1])
			for _, e.count = range []int{1, 1021, 17_011} {
				want := e.left(t, all["tcp"])
				for name := range ways {
					if got := e.left(t, all[name]); !bytes.Equal(got, want) {
						t.Errorf("%v: over %s it leaves other bits than over tcp", e, name)
					}
				}
			}
		}
		for name := range ways {
			closeAll(t, all[name])
		}
	}
}

// left makes the call on float32, by the algorithm, and is what it leaves in the Out of all ranks.
func (e *emittedCall) left(t *testing.T, all []*Comm) []byte {
	outs := make([][]float32, len(all))
	if err := errors.Join(onAll(all, func(c *Comm) error {
		if !e.takesPart(c.Rank()) {
			return nil
		}
		b := &e.buffers[c.Rank()]
		in, out := make([]float32, b.in*e.count), make([]float32, b.out*e.count)
		for i := range in {
			in[i] = 1 / float32(i%1000+c.Rank()+1)
		}
		outs[c.Rank()] = out
		args := exec.Args{Count: e.count, Op: Sum, Root: e.s.Root, Peer: e.s.Peer}
		return do(t.Context(), c, e.k, out, in, &args, []Option{WithAlgorithm(e.a.Name), WithDepth(e.s.Depth)})
	})...); err != nil {
		t.Fatal(fmt.Errorf("%v: %w", e, err))
	}
	return exec.Bytes(slices.Concat(outs...))
}
