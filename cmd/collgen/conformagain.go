package main

import (
	"strconv"
	"strings"

	"github.com/collgen/collgen/verify/colltest"
)

// again returns the command that repeats a failure, or "" if nothing does.
func (f *conforming) again(c *call, r *conformance, x *colltest.Failure) string {
	words := append(r.Environment.words(), "collgen", "conform", "-ranks", strconv.Itoa(x.Case.Size))
	switch {
	case x.Failed == 0 && x.After > 0:
		words = append(words, f.sameRun(c, r)...)
	case x.Failed == 0 && x.Tries > 0:
		return ""
	default:
		words = append(words, c.changed("patience", "starting", "without")...)
		words = append(words, "-case", quoted(x.Case.JSON()))
	}
	words = append(words, "--")
	for _, word := range c.command {
		words = append(words, quoted(word))
	}
	return strings.Join(words, " ")
}

// sameRun returns the flags of a run that makes the calls of this one on one number of ranks: those of a world do not
// depend on the others.
func (f *conforming) sameRun(c *call, r *conformance) []string {
	words := []string{"-seed", strconv.FormatUint(f.seed, 10), "-checks", strconv.Itoa(f.checks)}
	words = append(words, c.changed("patience", "starting", "shrinking", "failures", "without", "primitives", "large")...)
	switch last := r.parts[len(r.parts)-1]; last.name {
	case colltest.Soak:
		words = append(words, "-soak")
	case colltest.Huge:
		words = append(words, "-huge")
	}
	return words
}
