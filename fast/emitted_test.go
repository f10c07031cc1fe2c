package fast

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/emit"
	"github.com/collgen/collgen/spec"
)

// The emitted code is the schedule: every generated function runs here on elements that are symbols, over a transport that
// compares what it is asked to do with the proved schedule: each message of each step, with its peer, its place, its
// operand and its marks, in their order; and after each step the expressions in memory, and so the local actions, their
// operands in their order, and what finishes a reduction.

// emittedVar says how much TestEmittedCodeIsTheSchedule looks at: "all" is every size up to 64 with every root, sender and
// receiver; otherwise it is a sample of that.
const emittedVar = "COLLGEN_EMITTED"

const emittedSizes = 64

// subject is an algorithm and the function that was generated for it.
type subject struct {
	*gen.Algorithm
	k    *Collective
	code *Algorithm
}

// generated is the function of an algorithm of the catalogue.
func generated(t testing.TB, a *gen.Algorithm) subject {
	t.Helper()
	for _, k := range collectives {
		for i := range k.Algorithms {
			if k.Name == a.Primitive.Name && k.Algorithms[i].Name == a.Name {
				return subject{a, k, &k.Algorithms[i]}
			}
		}
	}
	t.Fatalf("%s is in the catalogue, and nothing is generated for it", a.FullName())
	panic("unreachable")
}

// collective has the subject's function, and nothing else.
func (u subject) collective() *Collective {
	k, code := *u.k, *u.code
	code.Run = func(ctx context.Context, x *Call) error {
		return x.c.transport.(*actor).run(ctx, x, u.code.Run)
	}
	k.Algorithms, k.Rules = []Algorithm{code}, []Rule{{Algorithm: code.Name}}
	return &k
}

// instantiate is a call of p, whose count and aliasing are to be filled in.
func (u subject) instantiate(t testing.TB, k *Collective, p gen.Params) *emittedCall {
	t.Helper()
	s, err := gen.Instantiate(u.Algorithm, p)
	if err != nil {
		t.Fatal(err)
	}
	return u.callOf(t, k, s)
}

// callOf is a call whose schedule is to be s.
func (u subject) callOf(t testing.TB, k *Collective, s *gen.Schedule) *emittedCall {
	t.Helper()
	expect, err := spec.Expect(u.Primitive, spec.Call{Size: s.Size, Root: s.Root, Peer: s.Peer})
	if err != nil {
		t.Fatal(err)
	}
	e := &emittedCall{a: u.Algorithm, k: k, s: s}
	for r := range s.Ranks {
		x := &expect.Ranks[r]
		e.steps = append(e.steps, s.Ranks[r].Steps())
		e.buffers = append(e.buffers, buffersOf{len(x.In), len(x.Out), x.InBlock, x.OutBlock})
	}
	return e
}

func takesOp(a *gen.Algorithm) bool { return slices.Contains(a.Primitive.Params, spec.ParamOp) }

// takesPart tells whether rank makes the call: of a point-to-point primitive, only its two ranks do.
func (e *emittedCall) takesPart(rank int) bool {
	return !e.k.PointToPoint || rank == e.s.Root || rank == e.s.Peer
}

// each goes through the counts of a call, in place and not, until one differs from the schedule.
func (e *emittedCall) each(g *stage, counts []int) (calls int, fault string) {
	for _, count := range counts {
		if e.s.Depth > max(count, 1) { // the runtime takes a smaller depth then
			continue
		}
		for _, inPlace := range []bool{false, true} {
			if inPlace && e.a.Primitive.InPlace.InBlock.IsAbsent() {
				continue
			}
			e.count, e.inPlace = count, inPlace
			calls++
			if fault := g.perform(e); fault != "" {
				return calls, fault
			}
		}
	}
	return calls, ""
}

// counts are lengths of a block: none, fewer than there are chunks, as many, and such that cut into uneven chunks, primes
// among them.
func (e *emittedCall) counts() []int {
	chunks := e.s.Chunks
	all := []int{0, 1, chunks - 1, chunks, chunks + 1, 7, prime(2*chunks + 1)}
	slices.Sort(all)
	return slices.Compact(all)
}

// prime is the first prime from n on.
func prime(n int) int {
	for isComposite(n) {
		n++
	}
	return n
}

func isComposite(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return true
		}
	}
	return n < 2
}

func TestEmittedCodeIsTheSchedule(t *testing.T) {
	all := os.Getenv(emittedVar) == "all"
	for _, a := range gen.Catalogue() {
		t.Run(a.FullName(), func(t *testing.T) {
			t.Parallel()
			began, calls, events, sizes := time.Now(), 0, 0, []int(nil)
			u := generated(t, &a)
			k := u.collective()
			for size := 1; size <= emittedSizes; size++ {
				g, before := newStage(size), calls
				for i, p := range a.Calls(size, 1, 2, 3, 5) {
					if !all && !sampled(p, i) {
						continue
					}
					e := u.instantiate(t, k, p)
					counts := e.counts()
					if !all {
						counts = counts[i%len(counts):][:1]
					}
					n, fault := e.each(g, counts)
					if calls += n; fault != "" {
						t.Fatal(fault)
					}
				}
				if events += g.events; calls > before {
					sizes = append(sizes, size)
				}
			}
			if calls == 0 {
				t.Fatal("nothing was compared")
			}
			t.Logf("sizes %s: %d calls, %d events are the schedule's, in %v", emit.Ranges(sizes), calls, events, time.Since(began).Round(time.Millisecond))
		})
	}
}

// sampled tells whether a sample has the i-th call of a size: all of the smallest sizes, and some of the others.
func sampled(p gen.Params, i int) bool {
	switch {
	case p.Size <= 5:
		return true
	case p.Size <= 9:
		return i%3 == 0
	case slices.Contains([]int{15, 16, 17, 33, 64}, p.Size):
		return i%97 == 0
	}
	return false
}
