package verify_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
	"pgregory.net/rapid"
)

// A simulation carries a schedule out in an order drawn by chance, as adversely as the rules allow: a receive fills its
// place with rubbish as soon as it begins, a send reads its place at once or as late as it can, and a channel holds as
// many messages as it is given. It knows nothing of graphs and shares no code with the checker, whose word it tests.
type simulation struct {
	s        *gen.Schedule
	capacity int
	random   *rand.Rand
	memory   []map[spec.Buf][]string // by rank
	before   []map[spec.Buf][]string // the same, before the call
	progs    [][]simulated
}

// simulated is an instruction and how far it is.
type simulated struct {
	gen.Instr
	begun, ended, taken bool
	data                []string // of a send, once taken
	lane                *lane    // of a message
	k                   int      // its number in the lane
}

// lane is one channel from one rank to another.
type lane struct{ sends, recvs []*simulated }

func simulate(s *gen.Schedule, want *spec.Expectation, inPlace bool, capacity int, seed uint64) *simulation {
	m := &simulation{s: s, capacity: capacity, random: rand.New(rand.NewPCG(seed, 0))}
	lanes := map[[3]int]*lane{}
	for rank, p := range s.Ranks {
		m.memory = append(m.memory, m.buffers(rank, &p, &want.Ranks[rank], inPlace))
		copied := map[spec.Buf][]string{}
		for b, cells := range m.memory[rank] {
			copied[b] = slices.Clone(cells)
		}
		m.before = append(m.before, copied)
		prog := make([]simulated, len(p.Instrs))
		for i := range prog {
			prog[i].Instr = p.Instrs[i]
			prog[i].enlist(lanes, rank)
		}
		m.progs = append(m.progs, prog)
	}
	return m
}

// buffers returns a rank's: "in2[3]" is what chunk 3 of rank 2's In holds before the call.
func (m *simulation) buffers(rank int, p *gen.Program, want *spec.RankExpectation, inPlace bool) map[spec.Buf][]string {
	label := func(buf spec.Buf, n int) []string {
		cells := make([]string, n)
		for i := range cells {
			cells[i] = fmt.Sprintf("%s%d[%d]", buf, rank, i)
		}
		return cells
	}
	b := map[spec.Buf][]string{spec.In: label(spec.In, p.In), spec.Out: label(spec.Out, p.Out),
		spec.Scratch: label(spec.Scratch, p.Scratch)}
	if inPlace && want.InBlock >= 0 { // for the primitives here, one buffer contains the other
		shift := (want.InBlock - want.OutBlock) * m.s.Chunks
		if p.In >= p.Out {
			b[spec.Out] = b[spec.In][shift : shift+p.Out]
		} else {
			copy(b[spec.Out][-shift:], b[spec.In])
			b[spec.In] = b[spec.Out][-shift : -shift+p.In]
		}
	}
	return b
}

func (x *simulated) isMessage() bool {
	return x.Kind == gen.SendInstr || x.Kind == gen.RecvInstr || x.Kind == gen.RecvReduceInstr
}

func (x *simulated) enlist(lanes map[[3]int]*lane, rank int) {
	if !x.isMessage() {
		return
	}
	key := [3]int{rank, x.Peer, x.Channel}
	if x.Kind != gen.SendInstr {
		key[0], key[1] = x.Peer, rank
	}
	if lanes[key] == nil {
		lanes[key] = &lane{}
	}
	x.lane = lanes[key]
	list := x.side()
	x.k = len(*list)
	*list = append(*list, x)
}

// side returns the messages of the lane at x's end.
func (x *simulated) side() *[]*simulated {
	if x.Kind == gen.SendInstr {
		return &x.lane.sends
	}
	return &x.lane.recvs
}

// run goes on until nothing can be done any more, and tells whether everything was.
func (m *simulation) run() bool {
	for {
		var can []func()
		left := 0
		for rank := range m.progs {
			for i := range m.progs[rank] {
				x := &m.progs[rank][i]
				switch {
				case !x.begun && m.canBegin(rank, x):
					can = append(can, func() { m.begin(rank, x) })
				case x.begun && !x.ended && m.canEnd(rank, x):
					can = append(can, func() { m.end(rank, x) })
				}
				if !x.ended {
					left++
				}
			}
		}
		if len(can) == 0 {
			return left == 0
		}
		can[m.random.IntN(len(can))]()
	}
}

func (m *simulation) canBegin(rank int, x *simulated) bool {
	for _, a := range x.After {
		if !m.progs[rank][a].ended {
			return false
		}
	}
	return !x.isMessage() || x.k == 0 || (*x.side())[x.k-1].begun
}

func (m *simulation) canEnd(rank int, x *simulated) bool {
	if !x.isMessage() {
		return true
	}
	if x.k > 0 && !(*x.side())[x.k-1].ended {
		return false
	}
	if x.Kind == gen.SendInstr {
		if x.k < m.capacity {
			return true
		}
		r := x.lane.recvs[x.k-m.capacity]
		return r.ended || r.begun && r.AfterSend < 0
	}
	return x.lane.sends[x.k].begun && (x.AfterSend < 0 || m.progs[rank][x.AfterSend].ended)
}

func (m *simulation) at(rank int, p gen.Place) []string {
	return m.memory[rank][p.Buf][p.At : p.At+p.N]
}

// take reads what a send sends, unless that was done.
func (m *simulation) take(rank int, x *simulated) {
	if !x.taken {
		x.data, x.taken = slices.Clone(m.at(rank, x.Srcs[0])), true
	}
}

