package fast

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/transport"
	"github.com/collgen/collgen/selection"
)

// bounded returns a collective with algorithms that were proved for some calls.
func bounded(algorithms ...exec.Algorithm) *exec.Collective {
	return &exec.Collective{Name: "Test", Reduces: true, Algorithms: algorithms}
}

// TestProved goes through what calls get by what was proved, and what is refused.
func TestProved(t *testing.T) {
	four := exec.Algorithm{Name: "four", Proved: exec.Proved{Sizes: 4}}
	two := exec.Algorithm{Name: "two", Proved: exec.Proved{Sizes: 2}}
	piped := exec.Algorithm{Name: "piped", Pipelined: true, Proved: exec.Proved{Sizes: 4, Depths: 3}}
	endless := exec.Algorithm{Name: "endless", Pipelined: true, Proved: exec.Proved{Every: true}}
	summing := exec.Algorithm{Name: "summing", Commutative: true, Proved: exec.Proved{Every: true}}
	nothing := exec.Algorithm{Name: "nothing"}
	pieces := func(k *exec.Collective, algorithm string) *exec.Collective {
		k.Rules = []Rule{{Algorithm: algorithm, PieceBytes: 8}}
		return k
	}
	for _, x := range []struct {
		name      string
		k         *exec.Collective
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
		{"of those that serve", bounded(two, exec.Algorithm{Name: "no", Serves: func(int, int) bool { return false }}), 5,
			nil, "", 0,
			`: "two" is, for up to 2 ranks;`},
		{"beyond all, allowed", bounded(two, four), 5, []Option{Unproved()}, "two", 1, ""},
		{"allowed, but one was proved", bounded(two, four), 4, []Option{Unproved()}, "four", 1, ""},
		{"nothing was proved", bounded(nothing), 1, nil, "", 0,
			`no algorithm is proved for 1 ranks: "nothing" is for none; `},
		{"nothing was proved, allowed", bounded(nothing), 1, []Option{Unproved()}, "nothing", 1, ""},
		{"by name", bounded(two, four), 3, []Option{WithAlgorithm("two")}, "", 0,
			`algorithm "two" is proved for up to 2 ranks, not for 3 ranks; `},
		{"by name, allowed", bounded(two, four), 3, []Option{WithAlgorithm("two"), Unproved()}, "two", 1, ""},
		{"allowed, by name", bounded(two, four), 3, []Option{Unproved(), WithAlgorithm("two")}, "two", 1, ""},
		{"a depth", bounded(piped), 4, []Option{WithDepth(3)}, "piped", 3, ""},
		{"too great a depth", bounded(piped), 4, []Option{WithDepth(4)}, "", 0,
			`algorithm "piped" is proved for up to 4 ranks and depth 3, not for depth 4; `},
		{"a depth of more pieces than elements is refused all the same", bounded(piped), 4, []Option{WithDepth(1 << 30)}, "",
			0, "not for depth 1073741824"},
		{"too great a depth, allowed", bounded(piped), 4, []Option{WithDepth(4), Unproved()}, "piped", 4, ""},
		{"a depth that makes no difference", bounded(four), 4, []Option{WithDepth(9)}, "four", 9, ""},
		{"a depth, by induction", bounded(endless), 99, []Option{WithDepth(9)}, "endless", 9, ""},
		{"a depth of too many ranks", bounded(piped), 5, []Option{WithDepth(2)}, "", 0,
			`no algorithm is proved for 5 ranks: "piped" is, for up to 4 ranks and depth 3`},
		{"the depth of a rule", pieces(bounded(piped), "piped"), 4, nil, "piped", 3, ""},
		{"the depth of a rule, by name", pieces(bounded(piped), "piped"), 4, []Option{WithAlgorithm("piped")}, "piped", 3,
			""},
		{"the depth of a rule, allowed", pieces(bounded(piped), "piped"), 4, []Option{Unproved()}, "piped", 10, ""},
		{"the depth of a rule, by induction", pieces(bounded(endless), "endless"), 4, nil, "endless", 10, ""},
		{"an op that one proved algorithm does not take", bounded(summing, two), 3, nil, "summing", 1, ""},
	} {
		c := newComm(0, x.size, nil)
		for range 2 { // made, and remembered
			a, depth, err := c.exec.Plan(x.k, 10, 80, Sum, 0, x.opts)
			switch {
			case x.algorithm == "":
				if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), x.refusal) ||
					!strings.Contains(err.Error(), "the option Unproved") {
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
	k := bounded(exec.Algorithm{Name: "summing", Commutative: true, Proved: exec.Proved{Every: true}},
		exec.Algorithm{Name: "two", Proved: exec.Proved{Sizes: 2}})
	p := newComm(0, 3, nil).exec.NewPlan(k)
	if p.Calls[0].Unproved == p.Calls[1].Unproved || p.Steps[0][0].Algorithm.Name != "two" ||
		p.Steps[1][0].Algorithm.Name != "summing" {
		t.Errorf("%+v", p)
	}
}

// TestProvedExactly: the limits of what was proved are exact.
func TestProvedExactly(t *testing.T) {
	for _, x := range []struct {
		p     exec.Proved
		size  int
		piped int // the deepest for an algorithm whose depth makes a difference
		words string
	}{
		{exec.Proved{}, 1, 0, "nothing"},
		{exec.Proved{Sizes: 64}, 64, 0, "up to 64 ranks"},
		{exec.Proved{Sizes: 64, Depths: 4}, 64, 4, "up to 64 ranks and depth 4"},
		{exec.Proved{Sizes: 64, Depths: 4}, 65, 0, "up to 64 ranks and depth 4"},
		{exec.Proved{Sizes: 64, Depths: 4, Every: true}, selection.MaxRanks, selection.MaxDepth,
			"every number of ranks and every depth"},
		{exec.Proved{Sizes: 64, Every: true}, selection.MaxRanks + 1, 0, "every number of ranks and every depth"},
	} {
		plain, piped := exec.Algorithm{Proved: x.p}, exec.Algorithm{Proved: x.p, Pipelined: true}
		if piped.Deepest(x.size) != x.piped || (plain.Deepest(x.size) == math.MaxInt) != x.p.Covers(x.size) ||
			x.p.String() != x.words {
			t.Errorf("%+v: %d, %d, %v", x, piped.Deepest(x.size), plain.Deepest(x.size), x.p)
		}
	}
}

// TestCatalogueIsProved: every algorithm of this package was proved for every size and depth, or for all that it
// serves.
func TestCatalogueIsProved(t *testing.T) {
	for _, k := range collectives {
		for _, a := range k.Algorithms {
			if !a.Proved.Every && !servesUpTo(a, a.Proved.Sizes) || a.Proved.Sizes < 16 || a.Pipelined != (a.Proved.Depths > 0) {
				t.Errorf("%s/%s: %+v", k.Name, a.Name, a.Proved)
			}
		}
	}
}

// servesUpTo reports whether a serves no more than size ranks, and has no depths.
func servesUpTo(a exec.Algorithm, size int) bool {
	for n := size + 1; n <= selection.MaxRanks; n++ {
		if a.Pipelined || a.Serves == nil || a.Serves(n, 1) {
			return false
		}
	}
	return true
}

// TestUnproved makes calls: what was not proved does not run unasked, and a call that was refused does not count.
func TestUnproved(t *testing.T) {
	ran := 0
	k := bounded(exec.Algorithm{Name: "two", Proved: exec.Proved{Sizes: 2},
		Run: func(_ context.Context, x *exec.Call) error {
			ran++
			return x.Layout(1, 0)
		}})
	c := comms(t, 3)[0]
	try := func(opts ...Option) error {
		return do(t.Context(), c, k, []int64{1}, []int64{2}, &exec.Args{Count: 1, Op: Sum, NoAlias: true}, opts)
	}
	for range 2 {
		if err := try(); !errors.Is(err, ErrInvalidArgument) || ran != 0 || c.exec.Calls != 0 {
			t.Fatalf("%v, after %d runs and %d calls", err, ran, c.exec.Calls)
		}
	}
	if err := try(Unproved()); err != nil || ran != 1 || c.exec.Calls != 1 {
		t.Fatalf("%v, after %d runs and %d calls", err, ran, c.exec.Calls)
	}
	if err := try(); !errors.Is(err, ErrInvalidArgument) || ran != 1 {
		t.Fatalf("after one that was allowed: %v, %d runs", err, ran)
	}
	opts := []Option{Unproved()}
	if allocated := testing.AllocsPerRun(100, func() {
		if _, _, err := c.exec.Plan(k, 1, 8, Sum, 0, opts); err != nil {
			t.Fatal(err)
		}
	}); allocated > 0 {
		t.Errorf("a plan that is remembered: %v allocations", allocated)
	}
}

// TestExplain compares what is explained with what calls get, over all transports.
func TestExplain(t *testing.T) {
	for _, w := range worlds {
		all := w.Comms(t, 3)
		for _, name := range Collectives() {
			for _, bytes := range []int{0, 8, 4096, 4104, 1 << 20, 16 << 20} {
				x, err := Explain(all[1], Query{Collective: name, Bytes: bytes, Count: bytes / 8})
				if err != nil {
					t.Fatal(err)
				}
				a, depth, err := all[1].exec.Plan(collectiveOf(name), bytes/8, bytes, 0, 0, nil)
				last := x.Rules[len(x.Rules)-1]
				if err != nil || x.Algorithm != a.Name || x.Depth != depth || last.Why != "" || last.Rule.Algorithm != a.Name {
					t.Errorf("%s: %v\n%s with depth %d, %v", w.Name, x, a.Name, depth, err)
				}
			}
		}
		fasttest.CloseAll(t, all)
	}
}

// TestExplanation has one in words, and in JSON.
func TestExplanation(t *testing.T) {
	c := newComm(0, 4, nil)
	c.exec.Carrier = "shm"
	made, err := tunedBy(&Tuning{Rules: map[string][]Rule{"Broadcast": {{Transport: "tcp", Algorithm: "binomial"},
		{MaxBytes: 1 << 20, MaxSize: 4, Algorithm: "chain", PieceBytes: 1 << 18}}}}, "tune.json")
	if err != nil {
		t.Fatal(err)
	}
	c.world, c.exec.Tuning = &world{tuned: made}, made.rulesFor
	x, err := Explain(c, Query{Collective: "Broadcast", Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if want := `Broadcast of 1048576 bytes among 4 ranks over shm: chain, depth 4
  because of tune.json rule 2: at most 4 ranks, at most 1048576 bytes: chain in pieces of 262144 bytes
  not tune.json rule 1: tcp: binomial: it is for transport tcp
  proved for every number of ranks and every depth`; x.String() != want {
		t.Errorf("got %s", x)
	}
	c.world, c.exec.Tuning = nil, nil
	c.exec.Carrier = carriedInside
	if x, err = Explain(c, Query{Collective: "AllReduce", Bytes: 100, Op: Sum}, WithAlgorithm("chunked-ring"),
		WithDepth(3)); err != nil {
		t.Fatal(err)
	}
	if want := "AllReduce with sum of 100 bytes among 4 ranks over inproc: chunked-ring, depth 3\n  because " +
		"WithAlgorithm asks for it\n  proved for every number of ranks and every depth"; x.String() != want {
		t.Errorf("got %s", x)
	}
	text, err := json.Marshal(x)
	if want := `{"collective":"AllReduce","size":4,"perHost":4,"transport":"inproc","bytes":100,"op":"sum","algorithm":"chunked-ring","depth":3,"proved":"every number of ranks and every depth","asked":true}`; err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

// talkative is a transport with protocols.
type talkative struct{ transport.Transport }

func (talkative) Protocol(bytes int, reduces bool) string {
	return fasttest.Unless(reduces, "copied", "reduced") + fasttest.Unless(bytes > 64, " in a line", " in slots")
}

func (talkative) Close() error { return nil }

// TestProtocol: a transport says how it carries messages, and both halves of a mixed one do.
func TestProtocol(t *testing.T) {
	c := newComm(0, 2, talkative{})
	x, err := Explain(c, Query{Collective: "AllReduce", Bytes: 64})
	if err != nil || x.Protocol != "reduced in a line" || !strings.Contains(x.String(), "depth 1, reduced in a line\n") {
		t.Errorf("%v, %v", x, err)
	}
	both := transport.NewComposite(2, []int{0}, transport.Half{Name: "shm", Transport: talkative{}},
		transport.Half{Name: "tcp", Transport: talkative{}})
	defer both.Close()
	c.exec.Transport = both
	if x, err = Explain(c, Query{Collective: "Broadcast", Bytes: 65}); err != nil ||
		x.Protocol != "shm: copied in slots; tcp: copied in slots" {
		t.Errorf("%v, %v", x, err)
	}
}

// TestPredicted: what a call gets over RDMA was predicted, for a rank on each host, and it says so; a table of what was
// measured counts before that.
func TestPredicted(t *testing.T) {
	measured := Rule{Transport: "rdma", Algorithm: "ring"}
	table := tuned{name: "tune.json", rules: map[*exec.Collective][]Rule{collectiveOf("AllReduce"): {measured}}}
	for _, x := range []struct {
		perHost   int
		tuned     tuned
		predicted bool
	}{{1, tuned{}, true}, {2, tuned{}, false}, {1, table, false}} {
		c := newComm(0, 2, nil)
		c.exec.Carrier, c.exec.PerHost = "rdma", x.perHost
		c.world, c.exec.Tuning = &world{tuned: x.tuned}, x.tuned.rulesFor
		e, err := Explain(c, Query{Collective: "AllReduce", Bytes: 1 << 10})
		if err != nil || strings.Contains(strings.Split(e.String(), "\n")[1], "predicted, not measured") != x.predicted {
			t.Errorf("%+v: %v, %v", x, e, err)
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	c := newComm(0, 2, nil)
	for _, test := range []struct {
		c    *Comm
		q    Query
		opts []Option
		want string
	}{
		{nil, Query{Collective: "Barrier"}, nil, "the communicator is nil"},
		{new(Comm), Query{Collective: "Barrier"}, nil, "made by neither Run nor Init"},
		{c, Query{Collective: "Barriers"}, nil,
			`no collective is called "Barriers"; there are AllGather, AllGatherV, AllReduce`},
		{c, Query{Collective: "Barrier", Bytes: -1}, nil, "a block of 0 elements and -1 bytes"},
		{c, Query{Collective: "Barrier", Bytes: 8, Count: 9}, nil, "a block of 9 elements and 8 bytes"},
		{c, Query{Collective: "Barrier", Op: Sum}, nil, "Barrier has no op"},
		{c, Query{Collective: "AllReduce", Op: 99}, nil, "AllReduce has no op"},
		{c, Query{Collective: "AllReduce"}, []Option{WithAlgorithm("rign")}, `no algorithm is called "rign"`},
	} {
		if _, err := Explain(test.c, test.q, test.opts...); !errors.Is(err, ErrInvalidArgument) ||
			!strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.q, err, test.want)
		}
	}
}
