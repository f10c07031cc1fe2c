package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
)

// meaning returns the normal form of a schedule whose shape is right: what every promised chunk holds in the end, for
// every timing. It returns "" for a schedule without one, in which ranks deadlock or two accesses to one place race.
// Two schedules with the same meaning are both right or both wrong.
//
// It shares no code with package verify, which it tests, and prefers brevity to speed: it compares all events with all
// others, and values are text. It assumes that ⊕ is associative, and commutative if the algorithm requires that. The
// trees of reductions count where the primitive makes a promise about them.
func meaning(s *gen.Schedule, inPlace bool) string {
	want, err := spec.Expect(s.Primitive, spec.Call{Size: s.Size, Root: s.Root, Peer: s.Peer})
	if err != nil {
		return ""
	}
	m := &reading{s: s, want: want, inPlace: inPlace, memory: map[address]value{}, writes: map[address]int{}}
	m.number()
	if !m.inOrder() || m.races() {
		return ""
	}
	for _, e := range m.order {
		m.play(e)
	}
	return m.text()
}

// reading is a schedule that is being interpreted. Its events are the beginning, 2i, and the end, 2i+1, of each
// instruction i, which are numbered across all ranks.
type reading struct {
	s       *gen.Schedule
	want    *spec.Expectation
	inPlace bool
	first   []int // by rank
	all     []*gen.Instr
	rank    []int   // by instruction
	partner []int   // by instruction: of a receive its send, otherwise -1
	after   [][]int // by event: events that come before it
	// by event: its predecessor on its channel, which determines the order of play but is no proof of order
	fifo   [][]int
	order  []int
	before []set // by event: what happens before it
	memory map[address]value
	writes map[address]int // how often
	sent   map[int][]value // by send
}

// address is one chunk or slot of a rank. In place, Out is addressed as In.
type address struct {
	rank int
	buf  spec.Buf
	at   int
}

// value is the content of a chunk: the tree as text, and its leaves in order. A lent value exists only at its source.
type value struct {
	tree   string
	leaves []string
	loan   *loan
}

type loan struct {
	step   int
	source address // of a copy
	writes int     // to source, when it was lent
	sent   *value  // of a receive
}

func (m *reading) number() {
	for r := range m.s.Ranks {
		m.first = append(m.first, len(m.all))
		for i := range m.s.Ranks[r].Instrs {
			m.all, m.rank = append(m.all, &m.s.Ranks[r].Instrs[i]), append(m.rank, r)
		}
	}
	n := len(m.all)
	m.after, m.fifo, m.partner = make([][]int, 2*n), make([][]int, 2*n), slices.Repeat([]int{-1}, n)
	m.sent = map[int][]value{}
	lanes := map[[4]int][]int{}
	for g, in := range m.all {
		m.after[2*g+1] = append(m.after[2*g+1], 2*g)
		for _, a := range in.After {
			m.after[2*g] = append(m.after[2*g], 2*(m.first[m.rank[g]]+a)+1)
		}
		if in.AfterSend >= 0 {
			m.after[2*g+1] = append(m.after[2*g+1], 2*(m.first[m.rank[g]]+in.AfterSend)+1)
		}
		if in.Kind != gen.SendInstr && !in.Kind.IsReceive() {
			continue
		}
		lane := [4]int{m.rank[g], in.Peer, in.Channel, 0}
		if in.Kind != gen.SendInstr {
			lane = [4]int{in.Peer, m.rank[g], in.Channel, 1}
		}
		if k := len(lanes[lane]); k > 0 {
			last := lanes[lane][k-1]
			m.fifo[2*g], m.fifo[2*g+1] = []int{2 * last}, []int{2*last + 1}
		}
		lanes[lane] = append(lanes[lane], g)
	}
	for lane, recvs := range lanes {
		for k, g := range recvs {
			if lane[3] == 1 && k < len(lanes[[4]int{lane[0], lane[1], lane[2], 0}]) {
				m.partner[g] = lanes[[4]int{lane[0], lane[1], lane[2], 0}][k]
				m.after[2*g+1] = append(m.after[2*g+1], 2*m.partner[g])
			}
		}
	}
}

