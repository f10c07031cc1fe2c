package counterexample

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/collgen/collgen/gen"
)

// A scene is what a picture of a failure shows: the steps of some ranks, in columns such that no message goes back in
// time, and the messages between them.
type scene struct {
	ranks    []int // those that are shown, ascending
	of, last int   // how many ranks there are, and the last column that is
	from, to int   // the columns that are shown
	boxes    []box
	arrows   []arrow
}

// box is a step of a rank.
type box struct {
	rank, step, column int
	lines              []line
}

// line is an instruction of a step.
type line struct {
	instr int // -1: it stands for those that there is no room for
	text  string
	wrong bool
}

// arrow is a message: the line of one box that sends it, and that of another that receives it.
type arrow struct {
	from, to end
	wrong    bool
}

type end struct{ box, line int }

// A picture has room for so much.
const (
	sceneRanks   = 8
	sceneColumns = 6
	sceneLines   = 8
	sceneChars   = 60
)

// Instr names an instruction: Ranks[Rank].Instrs[Index] of a schedule.
type Instr struct{ Rank, Index int }

func (i Instr) of(s *gen.Schedule) *gen.Instr { return &s.Ranks[i.Rank].Instrs[i.Index] }

// newScene returns the part of s that matters for what went wrong at focus.
func newScene(s *gen.Schedule, focus Instr, wrong []Instr) *scene {
	columns := columnsOf(s)
	x := &scene{of: len(s.Ranks)}
	for _, c := range columns {
		for _, column := range c {
			x.last = max(x.last, column)
		}
	}
	x.ranks = shownRanks(s, focus, wrong)
	x.to = x.last
	if x.last >= sceneColumns {
		at := columns[focus.Rank][focus.of(s).Step]
		x.from = max(0, min(at-sceneColumns/2, x.last-sceneColumns+1))
		x.to = x.from + sceneColumns - 1
	}
	x.fill(s, columns, wrong)
	x.ranks = slices.DeleteFunc(x.ranks, func(r int) bool { // nothing of them is to be seen
		return r != focus.Rank && !slices.ContainsFunc(x.boxes, func(b box) bool { return b.rank == r })
	})
	return x
}

// columnsOf gives each step of each rank a column: behind the step before it, and not before the steps that send what
// it receives. Where there is no such arrangement, or it takes long to find, steps are counted.
func columnsOf(s *gen.Schedule) []map[int]int {
	steps, total := make([][]int, len(s.Ranks)), 0 // that a rank has, ascending
	for r := range s.Ranks {
		for i := range s.Ranks[r].Instrs {
			steps[r] = append(steps[r], s.Ranks[r].Instrs[i].Step)
		}
		slices.Sort(steps[r])
		steps[r] = slices.Compact(steps[r])
		total += len(steps[r])
	}
	columns := make([]map[int]int, len(s.Ranks))
	count := func() []map[int]int {
		for r := range steps {
			columns[r] = make(map[int]int, len(steps[r]))
			for i, step := range steps[r] {
				columns[r][step] = i
			}
		}
		return columns
	}
	count()
	pairs := pairsOf(s)
	for range min(total, manySteps) + 1 {
		if !delay(s, steps, columns, pairs) {
			return columns
		}
	}
	return count()
}

// manySteps bounds the work on columns.
const manySteps = 1 << 12

// delay moves steps that stand too early, and tells whether there were any.
func delay(s *gen.Schedule, steps [][]int, columns []map[int]int, pairs map[Instr]Instr) bool {
	moved := false
	for recv, send := range pairs {
		from, step := columns[send.Rank][send.of(s).Step], recv.of(s).Step
		if from > columns[recv.Rank][step] {
			columns[recv.Rank][step], moved = from, true
		}
	}
	for r := range steps {
		for i := 1; i < len(steps[r]); i++ {
			if before := columns[r][steps[r][i-1]]; columns[r][steps[r][i]] <= before {
				columns[r][steps[r][i]], moved = before+1, true
			}
		}
	}
	return moved
}

// pairsOf returns the send of every receive that has one.
func pairsOf(s *gen.Schedule) map[Instr]Instr {
	pairs := map[Instr]Instr{}
	for _, m := range s.Messages() {
		pairs[Instr{m.To, m.Recv}] = Instr{m.From, m.Send}
	}
	return pairs
}

