package view

import (
	"errors"
	"fmt"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify"
)

// MaxInstrs and MaxCells are the sizes beyond which New returns ErrTooLarge: a page would no longer be fluid.
const (
	MaxInstrs = 40_000
	MaxCells  = 40_000
)

// ErrTooLarge is the error of a schedule that a page cannot show in full. [Diagram] makes a page of a part of it.
var ErrTooLarge = errors.New("the schedule is too large to be shown in full")

// New proves s, carries it out, and returns what a page shows of it. What is wrong with s is in the Failure of the
// result. Nothing is presumed of s. The error is ErrTooLarge, or that of a call that the primitive refuses.
func New(s *gen.Schedule, inPlace bool) (*Data, error) {
	if size(s) > MaxInstrs || memory(s) > MaxCells {
		return nil, ErrTooLarge
	}
	d := newData(s)
	d.InPlace = inPlace
	failure, err := d.prove(s)
	if err != nil {
		return nil, err
	}
	if failure != nil && (failure.Check == verify.Program || failure.Check == verify.Shape) {
		d.Layout = Layout{Kind: Circle}
		return d, nil // no number of the schedule can be trusted
	}
	return d, d.fill(s, failure)
}

// newData returns what is known of s before it is carried out.
func newData(s *gen.Schedule) *Data {
	return &Data{Name: s.Algorithm, Primitive: s.Primitive.Name, Promise: s.Primitive.Doc,
		Order: spec.Describe(s.Primitive).Order, Size: s.Size, Depth: s.Depth, Chunks: s.Chunks, Call: callWords(s),
		Folds: folds(s.Primitive), Proof: []string{}, Buffers: []Buffer{}, Clauses: []Clause{}, Phases: []Phase{}}
}

// size returns how many instructions s has, as far as its numbers can be trusted.
func size(s *gen.Schedule) (n int) {
	for rank := range s.Ranks {
		n += len(s.Ranks[rank].Instrs)
	}
	return n
}

// memory returns how many chunks and slots s has, as far as its numbers can be trusted.
func memory(s *gen.Schedule) (n int) {
	for rank := range s.Ranks {
		for _, buf := range bufs {
			n += max(0, min(s.Ranks[rank].Len(buf), MaxCells+1))
		}
	}
	return n
}

// prove has package verify prove s out of place, and in place where that is asked for or possible. It returns the
// counterexample, if there is one.
func (d *Data) prove(s *gen.Schedule) (*verify.Failure, error) {
	report, err := verify.Schedule(s, false)
	var failure *verify.Failure
	var refused *spec.RefusedError
	canBe := !s.Primitive.InPlace.InBlock.IsAbsent() && !s.Requires.OutOfPlace
	if err == nil && canBe {
		if _, inPlace := verify.Schedule(s, true); errors.As(inPlace, &failure) {
			err, d.InPlace = failure, true
		}
	}
	switch {
	case errors.As(err, &refused):
		return nil, err
	case errors.As(err, &failure):
		d.Failure = newFailure(failure)
		return failure, nil
	case err != nil:
		return nil, err
	}
	d.Proof = proofWords(&report, canBe)
	return nil, nil
}

// proofWords says what a report has proved, in sentences.
func proofWords(r *verify.Report, inPlace bool) []string {
	words := []string{
		"The schedule was proved just now: whatever the timing, every rank ends, and holds what is promised.",
		fmt.Sprintf("Its %d messages each have a sender and a receiver; no two accesses to memory race.", r.Messages),
	}
	if inPlace {
		words = append(words, "It was proved out of place, and in place.")
	}
	if r.NeedsRoom {
		words = append(words, fmt.Sprintf("It ends only where every channel has room for %d messages.", r.Capacity))
	}
	if r.Folds {
		words = append(words, "Order of the reduction: "+r.Order.String()+".")
	}
	return words
}

func newFailure(f *verify.Failure) *Failure {
	x := &Failure{Check: string(f.Check), Meaning: f.Check.Meaning(), Rank: f.Rank, Round: -1, Cells: []int{},
		Expected: f.Expected, Got: f.Got, Text: f.Error()}
	if f.Place.Buf != "" {
		x.Place = f.Place.String()
	}
	return x
}