// inOrder finds an order of all events, and for each event all that come before it. It reports whether there is an
// order.
func (m *reading) inOrder() bool {
	n := len(m.after)
	m.before = make([]set, n)
	for progress := true; progress; {
		progress = false
		for e := range n {
			isReady := func(p int) bool { return m.before[p] != nil }
			if m.before[e] != nil || !all(m.after[e], isReady) || !all(m.fifo[e], isReady) {
				continue
			}
			if e%2 == 1 && m.partner[e/2] < 0 && m.all[e/2].Kind.IsReceive() {
				continue // its message never comes
			}
			progress, m.before[e] = true, make(set, n/64+1)
			for _, p := range m.after[e] {
				m.before[e].add(p)
				m.before[e].addAll(m.before[p])
			}
			m.order = append(m.order, e)
		}
	}
	return len(m.order) == n
}

// set is a set of events, a bit for each.
type set []uint64

func (s set) add(e int)      { s[e/64] |= 1 << (e % 64) }
func (s set) has(e int) bool { return s[e/64]&(1<<(e%64)) != 0 }

func (s set) addAll(others set) {
	for i, bits := range others {
		s[i] |= bits
	}
}

func all(list []int, is func(int) bool) bool {
	return !slices.ContainsFunc(list, func(x int) bool { return !is(x) })
}

// access is a read or a write of a place by an instruction.
type access struct {
	g      int
	writes bool
	place  gen.Place
}

// races reports whether two accesses to one address are unordered, and one of them is a write.
func (m *reading) races() bool {
	by := map[address][]access{}
	for g, in := range m.all {
		toItself := in.Kind == gen.CopyInstr && m.at(m.rank[g], in.Dst, 0) == m.at(m.rank[g], in.Srcs[0], 0)
		for i, p := range append([]gen.Place{in.Dst}, in.Srcs...) {
			for k := range p.N {
				a := m.at(m.rank[g], p, k)
				by[a] = append(by[a], access{g, i == 0 && !toItself, p})
			}
		}
	}
	for _, list := range by {
		for i, a := range list {
			for _, b := range list[:i] {
				if a.g != b.g && (a.writes || b.writes) && !m.ordered(a.g, b.g) && !m.follows(a, b) && !m.follows(b, a) {
					return true
				}
			}
		}
	}
	return false
}

func (m *reading) ordered(g, h int) bool { return m.before[2*g].has(2*h+1) || m.before[2*h].has(2*g+1) }

// follows reports whether a is a receive that overwrites, part by part, exactly what the send b sends.
func (m *reading) follows(a, b access) bool {
	return a.writes && m.all[a.g].AfterSend >= 0 && m.first[m.rank[a.g]]+m.all[a.g].AfterSend == b.g &&
		m.at(m.rank[a.g], a.place, 0) == m.at(m.rank[b.g], b.place, 0) && a.place.N == b.place.N
}

// at returns the k-th address of a place.
func (m *reading) at(rank int, p gen.Place, k int) address {
	a, w := address{rank, p.Buf, p.At + k}, &m.want.Ranks[rank]
	if p.Buf == spec.Out && m.inPlace && w.InBlock >= 0 {
		a.buf, a.at = spec.In, a.at+(w.InBlock-w.OutBlock)*m.s.Chunks
	}
	return a
}

// play executes an event: a send reads when it begins, a receive writes when it ends.
func (m *reading) play(e int) {
	g := e / 2
	in, rank := m.all[g], m.rank[g]
	if in.Kind.IsReceive() != (e%2 == 1) || in.Kind == gen.JoinInstr {
		return
	}
	results := make([]value, max(in.Dst.N, 0))
	for k := range results {
		results[k] = m.result(g, in, rank, k)
	}
	if in.Kind == gen.SendInstr {
		for k := range in.Srcs[0].N {
			m.sent[g] = append(m.sent[g], m.read(rank, in, in.Srcs[0], k))
		}
	}
	for k, v := range results {
		a := m.at(rank, in.Dst, k)
		m.memory[a] = v
		m.writes[a]++
	}
}

