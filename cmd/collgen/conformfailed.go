package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/collgen/collgen/verify/colltest"
)

// failedCase is what failed, and the command that repeats it.
type failedCase struct {
	Primitive string            `json:"primitive"`
	Failure   *colltest.Failure `json:"failure"`
	Repeat    string            `json:"repeat"`          // empty: nothing does
	Known     bool              `json:"known,omitempty"` // by -baseline
	Note      string            `json:"note,omitempty"`  // of -baseline
	New       []string          `json:"new,omitempty"`   // types and ops that are not known, where others are
}

// with returns the types and ops with which it fails. A primitive without buffers has "".
func (x *failedCase) with() []string {
	return append([]string{x.Failure.At().TypeOp()}, x.Failure.Also...)
}

// String returns the whole failure in words, with the command that repeats it.
func (x *failedCase) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s fails %v", x.Primitive, x.Failure)
	if len(x.New) > 0 {
		fmt.Fprintf(&b, "\n  new with %s; the rest is known: %s", strings.Join(x.New, ", "), x.Note)
	}
	if x.Repeat != "" {
		fmt.Fprintf(&b, "\n  again: %s", x.Repeat)
	}
	return b.String()
}

// short returns the failure on one line.
func (x *failedCase) short() string { return x.entry(nil).String() }

// problem returns the first problem on one line.
func (x *failedCase) problem() string {
	text, _, _ := strings.Cut(x.Failure.Problems[0].String(), "\n")
	return text
}

// entry returns the entry that stands for a failure, in an environment, and for nothing else.
func (x *failedCase) entry(e environment) knownFailure {
	step := x.Failure.At()
	k := knownFailure{Environment: e.values(), Primitive: step.Primitive, Form: form(step),
		Kind: x.Failure.Problems[0].Kind, Values: kindsOfValues[step.Values.Kind], Ranks: x.Failure.Case.Size}
	if step.TypeOp() != "" {
		k.With = x.with()
		slices.SortFunc(k.With, compareTypeOps)
	}
	for _, s := range x.Failure.Case.Steps {
		if len(x.Failure.Case.Steps) > 1 || s.Repeat > 1 {
			k.Calls = append(k.Calls, s.Primitive)
		}
		if s.Repeat > 1 {
			k.Calls = append(k.Calls, s.Primitive)
		}
	}
	if x.Primitive == colltest.Mixed || x.Primitive == colltest.Soak {
		k.Part = x.Primitive
	}
	k.Calls = callsOf(k.Calls)
	return k
}

// judge notes what of a failure is known.
func (x *failedCase) judge(e environment, known []knownFailure) {
	is, text := x.entry(e), x.Failure.String()
	missing := slices.Clone(is.With)
	var notes []string
	isKnown := false
	for _, k := range known {
		if !k.standsFor(is, text) {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(missing), k.covers)
		if len(rest) < len(missing) || len(is.With) == 0 {
			isKnown = true
			notes = append(notes, k.Note)
		}
		missing = rest
	}
	if !isKnown {
		return
	}
	notes = slices.DeleteFunc(notes, func(note string) bool { return note == "" })
	x.Known, x.Note = len(missing) == 0, strings.Join(slices.Compact(notes), "; ")
	if !x.Known {
		x.New = missing
	}
}
