package colltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Failure is a case in which an implementation violates the specification.
type Failure struct {
	Case     Case
	Problems []Problem
	// Tries says how often the case was made again, each time in a world of its own, and Failed how often it failed.
	Tries, Failed int
	// After is the number of cases of the run that have to be made before the case in the same world, so that it fails
	// again. It is 0 if it fails alone.
	After int `json:",omitzero"`
	// Also has the other types and ops, such as "float32 sum", with which the case fails.
	Also []string `json:",omitzero"`

	before []Case // those that its world had made
	stuck  *stuck // the calls, which go on
}

// Problem is one thing that is wrong.
type Problem struct {
	Kind ProblemKind `json:",omitzero"`
	Step int         // index of the call in Steps
	Time int         `json:",omitzero"` // the how manyth time it is made, from 1; 0: it is made once
	Rank int         // -1: none in particular
	Text string      // in words
}

// ProblemKind is what sort of thing is wrong.
type ProblemKind string

// The kinds of problems.
const (
	Hang     ProblemKind = "hang"     // the calls did not end
	Erred    ProblemKind = "error"    // a call returned an error, or panicked
	Early    ProblemKind = "early"    // a rank left before others had come
	Stray    ProblemKind = "stray"    // memory outside the results has changed
	Value    ProblemKind = "value"    // a result is wrong
	Disagree ProblemKind = "disagree" // results that have to be the same bits are not
	Accepted ProblemKind = "accepted" // a wrong call was not refused
)

// mostProblems and mostCalls are how many problems and calls of a failure are shown.
const mostProblems, mostCalls = 8, 16

// String returns the failure in words: the calls, the problems, the inputs if they are few, and the case as JSON.
func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "on %d ranks", f.Case.Size)
	for i, s := range f.Case.Comms {
		fmt.Fprintf(&b, "\n  communicator %d: %v", i+1, s)
	}
	for i := range f.Case.Steps[:min(len(f.Case.Steps), mostCalls)] {
		s := &f.Case.Steps[i]
		fmt.Fprintf(&b, "\n  call %d: %v\n", i+1, s)
		if s.Wrong == WrongCounts {
			members := f.Case.members(s)
			fmt.Fprintf(&b, "    rank %d has one element more in each block\n", members[s.longer(len(members))])
		}
		b.WriteString(f.places(s))
		b.WriteString(f.inputs(s))
	}
	if f.Case.Order != 0 {
		b.WriteString("\n  each rank has its own order of waits, and of what may begin in any order")
	}
	for _, p := range f.Problems[:min(len(f.Problems), mostProblems)] {
		fmt.Fprintf(&b, "\n  %v", p)
	}
	if more := len(f.Problems) - mostProblems; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	if len(f.Also) > 0 {
		fmt.Fprintf(&b, "\n  also with %s", strings.Join(f.Also, ", "))
	}
	fmt.Fprintf(&b, "\n  %s\n  the case: %s", f.again(), f.Case.JSON())
	return b.String()
}

// again says in words whether the case has failed again.
func (f *Failure) again() string {
	switch {
	case f.Failed > 0:
		return fmt.Sprintf("made again in worlds of its own, it has failed in %d of %d runs", f.Failed, f.Tries)
	case f.After > 0:
		return fmt.Sprintf("it does not fail alone (%d tries), but again after the %d cases before it", f.Tries, f.After)
	case f.Tries > 0:
		return fmt.Sprintf("it was seen once: it has failed neither alone (%d tries) nor after the cases before it", f.Tries)
	}
	return "it was not made again"
}

// At returns the call that the first problem is of.
func (f *Failure) At() *Step { return &f.Case.Steps[f.Problems[0].Step] }

// TypeOp returns the type of the call, and its op if it has one, such as "float32 sum". It returns "" if the primitive
// has no buffers.
func (s *Step) TypeOp() string {
	if p, ok := primitiveNamed(s.Primitive); ok && !hasBuffers(p) {
		return ""
	}
	if s.Op == 0 {
		return s.Type.String()
	}
	return s.Type.String() + " " + s.Op.String()
}

// String returns the problem in words.
func (p Problem) String() string {
	if p.Rank < 0 {
		return p.Text
	}
	return fmt.Sprintf("%s, rank %d: %s", p.call(), p.Rank, p.Text)
}

// call returns the call in words.
func (p Problem) call() string {
	if p.Time > 0 {
		return fmt.Sprintf("call %d (time %d)", p.Step+1, p.Time)
	}
	return fmt.Sprintf("call %d", p.Step+1)
}

// JSON returns the case on one line, as [ParseCase] and collgen conform -case read it. [Suite.Try] repeats the case.
func (c *Case) JSON() string {
	text, err := json.Marshal(c)
	if err != nil {
		return err.Error() // only for types and operators that do not exist
	}
	return string(text)
}

// ParseCase returns the case that is given as JSON. It returns an error for JSON that has what no case has.
func ParseCase(text string) (c Case, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return Case{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Case{}, errors.New("there is more after the case")
	}
	return c, nil
}

// mostShown is the largest number of input elements, of all ranks, that are shown.
const mostShown = 32

// inputs returns the inputs of all ranks as text if they are few, and "" otherwise.
func (f *Failure) inputs(s *Step) string {
	p, ok := primitiveNamed(s.Primitive)
	if !ok {
		return ""
	}
	members := f.Case.members(s)
	t, err := newTrial(s, p, len(members))
	if err != nil || t.shape.elements() > mostShown {
		return ""
	}
	var b strings.Builder
	for place, blocks := range t.inputs {
		for i, block := range blocks {
			var texts []string
			for at := 0; at < len(block); at += s.Type.Bytes() {
				texts = append(texts, elements[s.Type].text(block[at:]))
			}
			if len(texts) > 0 {
				fmt.Fprintf(&b, "    rank %d, block %d of in: %s\n", members[place], i, strings.Join(texts, " "))
			}
		}
	}
	return b.String()
}

// places returns as text where displaced blocks begin, of ranks that have several.
func (f *Failure) places(s *Step) string {
	members := f.Case.members(s)
	calls, err := s.Arrange(len(members))
	if err != nil || s.Displaced == 0 {
		return ""
	}
	var b strings.Builder
	for place, c := range calls[:min(len(calls), mostCalls)] {
		if c == nil {
			continue
		}
		for _, buffer := range []struct {
			name           string
			counts, starts []int
		}{{"in", c.InCounts, c.InStarts}, {"out", c.OutCounts, c.OutStarts}} {
			if buffer.starts != nil {
				fmt.Fprintf(&b, "    rank %d: blocks of %s begin at %v, and have %v elements\n", members[place], buffer.name,
					buffer.starts, buffer.counts)
			}
		}
	}
	return b.String()
}

// elements returns the number of elements of all inputs.
func (sh *shape) elements() (n int) {
	for _, counts := range sh.in {
		n += total(counts)
	}
	return n
}
