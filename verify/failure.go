package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/gen"
	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/counterexample"
)

// Check names the check that a schedule fails.
type Check string

// The checks, in the order in which they are made. Each presupposes the ones before it.
const (
	// the algorithm has no schedule: gen.Instantiate fails, or its primitive is wrong
	Program   Check = "program"
	Shape     Check = "shape"     // a number is out of range, or places that belong together differ in length
	Unmatched Check = "unmatched" // a receive without a message, or a message without a receive
	Known     Check = "known"     // a rank uses a place as long as a block of which it does not know the length
	// the two ends of a message differ in length for some count, or a slot is not read as it was written
	Length   Check = "length"
	Deadlock Check = "deadlock" // ranks wait for each other forever, however much a channel holds
	// ranks wait for each other forever where channels have the room that transports promise
	Room          Check = "room"
	Entered       Check = "entered"       // a rank may leave before another has come
	Frame         Check = "frame"         // a write to what is promised to stay as it was
	Alias         Check = "alias"         // an action whose places overlap in a way that it does not allow
	Race          Check = "race"          // two accesses to one place, one of them a write, in no order
	Uninitialized Check = "uninitialized" // a result depends on what scratch or Out held before the call
	Finish        Check = "finish"        // a reduction not completed, completed twice, or completed before its end
	Postcondition Check = "postcondition" // a place holds something else than the primitive promises
	Order         Check = "order"         // the right operands in an order, or in trees, that are not allowed
	Lend          Check = "lend"          // lent data that something else than the step's reductions reads
	ScratchUnused Check = "scratch"       // the algorithm asks for more scratch than it ever uses
)

var meanings = map[Check]string{
	Program:   "there is no schedule",
	Shape:     "a number is out of range, or places that belong together differ in length",
	Unmatched: "a receive has no message, or a message has no receive",
	Known:     "a rank does not know how long a place is that it uses",
	Length:    "the two ends of a message differ in length, or data is read as longer or shorter than it was written",
	Deadlock:  "ranks wait for each other forever",
	Room: "ranks wait for each other forever, unless channels have room for messages, which no " +
		"transport promises",
	Entered:       "a rank may leave before another has come",
	Frame:         "a place is written that has to stay as it was",
	Alias:         "an action's places overlap in a way that it does not allow",
	Race:          "two accesses to one place, one of them a write, are in no order",
	Lend:          "lent data are read by something else than the reductions of the step, or too late",
	Uninitialized: "a result depends on memory that nothing was written to",
	Finish:        "a reduction is not completed, or not exactly once at its end",
	Postcondition: "a place does not hold what the primitive promises",
	Order:         "operands are combined in an order that is not allowed",
	ScratchUnused: "more scratch is asked for than is ever used",
}

// Meaning says what is wrong with a schedule that fails the check: a sentence without its full stop.
func (c Check) Meaning() string { return meanings[c] }

// Failure is a counterexample: the place where a schedule breaks a promise. It is the error of every failed check.
type Failure struct {
	Check     Check      `json:"check"`
	Algorithm string     `json:"algorithm"`
	Params    gen.Params `json:"params"`
	InPlace   bool       `json:"inPlace"`
	Rank      int        `json:"rank"`  // -1: not about one rank
	Step      int        `json:"step"`  // -1: not about one instruction
	Instr     int        `json:"instr"` // index in the rank's program; -1: not about one instruction
	Node      int        `json:"node"`  // index of the action in the algorithm's body, in source order; -1: unknown
	Place     gen.Place  `json:"place"` // zero: not about one place
	Expected  string     `json:"expected"`
	Got       string     `json:"got"`
	Trace     string     `json:"trace"` // the steps around it, for people; lines
	Err       error      `json:"-"`     // the cause, where it is another package's error

	params   []spec.Param           // those that the primitive has
	schedule *gen.Schedule          // nil: there is none
	involved []counterexample.Instr // what is wrong besides Instr, or only together with it
}

// newFailure returns a Failure of a call as a whole.
func newFailure(check Check, algorithm string, of spec.Primitive, p gen.Params) *Failure {
	return &Failure{Check: check, Algorithm: algorithm, Params: p, Rank: -1, Step: -1, Instr: -1, Node: -1,
		params: of.Params}
}

// Unwrap returns the cause, if there is one.
func (f *Failure) Unwrap() error { return f.Err }

// Error returns the counterexample in full: several lines.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s fails the check %q: %s\n", f.Algorithm, f.Check, meanings[f.Check])
	fmt.Fprintf(&b, "  call      %s\n", f.call())
	if where := f.where(); where != "" {
		fmt.Fprintf(&b, "  where     %s\n", where)
	}
	if f.Place.Buf != "" {
		fmt.Fprintf(&b, "  place     %v\n", f.Place)
	}
	for _, line := range [][2]string{{"expected", f.Expected}, {"got", f.Got}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "  %-9s %s\n", line[0], line[1])
		}
	}
	if f.Trace != "" {
		b.WriteString(indent(f.Trace))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (f *Failure) call() string {
	s := fmt.Sprintf("size %d, ", f.Params.Size)
	if slices.Contains(f.params, spec.ParamRoot) {
		s += fmt.Sprintf("root %d, ", f.Params.Root)
	}
	if slices.Contains(f.params, spec.ParamPeer) {
		s += fmt.Sprintf("peer %d, ", f.Params.Peer)
	}
	s += fmt.Sprintf("depth %d, ", f.Params.Depth)
	if f.Params.Local > 0 {
		s += fmt.Sprintf("%d on each host, ", f.Params.Local)
	}
	if f.InPlace {
		return s + "in place"
	}
	return s + "out of place"
}

func (f *Failure) where() string {
	if f.Rank < 0 {
		return ""
	}
	s := fmt.Sprintf("rank %d", f.Rank)
	if f.Step >= 0 {
		s += fmt.Sprintf(", step %d, instruction %d", f.Step, f.Instr)
	}
	if f.Node >= 0 {
		s += fmt.Sprintf(" (action %d of the algorithm)", f.Node)
	}
	return s
}

func indent(lines string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(lines, "\n"), "\n", "\n  ") + "\n"
}

// locate says that f is about an instruction.
func (f *Failure) locate(s *gen.Schedule, rank, instr int) {
	in := &s.Ranks[rank].Instrs[instr]
	f.Rank, f.Instr, f.Step, f.Node = rank, instr, in.Step, in.Node
	f.Trace = counterexample.Steps(s, rank, instr)
}

// SVG returns a picture of the counterexample. It reports false if there is nothing to draw: the algorithm has no
// schedule, or the failure is not about one rank.
func (f *Failure) SVG() (string, bool) {
	if f.schedule == nil || f.Rank < 0 || f.Rank >= len(f.schedule.Ranks) || len(f.schedule.Ranks[f.Rank].Instrs) == 0 {
		return "", false
	}
	p := counterexample.Picture{
		Schedule: f.schedule, Description: f.Error(), Focus: counterexample.Instr{Rank: f.Rank, Index: max(f.Instr, 0)},
		Wrong: f.involved,
		Place: f.Place, Title: fmt.Sprintf("%s fails the check %q", f.Algorithm, f.Check),
		Facts: []counterexample.Fact{{Text: meanings[f.Check]}, {Label: "call", Text: f.call()},
			{Label: "where", Text: f.where()},
			{Label: "expected", Text: f.Expected}, {Label: "got", Text: f.Got, Wrong: true}},
	}
	if f.Instr >= 0 && !slices.Contains(p.Wrong, p.Focus) {
		p.Wrong = append(slices.Clone(p.Wrong), p.Focus)
	}
	return p.SVG(), true
}
