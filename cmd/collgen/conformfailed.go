package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/collgen/collgen/spec"
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

// repeat returns the command that repeats f, or "" if nothing does.
func (c *conformCommand) repeat(r *conformance, f *colltest.Failure) string {
	words := append(r.Environment.words(), "collgen", "conform", "-ranks", strconv.Itoa(f.Case.Size))
	switch {
	case f.Failed == 0 && f.After > 0:
		words = append(words, c.sameRun(r)...)
	case f.Failed == 0 && f.Tries > 0:
		return ""
	default:
		words = append(words, c.changed("patience", "starting", "without")...)
		words = append(words, "-case", quoted(f.Case.JSON()))
	}
	words = append(words, "--")
	for _, word := range c.command {
		words = append(words, quoted(word))
	}
	return strings.Join(words, " ")
}

// sameRun returns the flags of a run that makes the calls of this one on one number of ranks: those of a world do not
// depend on the others.
func (c *conformCommand) sameRun(r *conformance) []string {
	words := []string{"-seed", strconv.FormatUint(c.seed, 10), "-checks", strconv.Itoa(c.checks)}
	words = append(words, c.changed("patience", "starting", "shrinking", "failures", "without", "primitives", "large")...)
	if last := r.parts[len(r.parts)-1]; last.name == colltest.Soak {
		words = append(words, "-soak")
	}
	return words
}

// changed returns those of the flags that differ from their defaults.
func (c *conformCommand) changed(names ...string) (words []string) {
	for _, name := range names {
		f := c.flags.Lookup(name)
		switch value := f.Value.String(); value {
		case f.DefValue:
		case "true":
			words = append(words, "-"+name)
		default:
			words = append(words, "-"+name, quoted(value))
		}
	}
	return words
}

// plain are the characters, besides letters and digits, that a shell takes as they are.
const plain = "_-./=:,@%+"

// quoted is word as a shell takes it.
func quoted(word string) string {
	isSpecial := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(plain, r))
	}
	if word != "" && !strings.ContainsFunc(word, isSpecial) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// form returns how a call passes its buffers: apart or in-place, and whether counts are uneven.
func form(s *colltest.Step) string {
	name := "apart"
	if s.InPlace {
		name = "in-place"
	}
	if s.Counts != nil {
		name += " uneven"
	}
	return name
}

// forms are the values of form.
var forms = []string{"apart", "in-place", "apart uneven", "in-place uneven"}

// compareTypeOps compares types and ops, such as "float32 sum", by their order in package spec.
func compareTypeOps(a, b string) int {
	key := func(typeOp string) (int, int) {
		t, op, _ := strings.Cut(typeOp, " ")
		return slices.IndexFunc(spec.Types(), func(x spec.Type) bool { return x.String() == t }),
			slices.IndexFunc(spec.Ops(), func(x spec.Op) bool { return x.String() == op })
	}
	ta, oa := key(a)
	tb, ob := key(b)
	return cmp.Or(cmp.Compare(ta, tb), cmp.Compare(oa, ob))
}
