package fast

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/collgen/collgen/selection"
)

// bounded returns a collective with algorithms that were proved for some calls.
func bounded(algorithms ...Algorithm) *Collective {
	return &Collective{Name: "Test", Reduces: true, Algorithms: algorithms}
}

// TestProved goes through what calls get by what was proved, and what is refused.
func TestProved(t *testing.T) {
	four := Algorithm{Name: "four", Proved: Proved{Sizes: 4}}
	two := Algorithm{Name: "two", Proved: Proved{Sizes: 2}}
	piped := Algorithm{Name: "piped", Pipelined: true, Proved: Proved{Sizes: 4, Depths: 3}}
	endless := Algorithm{Name: "endless", Pipelined: true, Proved: Proved{Every: true}}
	summing := Algorithm{Name: "summing", Commutative: true, Proved: Proved{Every: true}}
	nothing := Algorithm{Name: "nothing"}
	pieces := func(k *Collective, algorithm string) *Collective {
		k.Rules = []Rule{{Algorithm: algorithm, PieceBytes: 8}}
		return k
	}
	for _, x := range []struct {
		name      string
		k         *Collective
		size      int
		opts      []Option
		algorithm string // "": the call is refused
		depth     int
		refusal   string
	}{
		{"within", bounded(two, four), 2, nil, "two", 1, ""},
		{"the last size", bounded(two, four), 4, nil, "four", 1, ""},
		{"an earlier rule is passed over", pieces(bounded(two, endless), "two"), 3, nil, "endless", 1, ""},
		{"by induction", bounded(endless), 1 << 20, nil, "endless", 1, ""},
		{"beyond all", bounded(two, four), 5, nil, "", 0,
			`no algorithm is proved for 5 ranks: "two" is, for up to 2 ranks, "four" is, for up to 4 ranks; "collgen prove -write" proves every number`},
		{"of those that serve", bounded(two, Algorithm{Name: "no", Serves: func(int) bool { return false }}), 5, nil, "", 0,
			`: "two" is, for up to 2 ranks;`},
		{"beyond all, allowed", bounded(two, four), 5, []Option{Unproved()}, "two", 1, ""},
		{"allowed, but one was proved", bounded(two, four), 4, []Option{Unproved()}, "four", 1, ""},
		{"nothing was proved", bounded(nothing), 1, nil, "", 0, `no algorithm is proved for 1 ranks: "nothing" is for none; `},
		{"nothing was proved, allowed", bounded(nothing), 1, []Option{Unproved()}, "nothing", 1, ""},
		{"by name", bounded(two, four), 3, []Option{WithAlgorithm("two")}, "", 0,
			`algorithm "two" is proved for up to 2 ranks, not for 3 ranks; `},
		{"by name, allowed", bounded(two, four), 3, []Option{WithAlgorithm("two"), Unproved()}, "two", 1, ""},
		{"allowed, by name", bounded(two, four), 3, []Option{Unproved(), WithAlgorithm("two")}, "two", 1, ""},
		{"a depth", bounded(piped), 4, []Option{WithDepth(3)}, "piped", 3, ""},
		{"too great a depth", bounded(piped), 4, []Option{WithDepth(4)}, "", 0,
			`algorithm "piped" is proved for up to 4 ranks and depth 3, not for depth 4; `},
		{"a depth of more pieces than elements is refused all the same", bounded(piped), 4, []Option{WithDepth(1 << 30)}, "", 0, "not for depth 1073741824"},
		{"too great a depth, allowed", bounded(piped), 4, []Option{WithDepth(4), Unproved()}, "piped", 4, ""},
		{"a depth that makes no difference", bounded(four), 4, []Option{WithDepth(9)}, "four", 9, ""},
		{"a depth, by induction", bounded(endless), 99, []Option{WithDepth(9)}, "endless", 9, ""},
		{"a depth of too many ranks", bounded(piped), 5, []Option{WithDepth(2)}, "", 0, `no algorithm is proved for 5 ranks: "piped" is, for up to 4 ranks and depth 3`},
		{"the depth of a rule", pieces(bounded(piped), "piped"), 4, nil, "piped", 3, ""},
		{"the depth of a rule, by name", pieces(bounded(piped), "piped"), 4, []Option{WithAlgorithm("piped")}, "piped", 3, ""},
		{"the depth of a rule, allowed", pieces(bounded(piped), "piped"), 4, []Option{Unproved()}, "piped", 10, ""},
		{"the depth of a rule, by induction", pieces(bounded(endless), "endless"), 4, nil, "endless", 10, ""},
		{"an op that one proved algorithm does not take", bounded(summing, two), 3, nil, "summing", 1, ""},
	} {
		c := newComm(0, x.size, nil)
		for range 2 { // made, and remembered
			a, depth, err := c.exec.plan(x.k, 10, 80, Sum, x.opts)
			switch {
			case x.algorithm == "":
				if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), x.refusal) || !strings.Contains(err.Error(), "the option Unproved") {
					t.Errorf("%s: got %v, want %q", x.name, err, x.refusal)
				}
			case err != nil || a.Name != x.algorithm || depth != x.depth:
				t.Errorf("%s: %v, depth %d, %v", x.name, a, depth, err)
			}
		}
	}
}