func (m *simulation) begin(rank int, x *simulated) {
	x.begun = true
	switch {
	case x.Kind == gen.SendInstr && m.random.IntN(2) == 0:
		m.take(rank, x)
	case x.Kind == gen.RecvInstr && x.AfterSend < 0,
		x.Kind == gen.RecvReduceInstr && x.AfterSend < 0 && !m.same(rank, x.Dst, x.Srcs[0]):
		for i := range x.Dst.N {
			m.at(rank, x.Dst)[i] = "rubbish"
		}
	case !x.isMessage():
		m.local(rank, x)
		x.ended = true
	}
}

// same reports whether two places are one memory.
func (m *simulation) same(rank int, p, q gen.Place) bool {
	return &m.at(rank, p)[0] == &m.at(rank, q)[0]
}

func (m *simulation) end(rank int, x *simulated) {
	x.ended = true
	if x.Kind == gen.SendInstr {
		m.take(rank, x)
		return
	}
	sender := x.lane.sends[x.k]
	m.take(x.Peer, sender)
	for i, received := range sender.data {
		switch {
		case x.Kind == gen.RecvInstr:
		case x.ReceivedFirst:
			received = "(" + received + "+" + m.at(rank, x.Srcs[0])[i] + ")"
		default:
			received = "(" + m.at(rank, x.Srcs[0])[i] + "+" + received + ")"
		}
		m.at(rank, x.Dst)[i] = received
	}
}

func (m *simulation) local(rank int, x *simulated) {
	switch x.Kind {
	case gen.CopyInstr:
		copy(m.at(rank, x.Dst), m.at(rank, x.Srcs[0]))
	case gen.ReduceInstr:
		sum := slices.Clone(m.at(rank, x.Srcs[0]))
		for _, p := range x.Srcs[1:] {
			for i := range sum {
				sum[i] = "(" + sum[i] + "+" + m.at(rank, p)[i] + ")"
			}
		}
		copy(m.at(rank, x.Dst), sum)
	case gen.FinishInstr:
		for i, v := range m.at(rank, x.Dst) {
			m.at(rank, x.Dst)[i] = "finish" + v
		}
	}
}

// wrong returns the first chunk of Out that does not hold what it should, "" if there is none.
func (m *simulation) wrong(want *spec.Expectation) string {
	for rank := range want.Ranks {
		for i, got := range m.memory[rank][spec.Out] {
			w := want.Ranks[rank].Out[i/m.s.Chunks]
			if !m.holds(got, w, i%m.s.Chunks) {
				return fmt.Sprintf("rank %d: out[%d] = %s", rank, i, got)
			}
		}
	}
	return ""
}

// holds compares a chunk with its promise: one leaf, or one finish, at the start, and each operand once.
func (m *simulation) holds(got string, want spec.Content, chunk int) bool {
	leaf := func(t spec.Term) string { return fmt.Sprintf("in%d[%d]", t.Rank, t.Block*m.s.Chunks+chunk) }
	if want.Kind == spec.Input {
		return got == leaf(want.Terms[0])
	}
	rest, finished := strings.CutPrefix(got, "finish")
	if !finished || strings.Count(rest, "[") != len(want.Terms) || strings.Contains(rest, "finish") {
		return false
	}
	for _, t := range want.Terms {
		if strings.Count(rest, leaf(t)) != 1 {
			return false
		}
	}
	return true
}

// TestSimulation: what the checker proves comes out right in every simulation, with the capacity that it reports and
// not with less; and what it says comes out wrong, or not at all, does so.
func TestSimulation(t *testing.T) {
	accepted, rejected := 0, map[verify.Check]int{}
	rapid.Check(t, func(t *rapid.T) {
		s := drawSchedule(t)
		if s.Primitive.Name == spec.Barrier.Name {
			t.Skip("a simulation does not see who has met whom")
		}
		for range rapid.IntRange(0, 2).Draw(t, "mutations") {
			mutate(t, s)
		}
		want, err := spec.Expect(s.Primitive, spec.Call{Size: s.Size, Root: s.Root, Peer: s.Peer})
		if err != nil {
			t.Fatal(err)
		}
		inPlace := !s.Requires.OutOfPlace && !s.Primitive.InPlace.InBlock.IsAbsent() && rapid.Bool().Draw(t, "in place")
		r, err := verify.Schedule(s, inPlace)
		var f *verify.Failure
		if err != nil && !errors.As(err, &f) {
			t.Fatal(err)
		}
		run := func(capacity int) (bool, string) {
			m := simulate(s, want, inPlace, capacity, rapid.Uint64().Draw(t, "seed"))
			ended := m.run()
			return ended, m.wrong(want)
		}
		if err != nil {
			rejected[f.Check]++
			compareRejected(t, f, run)
			return
		}
		accepted++
		for range 5 {
			if ended, wrong := run(r.Capacity); !ended || wrong != "" {
				t.Errorf("proved, and ended: %v, with channels of %d; wrong: %s", ended, r.Capacity, wrong)
			}
		}
		if r.Capacity == 0 {
			return
		}
		if ended, _ := run(r.Capacity - 1); ended {
			t.Errorf("it ends with channels of %d", r.Capacity-1)
		}
	})
	t.Logf("%d schedules proved, rejected by check: %v", accepted, rejected)
}

// compareRejected runs what a check has found wrong, where a simulation can show it in any order.
func compareRejected(t *rapid.T, f *verify.Failure, run func(int) (bool, string)) {
	const plenty = 1 << 20
	switch f.Check {
	case verify.Deadlock:
		if ended, _ := run(plenty); ended {
			t.Errorf("it ends, and the checker says: %v", f)
		}
	case verify.Uninitialized, verify.Finish, verify.Postcondition:
		if ended, wrong := run(plenty); !ended || wrong == "" {
			t.Errorf("it comes out right, and the checker says: %v", f)
		}
	}
}
