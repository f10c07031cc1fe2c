package emittest

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/access"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	"github.com/collgen/collgen/gen/emit/text"
	"github.com/collgen/collgen/spec"
)

// fastDir is the folder of package fast, and fastPath its path.
const (
	fastDir  = "../.."
	fastPath = "github.com/collgen/collgen/fast"
)

// The emitted code is the schedule: every generated function runs here on elements that are symbols, over a transport
// that compares what it is asked to do with the proved schedule: each message of each step, with its peer, its place,
// its operand and its marks, in their order; and after each step the expressions in memory, and so the local actions,
// their operands in their order, and what finishes a reduction.

// emittedVar says how much TestEmittedCodeIsTheSchedule looks at: "all" is every size up to 64 with every root, sender,
// receiver and count of a list; otherwise it is a sample of that, which the mutants are compared with as well.
const emittedVar = "COLLGEN_EMITTED"

const emittedSizes = 64

// subject is an algorithm and the function that was generated for it.
type subject struct {
	*gen.Algorithm
	k    *exec.Collective
	code *exec.Algorithm
}

// collectiveOf returns the collective of that name of package fast; nil if there is none.
func collectiveOf(name string) *exec.Collective {
	for _, k := range access.Fast.Collectives() {
		if k.Name == name {
			return k
		}
	}
	return nil
}

// generated returns the function of an algorithm of the catalogue.
func generated(t testing.TB, a *gen.Algorithm) subject {
	t.Helper()
	if k := collectiveOf(a.Primitive.Name); k != nil {
		for i := range k.Algorithms {
			if k.Algorithms[i].Name == a.Name {
				return subject{a, k, &k.Algorithms[i]}
			}
		}
	}
	t.Fatalf("%s is in the catalogue, and nothing is generated for it", a.FullName())
	panic("unreachable")
}

// collective has the subject's function, and nothing else.
func (u subject) collective() *exec.Collective {
	k, code := *u.k, *u.code
	code.Run = func(ctx context.Context, x *exec.Call) error {
		return x.Executor.Transport.(*actor).run(ctx, x, u.code.Run)
	}
	code.Local, code.Serves = false, nil // the stage has no hosts: an actor sets what the schedule was made for
	k.Algorithms, k.Rules = []exec.Algorithm{code}, []fast.Rule{{Algorithm: code.Name}}
	return &k
}

// instantiate returns a call of p, whose count and aliasing are to be filled in.
func (u subject) instantiate(t testing.TB, k *exec.Collective, p gen.Params) *emittedCall {
	t.Helper()
	s, err := gen.Instantiate(u.Algorithm, p)
	if err != nil {
		t.Fatal(err)
	}
	return u.callOf(t, k, s)
}

// callOf returns a call whose schedule is to be s.
func (u subject) callOf(t testing.TB, k *exec.Collective, s *gen.Schedule) *emittedCall {
	t.Helper()
	expect, err := spec.Expect(u.Primitive, spec.Call{Size: s.Size, Root: s.Root, Peer: s.Peer})
	if err != nil {
		t.Fatal(err)
	}
	e := &emittedCall{a: u.Algorithm, k: k, s: s, expect: expect}
	for r := range s.Ranks {
		x := &expect.Ranks[r]
		e.steps = append(e.steps, s.Ranks[r].Steps())
		e.buffers = append(e.buffers, buffersOf{len(x.In), len(x.Out), x.InBlock, x.OutBlock})
	}
	return e
}

func takesOp(a *gen.Algorithm) bool { return slices.Contains(a.Primitive.Params, spec.ParamOp) }

// takesPart reports whether rank makes the call: of a point-to-point primitive, only its two ranks do.
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

// counts are lengths of a block: fewer than there are chunks, as many, twice as many, and such that cut into uneven
// chunks, primes among them; and none, which comes last.
func (e *emittedCall) counts() []int {
	chunks := e.s.Chunks
	some := []int{1, chunks - 1, chunks, chunks + 1, 2 * chunks, 7, prime(2*chunks + 1)}
	slices.Sort(some)
	some = slices.Compact(some)
	return append(slices.DeleteFunc(some, func(n int) bool { return n == 0 }), 0)
}

// prime returns the first prime from n on.
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

// sample is a choice of an algorithm's calls.
type sample struct {
	takes  func(p gen.Params, i int) bool             // whether it has the i-th call of a size
	counts func(p gen.Params, i int, all []int) []int // the counts with which it has that call
}

// compared is what was found equal to the schedules.
type compared struct {
	sizes, counts           []int // with messages, but for a single rank
	calls, messages, events int
}

