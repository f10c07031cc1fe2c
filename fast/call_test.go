package fast

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/fasttest"
	"github.com/collgen/collgen/fast/internal/setup"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// listener is a transport that keeps what it is asked to do.
type listener struct {
	fasttest.Idle
	calls []wire.Call
	sends [][]wire.Send
	recvs [][]wire.Recv
}

func (r *listener) Begin(call wire.Mark) { r.calls = append(r.calls, *call.Call) }

func (r *listener) Exchange(_ context.Context, sends []wire.Send, recvs []wire.Recv) error {
	r.sends, r.recvs = append(r.sends, slices.Clone(sends)), append(r.recvs, slices.Clone(recvs))
	return nil
}

// TestMessages lists messages with and without bytes, and signals: what has no bytes is left out, and AfterSend marks
// the receive before it or, if that was left out, none.
func TestMessages(t *testing.T) {
	r := new(listener)
	c := newComm(0, 3, r)
	x := &c.exec.Call
	a, b, none := []byte{1}, []byte{2}, []byte{}
	for _, list := range []func(){
		func() {},
		func() { x.Send(1, none); x.Recv(1, none); x.RecvReduce(2, none, none, true); x.AfterSend() },
		func() {
			x.Send(1, a)
			x.Recv(1, a)
			x.AfterSend()
			x.Recv(2, none)
			x.AfterSend()
			x.RecvReduce(2, b, a, true)
		},
		func() { x.Recv(2, b); x.Recv(1, none); x.AfterSend() },
		func() { x.Signal(2); x.Await(1) },
	} {
		list()
		if err := x.Exchange(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([][]wire.Send{{{Peer: 1, Data: a}}, nil, {{Peer: 2}}}, r.sends,
		cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("sends (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][]wire.Recv{
		{{Peer: 1, Into: a, AfterSend: true}, {Peer: 2, Into: b, With: a, ReceivedFirst: true}}, {{Peer: 2, Into: b}},
		{{Peer: 1}},
	}, r.recvs, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("receives (-want +got):\n%s", diff)
	}
	if len(r.calls) != 1 {
		t.Errorf("the call began %d times", len(r.calls))
	}
}

// TestEmptyBlocks: AllToAllV sends nothing for an empty block, and AllGatherV, whose ranks all know that it is empty,
// sends a message without bytes.
func TestEmptyBlocks(t *testing.T) {
	for name, x := range map[string]struct {
		call func(c *Comm) error
		to   []int
	}{
		"AllToAllV": {func(c *Comm) error {
			counts := Blocks{Counts: []int{1, 0, 2}}
			return AllToAllV(t.Context(), c, make([]int8, 3), counts, make([]int8, 3), counts, WithAlgorithm("direct"))
		}, []int{2}},
		"AllGatherV": {func(c *Comm) error {
			return AllGatherV(t.Context(), c, make([]int8, 3), Blocks{Counts: []int{0, 1, 2}}, WithAlgorithm("direct"))
		}, []int{1, 2}},
	} {
		r := new(listener)
		if err := x.call(newComm(0, 3, r)); err != nil {
			t.Fatal(err)
		}
		var to []int
		for _, s := range slices.Concat(r.sends...) {
			to = append(to, s.Peer)
		}
		if slices.Sort(to); !slices.Equal(to, x.to) {
			t.Errorf("%s sends to %d, want %d", name, to, x.to)
		}
	}
}

// TestBetweenBlocks: src may lie between the blocks of dst, and is refused where it lies in one.
func TestBetweenBlocks(t *testing.T) {
	err := Run(t.Context(), 3, func(ctx context.Context, c *Comm) error {
		rank := int32(c.Rank())
		memory := []int32{-1, -1, rank, rank, -1, -1, -1, -1, -1, -1}
		blocks := Blocks{Counts: []int{2, 2, 2}, Displs: []int{0, 8, 4}}
		if err := AllGatherVInto(ctx, c, memory, blocks, memory[1:3]); !errors.Is(err, ErrInvalidArgument) {
			return fmt.Errorf("src is partly in a block of dst: %w", err)
		}
		if err := AllGatherVInto(ctx, c, memory, blocks, memory[2:4]); err != nil {
			return err
		}
		if want := []int32{0, 0, rank, rank, 2, 2, -1, -1, 1, 1}; !slices.Equal(memory, want) {
			return fmt.Errorf("%d, want %d", memory, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAppendRefusesFirst: a call of AllToAllVAppend whose src lies where dst has room is refused before counts are
// sent.
func TestAppendRefusesFirst(t *testing.T) {
	r, memory := new(listener), make([]int8, 8)
	if _, _, err := AllToAllVAppend(t.Context(), newComm(0, 2, r), memory[:4], memory[4:],
		Blocks{Counts: []int{2, 2}}); !errors.Is(err, ErrInvalidArgument) || len(r.sends) > 0 {
		t.Errorf("%v, after %d exchanges", err, len(r.sends))
	}
}

// TestAnnounced: the transport hears of every call, also of one without messages, and whose it is.
func TestAnnounced(t *testing.T) {
	r := new(listener)
	c := newComm(0, 2, r)
	if err := errors.Join(AllReduce[int32](t.Context(), c, nil, Sum), Send(t.Context(), c, []int32{1}, 1),
		Barrier(t.Context(), c)); err != nil {
		t.Fatal(err)
	}
	type announced struct {
		name      string
		seq       uint64
		peerPlus1 uint32
	}
	var got []announced
	for _, call := range r.calls {
		got = append(got, announced{call.PrimitiveName.String(), call.Seq, call.Peer})
	}
	if want := []announced{{"AllReduce", 1, 0}, {"Send", 1, 2}, {"Barrier", 2, 0}}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// everything is what was proved of algorithms in tests of something else.
var everything = exec.Proved{Every: true}

// table is a collective with algorithms that serve some calls, and rules of every kind.
var table = exec.Collective{
	Name:    "Test",
	Reduces: true,
	Algorithms: []exec.Algorithm{
		{Name: "even", Proved: everything, Serves: func(size, _ int) bool { return size%2 == 0 }},
		{Name: "any", Proved: everything},
		{Name: "piped", Proved: everything, Pipelined: true},
	},
	Rules: []Rule{
		{Transport: "tcp", Algorithm: "piped", MaxBytes: 100, PieceBytes: 10},
		{Algorithm: "even", MaxBytes: 100},
		{Algorithm: "any", MaxBytes: 1000, MinSize: 3, MaxSize: 5},
		{Algorithm: "piped", MinSize: 2, PieceBytes: 64},
	},
}

// TestPlan goes through the selection table.
func TestPlan(t *testing.T) {
	for _, test := range []struct {
		name               string
		carrier            string // "": goroutines
		size, count, bytes int
		opts               []Option
		algorithm          string
		depth              int
	}{
		{"the first rule", "", 4, 25, 100, nil, "even", 1},
		{"too many bytes for the first", "", 4, 101, 101, nil, "any", 1},
		{"the first does not serve three", "", 3, 1, 1, nil, "any", 1},
		{"too few ranks for the second", "", 2, 200, 200, nil, "piped", 4},
		{"too many ranks for the second", "", 6, 200, 193, nil, "piped", 4},
		{"whole pieces", "", 7, 200, 192, nil, "piped", 3},
		{"nothing to cut", "", 7, 0, 0, nil, "piped", 1},
		{"no more pieces than elements", "", 7, 2, 16 << 10, nil, "piped", 2},
		{"no rule", "", 1, 200, 200, nil, "any", 1},
		{"by name", "", 4, 25, 100, []Option{WithAlgorithm("any")}, "any", 1},
		{"by name, with the depth of its rule", "", 4, 25, 100, []Option{WithAlgorithm("piped")}, "piped", 2},
		{"by depth", "", 4, 25, 100, []Option{WithDepth(7)}, "even", 7},
		{"by both", "", 4, 25, 100, []Option{WithDepth(7), WithAlgorithm("any")}, "any", 7},
		{"the last option counts", "", 4, 25, 100, []Option{WithAlgorithm("any"), WithAlgorithm("even"), {}}, "even", 1},
		{"over another transport", "tcp", 4, 25, 100, nil, "piped", 10},
		{"too many bytes for that transport", "tcp", 4, 101, 101, nil, "any", 1},
		{"by name, with the depth for the transport", "tcp", 4, 25, 100, []Option{WithAlgorithm("piped")}, "piped", 10},
	} {
		c := newComm(0, test.size, nil)
		if test.carrier != "" {
			c.exec.Carrier = test.carrier
		}
		for range 2 { // made, and remembered
			wantPlan(t, test.name, c, test.count, test.bytes, test.opts, test.algorithm, test.depth)
		}
	}
}

// wantPlan checks what a call of table on c gets.
func wantPlan(t *testing.T, name string, c *Comm, count, bytes int, opts []Option, algorithm string, depth int) {
	t.Helper()
	a, got, err := c.exec.Plan(&table, count, bytes, Sum, 0, opts)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	} else if a.Name != algorithm || got != depth {
		t.Errorf("%s: %s with depth %d, want %s with %d", name, a.Name, got, algorithm, depth)
	}
}

// TestPlanOfUneven: rules see the bytes that a block has on average, rounded up.
func TestPlanOfUneven(t *testing.T) {
	uneven := table
	uneven.Uneven = true
	for elements, want := range map[int]string{400: "even", 401: "any"} {
		p := exec.Prepared{Form: exec.Form{Collective: &uneven, Type: spec.TypeInt8, Args: exec.Args{Count: elements,
			Op: Sum}}}
		if err := newComm(0, 4, nil).exec.Prepare(&p, nil); err != nil || p.Algorithm.Name != want {
			t.Errorf("%d elements: %v, %v, want %s", elements, p.Algorithm, err, want)
		}
	}
}

// TestPlansOfSeveral has calls of two collectives by turns, each of which gets its own.
func TestPlansOfSeveral(t *testing.T) {
	other := exec.Collective{Name: "Other", Algorithms: []exec.Algorithm{{Name: "only", Proved: everything}}}
	c := newComm(0, 4, nil)
	for range 3 {
		wantPlan(t, "the first", c, 25, 100, nil, "even", 1)
		if a, _, err := c.exec.Plan(&other, 25, 100, Sum, 0, nil); err != nil || a.Name != "only" {
			t.Errorf("%v, %v", a, err)
		}
	}
	if len(c.exec.Plans) != 2 {
		t.Errorf("%d plans", len(c.exec.Plans))
	}
}

// TestPlanRefuses has options that no call can serve.
func TestPlanRefuses(t *testing.T) {
	for _, test := range []struct {
		opts []Option
		want string
	}{
		{[]Option{WithAlgorithm("rign")}, `no algorithm is called "rign"; there are even, any, piped`},
		{[]Option{WithAlgorithm("")}, `no algorithm is called ""`},
		{[]Option{WithAlgorithm("even")}, `algorithm "even" does not serve op sum among 3 ranks`},
		{[]Option{WithDepth(0)}, "depth is 0"},
		{[]Option{WithDepth(-1)}, "depth is -1"},
	} {
		_, _, err := newComm(0, 3, nil).exec.Plan(&table, 1, 1, Sum, 0, test.opts)
		if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
	none := exec.Collective{Name: "Test"}
	if _, _, err := newComm(0, 3, nil).exec.Plan(&none, 1, 1, Sum, 0, nil); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("without algorithms: %v", err)
	}
}

// TestCarrier: all ranks have the same word for how they talk, on communicators of several sizes.
func TestCarrier(t *testing.T) {
	carriers := map[string][]string{ // by the size, from 1
		"goroutines":     {"inproc", "inproc", "inproc"},
		"shm":            {"inproc", "shm", "shm"},
		"tcp":            {"inproc", "tcp", "tcp"},
		"tcp, encrypted": {"inproc", "tcp", "tcp"},
		"mixed":          {"inproc", "tcp", "mixed"},
	}
	for _, w := range worlds {
		if w.Name == "shm" && !setup.CanShare {
			t.Log("this system shares no memory")
			continue
		}
		for i, want := range carriers[w.Name] {
			all := w.Comms(t, i+1)
			for _, c := range all {
				if got := c.Topology(); got.Transport != want || c.exec.PerHost != 0 && c.exec.PerHost != most(got.Hosts) {
					t.Errorf("%s, %v: %v over %q, want %q, and %d on a host", w.Name, c, got, got.Transport, want, c.exec.PerHost)
				}
			}
			fasttest.CloseAll(t, all)
		}
	}
}

// most returns how many ranks are on the host that has the most.
func most(hosts [][]int) (n int) {
	for _, ranks := range hosts {
		n = max(n, len(ranks))
	}
	return n
}

// TestCarrierOfSplit: a part of a mixed communicator is not mixed.
func TestCarrierOfSplit(t *testing.T) {
	if !setup.CanShare {
		t.Skip("this system shares no memory")
	}
	all := fasttest.InitAll(t, 4, Init, fasttest.OddAndEven[InitOption]())
	defer fasttest.CloseAll(t, all)
	for _, test := range []struct {
		color func(rank int) int
		want  string
	}{
		{func(rank int) int { return rank % 2 }, "shm"},
		{func(rank int) int { return rank / 2 }, "tcp"},
		{func(rank int) int { return rank / 3 }, "mixed"}, // and a rank alone
	} {
		parts := make([]*Comm, len(all))
		for _, err := range fasttest.OnAll(all, func(c *Comm) (err error) {
			parts[c.Rank()], err = c.Split(t.Context(), test.color(c.Rank()), 0)
			return err
		}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range parts {
			if want := fasttest.Unless(c.Size() == 1, test.want, "inproc"); c.exec.Carrier != want ||
				c.exec.PerHost != most(c.Topology().Hosts) {
				t.Errorf("%v: %q, %d on a host, want %q, %v", c, c.exec.Carrier, c.exec.PerHost, want, c.Topology())
			}
		}
		fasttest.CloseAll(t, parts)
	}
}

// TestAlgorithms lists what there is.
func TestAlgorithms(t *testing.T) {
	names := Collectives()
	if !slices.IsSorted(names) || len(names) != len(spec.Primitives()) {
		t.Errorf("the collectives are %v", names)
	}
	for _, name := range names {
		if len(Algorithms(name)) == 0 {
			t.Errorf("%s has no algorithms", name)
		}
	}
	if got := Algorithms("AllReduce"); !slices.Contains(got, "ring") {
		t.Errorf("those of AllReduce are %v", got)
	}
	if got := Algorithms("allreduce"); got != nil {
		t.Errorf("those of nothing are %v", got)
	}
}

// BenchmarkPlan is what the choice of an algorithm costs a call.
func BenchmarkPlan(b *testing.B) {
	for _, bench := range []struct {
		name        string
		k           *exec.Collective
		count, size int
		opts        []Option
	}{
		{"AllReduce of 8 bytes", &allReduce, 1, 2, nil},
		{"AllReduce of 1 MiB", &allReduce, 1 << 17, 8, nil},
		{"Broadcast of 1 MiB, in pieces", &broadcast, 1 << 17, 8, nil},
		{"AllReduce of 8 bytes, by name", &allReduce, 1, 2, []Option{WithAlgorithm("ring")}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			c := newComm(0, bench.size, nil)
			for b.Loop() {
				if _, _, err := c.exec.Plan(bench.k, bench.count, 8*bench.count, Sum, 0, bench.opts); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
