package fast

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"

	"github.com/collgen/collgen/fast/internal/transport"
)

// TestExplain compares what is explained with what calls get, over all transports.
func TestExplain(t *testing.T) {
	for _, w := range worlds {
		all := w.comms(t, 3)
		for _, name := range Collectives() {
			for _, bytes := range []int{0, 8, 4096, 4104, 1 << 20, 16 << 20} {
				x, err := Explain(all[1], Query{Collective: name, Bytes: bytes, Count: bytes / 8})
				if err != nil {
					t.Fatal(err)
				}
				a, depth, err := all[1].exec.Plan(collectiveOf(name), bytes/8, bytes, 0, nil)
				last := x.Rules[len(x.Rules)-1]
				if err != nil || x.Algorithm != a.Name || x.Depth != depth || last.Why != "" || last.Rule.Algorithm != a.Name {
					t.Errorf("%s: %v\n%s with depth %d, %v", w.name, x, a.Name, depth, err)
				}
			}
		}
		closeAll(t, all)
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
	if x, err = Explain(c, Query{Collective: "AllReduce", Bytes: 100, Op: Sum}, WithAlgorithm("chunked-ring"), WithDepth(3)); err != nil {
		t.Fatal(err)
	}
	if want := "AllReduce with sum of 100 bytes among 4 ranks over inproc: chunked-ring, depth 3\n  because WithAlgorithm asks for it\n" +
		"  proved for every number of ranks and every depth"; x.String() != want {
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
	return unless(reduces, "copied", "reduced") + unless(bytes > 64, " in a line", " in slots")
}

func (talkative) Close() error { return nil }

// TestProtocol: a transport says how it carries messages, and both halves of a mixed one do.
func TestProtocol(t *testing.T) {
	c := newComm(0, 2, talkative{})
	x, err := Explain(c, Query{Collective: "AllReduce", Bytes: 64})
	if err != nil || x.Protocol != "reduced in a line" || !strings.Contains(x.String(), "depth 1, reduced in a line\n") {
		t.Errorf("%v, %v", x, err)
	}
	both := compositeOf(2, []int{0}, talkative{}, talkative{})
	defer both.Close()
	c.exec.Transport = both
	if x, err = Explain(c, Query{Collective: "Broadcast", Bytes: 65}); err != nil || x.Protocol != "shm: copied in slots; tcp: copied in slots" {
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
		{c, Query{Collective: "Barriers"}, nil, `no collective is called "Barriers"; there are AllGather, AllReduce`},
		{c, Query{Collective: "Barrier", Bytes: -1}, nil, "a block of 0 elements and -1 bytes"},
		{c, Query{Collective: "Barrier", Bytes: 8, Count: 9}, nil, "a block of 9 elements and 8 bytes"},
		{c, Query{Collective: "Barrier", Op: Sum}, nil, "Barrier has no op"},
		{c, Query{Collective: "AllReduce", Op: 99}, nil, "AllReduce has no op"},
		{c, Query{Collective: "AllReduce"}, []Option{WithAlgorithm("rign")}, `no algorithm is called "rign"`},
	} {
		if _, err := Explain(test.c, test.q, test.opts...); !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: got %v, want %q", test.q, err, test.want)
		}
	}
}