// compare goes through a sample of u's calls, until one differs from its schedule, or a size has no message.
func (u subject) compare(t testing.TB, of sample) (c compared, fault string) {
	k := u.collective()
	for size := 1; size <= emittedSizes; size++ {
		g, before := newStage(size), c.calls
		for i, p := range u.Calls(size, 1, 2, 3, 5) {
			if !of.takes(p, i) {
				continue
			}
			e := u.instantiate(t, k, p)
			for _, count := range of.counts(p, i, e.counts()) {
				messages := g.messages
				n, fault := e.each(g, []int{count})
				if c.calls += n; fault != "" {
					return c, fault
				}
				if g.messages > messages && !slices.Contains(c.counts, count) {
					c.counts = append(c.counts, count)
				}
			}
		}
		c.messages, c.events = c.messages+g.messages, c.events+g.events
		if c.calls == before {
			continue
		}
		if g.messages == 0 && size > 1 {
			return c, fmt.Sprintf("%s: no message of %d ranks was compared", u.FullName(), size)
		}
		c.sizes = append(c.sizes, size)
	}
	slices.Sort(c.counts)
	return c, ""
}

// hollow returns why what was compared says little; "" if it says enough.
func (c *compared) hollow() string {
	switch {
	case c.messages == 0:
		return "nothing was compared"
	case len(c.sizes) < 2 || len(c.counts) < 3:
		return fmt.Sprintf("only sizes %v and counts %v were compared", c.sizes, c.counts)
	}
	return ""
}

func TestEmittedCodeIsTheSchedule(t *testing.T) {
	of := someCalls
	if os.Getenv(emittedVar) == "all" {
		of = allCalls
	}
	for _, a := range catalogue.Algorithms() {
		t.Run(a.FullName(), func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			c, fault := generated(t, &a).compare(t, of)
			if fault == "" {
				fault = c.hollow()
			}
			if fault != "" {
				t.Fatal(fault)
			}
			t.Logf("sizes %s: counts %s, %d calls, %d messages and %d local actions are the schedule's, in %v",
				text.Ranges(c.sizes),
				text.Ranges(c.counts), c.calls, c.messages, c.events-c.messages, time.Since(began).Round(time.Millisecond))
		})
	}
}

// TestEmptySampleIsSeen has samples that compare nothing.
func TestEmptySampleIsSeen(t *testing.T) {
	u := generated(t, &catalogue.AllReduceRing)
	none := sample{takes: func(gen.Params, int) bool { return false }}
	if c, fault := u.compare(t, none); fault != "" || c.hollow() != "nothing was compared" {
		t.Errorf("a sample of no call: %q, %+v", fault, c)
	}
	empty := sample{func(p gen.Params, _ int) bool { return p.Size <= 3 },
		func(gen.Params, int, []int) []int { return []int{0} }}
	if _, fault := u.compare(t, empty); !strings.Contains(fault, "no message of 2 ranks was compared") {
		t.Errorf("a sample of calls without elements: %q", fault)
	}
	single := sample{func(p gen.Params, _ int) bool { return p.Size <= 3 },
		func(gen.Params, int, []int) []int { return []int{7} }}
	if c, fault := u.compare(t, single); fault != "" ||
		!strings.Contains(c.hollow(), "only sizes [1 2 3] and counts [7]") {
		t.Errorf("a sample of one count: %q, %+v", fault, c)
	}
}

var (
	allCalls = sample{func(gen.Params, int) bool { return true },
		func(_ gen.Params, _ int, all []int) []int { return all }}

	// someCalls are what fits into make test: all counts with the smallest sizes; with others two of them for each
	// call, in turn, and none for one call of a size.
	someCalls = sample{sampled, func(p gen.Params, i int, all []int) []int {
		if p.Size <= 9 {
			return all
		}
		last := len(all) - 1
		two := []int{all[(i+p.Size)%last], all[(i+p.Size+2)%last]}
		if i == 0 {
			return append(two, all[last])
		}
		return two
	}}
)

// sampled reports whether a sample has the i-th call of a size: all of the smallest sizes, and some of the others.
func sampled(p gen.Params, i int) bool {
	switch {
	case p.Size <= 5, p.Size == 6 && p.Local == 2: // three hosts: one more than a power of two
		return true
	case p.Size <= 9:
		return i%3 == 0
	case p.Size == 25 && p.Root == 0 && i == 0: // the fewest for which all of the circulant broadcast's search counts
		return true
	case p.Size == 33 && p.Root == 20: // a tree of three levels with radix 4, part of which goes around the end
		return true
	case slices.Contains([]int{15, 16, 17, 33, 64}, p.Size):
		return i%97 == 0
	}
	return false
}