// TestProvedOps: an algorithm that was proved, but only for other ops, does not keep back one that was not.
func TestProvedOps(t *testing.T) {
	k := bounded(Algorithm{Name: "summing", Commutative: true, Proved: Proved{Every: true}}, Algorithm{Name: "two", Proved: Proved{Sizes: 2}})
	p := newComm(0, 3, nil).exec.newPlan(k)
	if p.calls[0].Unproved == p.calls[1].Unproved || p.steps[0][0].a.Name != "two" || p.steps[1][0].a.Name != "summing" {
		t.Errorf("%+v", p)
	}
}

// TestProvedExactly: the limits of what was proved are exact.
func TestProvedExactly(t *testing.T) {
	for _, x := range []struct {
		p     Proved
		size  int
		piped int // the deepest for an algorithm whose depth makes a difference
		words string
	}{
		{Proved{}, 1, 0, "nothing"},
		{Proved{Sizes: 64}, 64, 0, "up to 64 ranks"},
		{Proved{Sizes: 64, Depths: 4}, 64, 4, "up to 64 ranks and depth 4"},
		{Proved{Sizes: 64, Depths: 4}, 65, 0, "up to 64 ranks and depth 4"},
		{Proved{Sizes: 64, Depths: 4, Every: true}, selection.MaxRanks, selection.MaxDepth, "every number of ranks and every depth"},
		{Proved{Sizes: 64, Every: true}, selection.MaxRanks + 1, 0, "every number of ranks and every depth"},
	} {
		plain, piped := Algorithm{Proved: x.p}, Algorithm{Proved: x.p, Pipelined: true}
		if piped.deepest(x.size) != x.piped || (plain.deepest(x.size) == math.MaxInt) != x.p.covers(x.size) || x.p.String() != x.words {
			t.Errorf("%+v: %d, %d, %v", x, piped.deepest(x.size), plain.deepest(x.size), x.p)
		}
	}
}

// TestCatalogueIsProved: every algorithm of this package was proved for every size and depth.
func TestCatalogueIsProved(t *testing.T) {
	for _, k := range collectives {
		for _, a := range k.Algorithms {
			if !a.Proved.Every || a.Proved.Sizes < 16 || a.Pipelined != (a.Proved.Depths > 0) {
				t.Errorf("%s/%s: %+v", k.Name, a.Name, a.Proved)
			}
		}
	}
}

// TestUnproved makes calls: what was not proved does not run unasked, and a call that was refused does not count.
func TestUnproved(t *testing.T) {
	ran := 0
	k := bounded(Algorithm{Name: "two", Proved: Proved{Sizes: 2}, Run: func(_ context.Context, x *Call) error {
		ran++
		return x.Layout(1, 0)
	}})
	c := comms(3)[0]
	try := func(opts ...Option) error {
		return Do(t.Context(), c, k, []int64{1}, []int64{2}, &Args{Count: 1, Op: Sum, NoAlias: true}, opts)
	}
	for range 2 {
		if err := try(); !errors.Is(err, ErrInvalidArgument) || ran != 0 || c.exec.calls != 0 {
			t.Fatalf("%v, after %d runs and %d calls", err, ran, c.exec.calls)
		}
	}
	if err := try(Unproved()); err != nil || ran != 1 || c.exec.calls != 1 {
		t.Fatalf("%v, after %d runs and %d calls", err, ran, c.exec.calls)
	}
	if err := try(); !errors.Is(err, ErrInvalidArgument) || ran != 1 {
		t.Fatalf("after one that was allowed: %v, %d runs", err, ran)
	}
	opts := []Option{Unproved()}
	if allocated := testing.AllocsPerRun(100, func() {
		if _, _, err := c.exec.plan(k, 1, 8, Sum, opts); err != nil {
			t.Fatal(err)
		}
	}); allocated > 0 {
		t.Errorf("a plan that is remembered: %v allocations", allocated)
	}
}
