package colltest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Failure is a case in which an implementation violates the specification.
type Failure struct {
	Case     Case
	Problems []Problem
}

// Problem is one thing that is wrong.
type Problem struct {
	Step int    // index of the call
	Rank int    // -1: none in particular
	Hang bool   `json:",omitzero"` // the calls did not end
	Text string // in words
}

// mostProblems is how many problems of a failure are shown.
const mostProblems = 8

// String returns the failure in words: the calls, the problems, the inputs if they are few, and the case as JSON.
func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "on %d ranks", f.Case.Size)
	for i := range f.Case.Steps {
		s := &f.Case.Steps[i]
		fmt.Fprintf(&b, "\n  call %d: %v\n", i+1, s)
		b.WriteString(f.inputs(s))
	}
	for _, p := range f.Problems[:min(len(f.Problems), mostProblems)] {
		fmt.Fprintf(&b, "\n  %v", p)
	}
	if more := len(f.Problems) - mostProblems; more > 0 {
		fmt.Fprintf(&b, "\n  and %d more", more)
	}
	fmt.Fprintf(&b, "\n  the case: %s", f.Case.JSON())
	return b.String()
}

// String returns the problem in words.
func (p Problem) String() string {
	if p.Rank < 0 {
		return p.Text
	}
	return fmt.Sprintf("call %d, rank %d: %s", p.Step+1, p.Rank, p.Text)
}

// JSON returns the case on one line, as collgen conform -case reads it. [Suite.Try] repeats the case.
func (c *Case) JSON() string {
	text, err := json.Marshal(c)
	if err != nil {
		return err.Error() // only for types and operators that do not exist
	}
	return string(text)
}

// mostShown is the largest number of input elements, of all ranks, that are shown.
const mostShown = 32

// inputs returns the inputs of all ranks as text if they are few, and "" otherwise.
func (f *Failure) inputs(s *Step) string {
	p, ok := primitiveNamed(s.Primitive)
	if !ok {
		return ""
	}
	t, err := newTrial(s, p, f.Case.Size)
	if err != nil || t.shape.elements() > mostShown {
		return ""
	}
	var b strings.Builder
	for rank, blocks := range t.inputs {
		for i, block := range blocks {
			var texts []string
			for at := 0; at < len(block); at += s.Type.Bytes() {
				texts = append(texts, elements[s.Type].text(block[at:]))
			}
			if len(texts) > 0 {
				fmt.Fprintf(&b, "    rank %d, block %d of in: %s\n", rank, i, strings.Join(texts, " "))
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
