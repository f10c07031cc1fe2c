package simulate

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/gen/catalogue"
	_ "github.com/collgen/collgen/internal/lessgc" // proofs leave much garbage
	"github.com/collgen/collgen/spec"
)

// everything has a price, and is shared: two cores for three ranks, hosts in racks of two, short segments.
func everything() Machine {
	m := cluster()
	m.RanksPerHost, m.Cores, m.HostsPerRack, m.Segment = 3, 2, 2, 1000
	m.Near.Link, m.Near.Lend, m.Far.Put, m.Far.Take, m.Switch = 20*ps, 500, Constant(40*ps), Constant(50*ps), 1*us
	m.Rack.Link, m.Near.Share, m.Ring, m.Call, m.Spin = 60*ps, true, 2, 50*ns, 500*ns
	return m
}

// calls returns those of all algorithms with some sizes, of which a few have roots and peers.
func calls(sizes ...int) (list []Call) {
	for _, a := range catalogue.Algorithms() {
		for _, size := range sizes {
			for _, p := range a.Calls(size, 3) {
				if (p.Root == 0 || p.Root == size/2) && p.Peer <= 1 {
					list = append(list, Call{Algorithm: &a, Params: p, Block: 4099})
				}
			}
		}
	}
	return list
}

// TestInvariants plays every algorithm on a machine where everything has a price: the parts of the time are all of it,
// every message is received, nothing is busy for longer than all takes, and a second time nothing differs.
func TestInvariants(t *testing.T) {
	m := everything()
	for _, c := range calls(1, 2, 3, 5, 8, 13, 33) {
		r, err := Play(t.Context(), &m, c)
		if err != nil {
			t.Fatalf("%s: %v", c.Algorithm.FullName(), err)
		}
		sent, bytes := messagesOf(t, c)
		switch {
		case r.Parts.Total() != r.Time || r.Mean > r.Time || r.Busiest.Busy > r.Time:
			t.Errorf("%s, %+v: %+v", c.Algorithm.FullName(), c.Params, r)
		case r.Messages != sent || r.Bytes != bytes:
			t.Errorf("%s, %+v: %d messages, %d bytes, want %d, %d", c.Algorithm.FullName(), c.Params, r.Messages, r.Bytes, sent,
				bytes)
		}
		if again, err := Play(t.Context(), &m, c); err != nil || !reflect.DeepEqual(r, again) {
			t.Errorf("%s, %+v: once %+v, then %+v, %v", c.Algorithm.FullName(), c.Params, r, again, err)
		}
	}
}

// messagesOf returns what the ranks of c send, as its schedule says.
func messagesOf(t *testing.T, c Call) (sent, bytes int) {
	s, err := gen.Instantiate(c.Algorithm, c.Params)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{cuts: gen.Cuts{Block: c.Block, Chunks: s.Chunks}}
	for _, p := range s.Ranks {
		for i := range p.Instrs {
			if n, ok := w.message(&p.Instrs[i]); ok && p.Instrs[i].Kind == gen.SendInstr {
				sent, bytes = sent+1, bytes+n
			}
		}
	}
	return sent, bytes
}

// TestBusy compares how long links and cores were busy with what passed them.
func TestBusy(t *testing.T) {
	m := Flat(3*us, 7*ns, 2*ns)
	m.RanksPerHost = 4
	r, err := Play(t.Context(), &m, Call{Algorithm: &catalogue.AllToAllDirect, Params: gen.Params{Size: 12, Depth: 1},
		Block: 1000})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, u := range r.usage {
		if strings.HasPrefix(u.What, "link") {
			if links++; u.Busy != 4*8*1000*7_000 {
				t.Errorf("%s: %d", u.What, u.Busy)
			}
		}
	}
	if links != 6 {
		t.Errorf("%d links of hosts", links)
	}
}

// TestScale multiplies every price with the same number.
func TestScale(t *testing.T) {
	m, twice := everything(), everything()
	for _, p := range twice.prices() {
		*p.is *= 2
	}
	for _, r := range twice.rates() {
		for i := range *r.is {
			(*r.is)[i].Price *= 2
		}
	}
	for _, c := range calls(2, 7, 12) {
		c.Block = 4000
		one, err1 := Play(t.Context(), &m, c)
		two, err2 := Play(t.Context(), &twice, c)
		if d := two.Time - 2*one.Time; err1 != nil || err2 != nil || d < -1000 || d > 1000 {
			t.Errorf("%s, %d ranks: %d and %d, %v, %v", c.Algorithm.FullName(), c.Size, one.Time, two.Time, err1, err2)
		}
	}
}