// shownRanks returns all ranks if there are few, and otherwise those that are concerned, those that they exchange
// messages with in what is wrong, and those that the rank in focus exchanges messages with, the nearest in time first.
func shownRanks(s *gen.Schedule, focus Instr, wrong []Instr) []int {
	concerned := append([]Instr{focus}, wrong...)
	var ranks []int
	add := func(r int) {
		if r >= 0 && r < len(s.Ranks) && len(ranks) < sceneRanks && !slices.Contains(ranks, r) {
			ranks = append(ranks, r)
		}
	}
	addPeer := func(in *gen.Instr) {
		if in.Kind == gen.SendInstr || in.Kind.IsReceive() {
			add(in.Peer)
		}
	}
	for _, o := range concerned {
		add(o.Rank)
	}
	for _, o := range concerned {
		addPeer(o.of(s))
	}
	near := make([]int, len(s.Ranks[focus.Rank].Instrs))
	for i := range near {
		near[i] = i
	}
	distance := func(i int) int { return abs(Instr{focus.Rank, i}.of(s).Step - focus.of(s).Step) }
	slices.SortStableFunc(near, func(i, j int) int { return cmp.Compare(distance(i), distance(j)) })
	for _, i := range near {
		addPeer(Instr{focus.Rank, i}.of(s))
	}
	for r := range s.Ranks {
		add(r)
	}
	slices.Sort(ranks)
	return ranks
}

// fill makes the boxes and the arrows.
func (x *scene) fill(s *gen.Schedule, columns []map[int]int, wrong []Instr) {
	ends := map[Instr]end{}
	for _, r := range x.ranks {
		for _, b := range x.boxesOf(s, r, columns[r], wrong) {
			b.clip()
			for k, l := range b.lines {
				ends[Instr{r, l.instr}] = end{len(x.boxes), k}
			}
			x.boxes = append(x.boxes, b)
		}
	}
	for recv, send := range pairsOf(s) {
		from, sent := ends[send]
		to, received := ends[recv]
		if sent && received {
			isWrong := x.boxes[from.box].lines[from.line].wrong || x.boxes[to.box].lines[to.line].wrong
			x.arrows = append(x.arrows, arrow{from, to, isWrong})
		}
	}
	slices.SortFunc(x.arrows, func(a, b arrow) int {
		return slices.Compare([]int{a.to.box, a.to.line}, []int{b.to.box, b.to.line})
	})
}

// boxesOf returns the steps of a rank that are to be seen, in order.
func (x *scene) boxesOf(s *gen.Schedule, rank int, columns map[int]int, wrong []Instr) []box {
	at := map[int]int{} // by step: its place in boxes
	var boxes []box
	for i := range s.Ranks[rank].Instrs {
		in := &s.Ranks[rank].Instrs[i]
		if column := columns[in.Step]; column < x.from || column > x.to || in.Kind == gen.JoinInstr {
			continue
		}
		k, ok := at[in.Step]
		if !ok {
			k, at[in.Step] = len(boxes), len(boxes)
			boxes = append(boxes, box{rank: rank, step: in.Step, column: columns[in.Step]})
		}
		boxes[k].lines = append(boxes[k].lines, line{i, brief(Text(in)), slices.Contains(wrong, Instr{rank, i})})
	}
	return boxes
}

// brief returns text that fits a box.
func brief(text string) string {
	if r := []rune(text); len(r) > sceneChars {
		return string(r[:sceneChars-1]) + "…"
	}
	return text
}

// clip leaves out instructions that there is no room for, but none that is wrong.
func (b *box) clip() {
	hidden := len(b.lines) - sceneLines
	if hidden <= 0 {
		return
	}
	var kept []line
	for i, l := range b.lines {
		if l.wrong || len(kept) < sceneLines-1 && !laterWrong(b.lines[i+1:], sceneLines-1-len(kept)) {
			kept = append(kept, l)
		}
	}
	b.lines = append(kept, line{-1, fmt.Sprintf("… %d more", len(b.lines)-len(kept)), false})
}

// laterWrong reports whether all the room that is left is needed for what is wrong.
func laterWrong(lines []line, room int) bool {
	n := 0
	for _, l := range lines {
		if l.wrong {
			n++
		}
	}
	return n >= room
}