// result returns what an instruction writes to the k-th chunk of its destination.
func (m *reading) result(g int, in *gen.Instr, rank, k int) value {
	switch in.Kind {
	case gen.RecvInstr:
		v := m.sent[m.partner[g]][k]
		if in.Lend {
			return value{loan: &loan{step: in.Step, sent: &v}}
		}
		return v
	case gen.CopyInstr:
		if in.Lend {
			source := m.at(rank, in.Srcs[0], k)
			return value{loan: &loan{step: in.Step, source: source, writes: m.writes[source]}}
		}
		return m.read(rank, in, in.Srcs[0], k)
	case gen.RecvReduceInstr:
		with, received := m.read(rank, in, in.Srcs[0], k), m.sent[m.partner[g]][k]
		if in.ReceivedFirst {
			return plus(received, with)
		}
		return plus(with, received)
	case gen.FinishInstr:
		v := m.read(rank, in, in.Dst, k)
		return leaf("finish(" + v.normal(m.s.Requires.Commutative) + ")").withTree("finish" + v.tree)
	}
	sum := m.read(rank, in, in.Srcs[0], k)
	for _, p := range in.Srcs[1:] {
		sum = plus(sum, m.read(rank, in, p, k))
	}
	return sum
}

// read returns the value that an instruction reads. Only reductions of the same step can read a loan, while its source
// is as it was.
func (m *reading) read(rank int, in *gen.Instr, p gen.Place, k int) value {
	v := m.load(m.at(rank, p, k))
	switch {
	case v.loan == nil:
		return v
	case in.Kind != gen.ReduceInstr || in.Step != v.loan.step:
		return leaf("nothing")
	case v.loan.sent != nil:
		return *v.loan.sent
	case m.writes[v.loan.source] != v.loan.writes:
		return leaf("nothing")
	}
	return m.load(v.loan.source)
}

// load returns the value at an address. Before anything is written, that is its own name.
func (m *reading) load(a address) value {
	if v, ok := m.memory[a]; ok {
		return v
	}
	return leaf(fmt.Sprintf("%s%d[%d]", a.buf, a.rank, a.at))
}

func leaf(name string) value { return value{tree: name, leaves: []string{name}} }

func (v value) withTree(tree string) value {
	v.tree = tree
	return v
}

func plus(v, w value) value {
	return value{tree: "(" + v.tree + "+" + w.tree + ")", leaves: slices.Concat(v.leaves, w.leaves)}
}

// normal returns v in the normal form that the laws of ⊕ allow.
func (v value) normal(commutative bool) string {
	if v.loan != nil {
		return "nothing"
	}
	leaves := v.leaves
	if commutative {
		leaves = slices.Sorted(slices.Values(leaves))
	}
	return strings.Join(leaves, "+")
}

// text returns the contents of all promised chunks, and which ranks have met if that is promised.
func (m *reading) text() string {
	var b strings.Builder
	trees := map[string]int{} // numbered as they come: which chunks hold one tree
	for r := range m.want.Ranks {
		w := &m.want.Ranks[r]
		m.contents(&b, r, spec.In, w.In, trees)
		m.contents(&b, r, spec.Out, w.Out, trees)
		for _, q := range w.Entered {
			fmt.Fprintf(&b, "rank %d has met %d: %t\n", r, q, q == r || m.met(r, q))
		}
	}
	return b.String()
}

func (m *reading) contents(b *strings.Builder, r int, buf spec.Buf, blocks []spec.Content, trees map[string]int) {
	for i := range len(blocks) * m.s.Chunks {
		a := m.at(r, gen.Place{Buf: buf, At: i, N: 1}, 0)
		if blocks[i/m.s.Chunks].Kind == spec.Undefined || m.inPlace && buf == spec.In && m.isShared(r, i/m.s.Chunks) {
			continue
		}
		v := m.load(a)
		fmt.Fprintf(b, "%s%d[%d] = %s", buf, r, i, v.normal(m.s.Requires.Commutative))
		switch m.s.Primitive.Order {
		case spec.RankOrdered:
			fmt.Fprintf(b, ", %s", v.tree)
		case spec.SameTree:
			if _, ok := trees[v.tree]; !ok {
				trees[v.tree] = len(trees)
			}
			fmt.Fprintf(b, ", tree %d", trees[v.tree])
		}
		b.WriteString("\n")
	}
}

// isShared reports whether a block of In is, in place, also one of Out.
func (m *reading) isShared(r, block int) bool {
	_, shared := m.want.Ranks[r].Aliased(block)
	return shared
}

// met reports whether rank q has begun before rank r has ended.
func (m *reading) met(r, q int) bool {
	for g := range m.all {
		for h := range m.all {
			if m.rank[g] == r && m.rank[h] == q && m.before[2*g+1].has(2*h) {
				return true
			}
		}
	}
	return false
}