// TestDearer raises one price at a time. Where each rank has a core and links of its own, all that waits does so in an
// order that no price changes, so that nothing gets faster, not by a picosecond. Where they are shared, what waits in
// line may come to another order, which can save something, as in any scheduling by lists (R. Graham, "Bounds on
// multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969): up to 7 % among these calls.
func TestDearer(t *testing.T) {
	shared, core, host := everything(), everything(), everything()
	core.Cores, core.RanksPerHost, core.Near.Link, core.Ring, core.Spin = 0, 0, 0, 0, 0
	host.Cores, host.RanksPerHost, host.HostsPerRack = 0, 1, 0
	changed := map[string]bool{}
	for _, m := range []struct {
		Machine
		saves float64
		ranks []int
	}{{shared, .1, []int{6, 13}}, {core, 0, []int{7}}, {host, 0, []int{6}}} {
		for i, p := range m.prices() {
			dear := m.Machine
			*dear.prices()[i].is = *p.is*3 + 1*ns*1e-3
			changed[p.name] = dearer(t, p.name, m.Machine, dear, m.saves, m.ranks) || changed[p.name]
		}
		for i, r := range m.rates() {
			dear := m.Machine
			*dear.rates()[i].is = Constant(r.is.At(1)*3 + 10*ps)
			changed[r.name] = dearer(t, r.name, m.Machine, dear, m.saves, m.ranks) || changed[r.name]
		}
	}
	for name, more := range changed {
		if !more {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// dearer has calls take at most so much less, relatively, on the machine with the dearer price, and tells whether any
// takes more.
func dearer(t *testing.T, name string, cheap, dear Machine, saves float64, ranks []int) (changed bool) {
	for _, c := range calls(ranks...) {
		before, err1 := Play(t.Context(), &cheap, c)
		after, err2 := Play(t.Context(), &dear, c)
		if err1 != nil || err2 != nil || float64(after.Time) < (1-saves)*float64(before.Time) {
			t.Errorf("%s dearer: %s, %d ranks: %d, before %d, %v, %v", name, c.Algorithm.FullName(), c.Size, after.Time,
				before.Time, err1, err2)
		}
		changed = changed || after.Time > before.Time
	}
	return changed
}

func TestFailures(t *testing.T) {
	you := spec.Sub(spec.Int(1), spec.Rank)
	stuck := gen.Algorithm{Name: "stuck", Primitive: spec.AllReduce, Body: []gen.Node{
		gen.Step{gen.Recv{From: you, Into: gen.Chunk(spec.Out, spec.Int(0))}}}}
	unequal := gen.Algorithm{Name: "unequal", Primitive: spec.AllGather, Body: []gen.Node{
		gen.Step{gen.Send{To: you, Data: gen.Chunk(spec.Out, spec.Int(0))},
			gen.Recv{From: you, Into: gen.Span(spec.Out, spec.Int(0), spec.Sub(spec.Int(2), spec.Rank))}}}}
	outside := gen.Algorithm{Name: "outside", Primitive: spec.AllGather, Body: []gen.Node{
		gen.Step{gen.Send{To: you, Data: gen.Chunk(spec.Out, spec.Int(7))}}}}
	two := gen.Params{Size: 2, Depth: 1}
	for _, tc := range []struct {
		call Call
		m    Machine
		want string
	}{
		{Call{Algorithm: &stuck, Params: two, Block: 8}, Flat(1, 1, 1), "cannot end: rank 0 waits forever in its step 1"},
		{Call{Algorithm: &unequal, Params: two, Block: 8}, Flat(1, 1, 1),
			"the ends of a message from rank 1 to rank 0 differ"},
		{Call{Algorithm: &outside, Params: two, Block: 8}, Flat(1, 1, 1), "out of range"},
		{Call{Algorithm: &stuck, Params: two, Block: -1}, Flat(1, 1, 1), "blocks of -1 bytes"},
		{Call{Algorithm: &stuck, Params: gen.Params{Size: 1 << 30, Depth: 1}}, Flat(1, 1, 1), "1073741824 ranks"},
		{Call{Algorithm: &stuck, Params: gen.Params{Depth: 1}}, Flat(1, 1, 1), "0 ranks"},
		{Call{Algorithm: &catalogue.AllReduceRing, Params: two, Block: maxBuffer / 2}, Flat(1, 1, 1), "longer than 26 days"},
		{Call{Algorithm: &catalogue.AllReduceRing, Params: two}, Flat(-1, 1, 1), "far.alpha: -1 seconds"},
	} {
		if r, err := Play(t.Context(), &tc.m, tc.call); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%+v, %v, want %s", r, err, tc.want)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	m := Flat(1, 1, 1)
	c := Call{Algorithm: &catalogue.AllReduceRing, Params: gen.Params{Size: 100, Depth: 1}, Block: 1000}
	c.Progress = func(int, Time) { cancel(reason) }
	if _, err := Play(ctx, &m, c); err != reason {
		t.Errorf("got %v, want %v", err, reason)
	}
}

// TestRepeat has calls one behind the other take as long as so many single ones, where every rank waits for all others:
// each pays what a call costs.
func TestRepeat(t *testing.T) {
	m := Flat(3*us, 7*ns, 2*ns)
	m.Call = 1 * us
	c := Call{Algorithm: &catalogue.AllReduceRecursiveDoubling, Params: gen.Params{Size: 8, Depth: 1}, Block: 1000,
		InPlace: true}
	one, err1 := Play(t.Context(), &m, c)
	c.Repeat = 5
	five, err2 := Play(t.Context(), &m, c)
	if err1 != nil || err2 != nil || five.Time != 5*one.Time || five.Messages != 5*one.Messages {
		t.Errorf("%+v, %v; %+v, %v", one, err1, five, err2)
	}
}

// TestTooMany refuses what would not fit into memory.
func TestTooMany(t *testing.T) {
	w := &world{messages: pool[message]{taken: maxInFlight + 1}}
	w.ranks, w.fold, w.open = make([]rank, 2), everyRank(2), map[pair]line{}
	w.messages.pages = make([][]message, maxInFlight/pageOf+1)
	w.messages.pages[maxInFlight/pageOf] = make([]message, pageOf)
	err := w.post(0, &gen.Instr{Kind: gen.SendInstr, Peer: 1}, 1, false)
	if err == nil || !strings.Contains(err.Error(), "in flight at once") {
		t.Errorf("%v", err)
	}
}