// fill carries s out.
func (d *Data) fill(s *gen.Schedule, failure *verify.Failure) error {
	want, err := spec.Expect(s.Primitive, spec.Call{Size: s.Size, Root: s.Root, Peer: s.Peer})
	if err != nil {
		return err
	}
	r := &run{s: s, want: want, inPlace: d.InPlace, data: d, rounds: roundsOf(s, failure)}
	if r.layout(); r.cells > MaxCells {
		return ErrTooLarge
	}
	r.initialize()
	r.prepare()
	r.play()
	d.Cells, d.Buffers, d.Undefined = r.cells, r.buffers(), r.undefined
	for rank := range s.Ranks {
		d.Held = append(d.Held, r.held(rank))
	}
	for rank := range r.rounds {
		for _, round := range r.rounds[rank] {
			d.Rounds = max(d.Rounds, round+1)
		}
	}
	d.Inner, d.Stuck = r.nodes.pairs, r.stuck()
	d.intern(r.nodes.sets)
	d.Phases, d.Layout = r.phases(), layoutOf(s)
	if failure != nil {
		d.locate(r, failure)
	}
	d.Clauses, err = r.clauses()
	return err
}

// roundsOf returns the rounds of the steps of s. Where ranks wait for each other for ever, steps are counted.
func roundsOf(s *gen.Schedule, failure *verify.Failure) [][]int {
	if failure != nil && size(s)*len(s.Ranks) > MaxInstrs { // it could take long to find that there are none
		return s.StepsAsRounds()
	}
	rounds := s.Rounds()
	for _, m := range s.Messages() {
		from, to := &s.Ranks[m.From].Instrs[m.Send], &s.Ranks[m.To].Instrs[m.Recv]
		if rounds[m.To][to.Step] < rounds[m.From][from.Step] {
			return s.StepsAsRounds()
		}
	}
	mergeSilent(s, rounds)
	return rounds
}

// mergeSilent makes rounds in which nobody sends or receives part of the ones before them, so that a picture has a step
// for each time that messages are in flight.
func mergeSilent(s *gen.Schedule, rounds [][]int) {
	var speaks []bool // by round
	for rank := range s.Ranks {
		for i := range s.Ranks[rank].Instrs {
			in := &s.Ranks[rank].Instrs[i]
			round := rounds[rank][in.Step]
			speaks = append(speaks, make([]bool, max(0, round+1-len(speaks)))...)
			speaks[round] = speaks[round] || in.Kind == gen.SendInstr || in.Kind.IsReceive()
		}
	}
	is, n := make([]int, len(speaks)), 0 // by round, its new number
	for round := range speaks {
		if n == 0 || speaks[round] {
			n++
		}
		is[round] = n - 1
	}
	for _, own := range rounds {
		for step := range own {
			if own[step] < len(is) {
				own[step] = is[own[step]]
			}
		}
	}
}

// intern gives equal sets one number.
func (d *Data) intern(sets []rankSet) {
	known := map[string]int{}
	d.SetOf = make([]int, len(sets))
	d.Sets = [][]int{}
	for i, s := range sets {
		name := fmt.Sprint(s)
		if _, ok := known[name]; !ok {
			known[name] = len(d.Sets)
			d.Sets = append(d.Sets, s.ranges())
		}
		d.SetOf[i] = known[name]
	}
}

// locate says where in the picture a failure is.
func (d *Data) locate(r *run, f *verify.Failure) {
	if f.Rank >= 0 && f.Instr >= 0 {
		d.Failure.Round = r.tasks[r.first[f.Rank]+f.Instr].round
	}
	if f.Rank < 0 || f.Place.Buf == "" {
		return
	}
	for i := range f.Place.N {
		d.Failure.Cells = append(d.Failure.Cells, r.at(f.Rank, f.Place)+i)
	}
}

// stuck returns the first instruction of each rank that is never carried out.
func (r *run) stuck() (list []Stuck) {
	for rank := range r.s.Ranks {
		for g := r.first[rank]; g < r.first[rank+1]; g++ {
			if t := &r.tasks[g]; !t.done && t.Kind != gen.JoinInstr {
				list = append(list, Stuck{rank, t.round, instrText(t.Instr)})
				break
			}
		}
	}
	return list
}
