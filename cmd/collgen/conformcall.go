package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// This file has what tells calls apart, for people and in files.

// form returns how a call is made, in words: "in-place uneven started".
func form(s *colltest.Step) string {
	words := []string{"apart"}
	if s.InPlace {
		words[0] = "in-place"
	}
	for _, x := range []struct {
		is   bool
		word string
	}{
		{s.Counts != nil, "uneven"},
		{s.Displaced != 0, "displaced"},
		{s.Comm > 0, "split"},
		{s.Tag > 0, "tag"},
		{s.Mode != colltest.Blocking, string(s.Mode)},
		{s.Wrong != "", "wrong-" + string(s.Wrong)},
	} {
		if x.is {
			words = append(words, x.word)
		}
	}
	return strings.Join(words, " ")
}

// formWords are the words of forms.
var formWords = []string{"apart", "in-place", "uneven", "displaced", "split", "tag", string(colltest.Started),
	string(colltest.Batched), string(colltest.Persistent), "wrong-" + string(colltest.WrongRoot),
	"wrong-" + string(colltest.WrongCounts)}

// isForm reports whether text is what form returns for a call.
func isForm(text string) bool {
	words := strings.Split(text, " ")
	if i := slices.Index(formWords, words[0]); i != 0 && i != 1 {
		return false
	}
	last := 1
	for _, word := range words[1:] {
		i := slices.Index(formWords, word)
		if i <= last {
			return false
		}
		last = i
	}
	return true
}

// allOps are the ops of calls.
func allOps() []spec.Op { return append(spec.Ops(), colltest.Compose) }

// compareTypeOps compares types and ops, such as "float32 sum", by their order in package spec.
func compareTypeOps(a, b string) int {
	key := func(typeOp string) (int, int) {
		t, op, _ := strings.Cut(typeOp, " ")
		return slices.IndexFunc(spec.Types(), func(x spec.Type) bool { return x.String() == t }),
			slices.IndexFunc(allOps(), func(x spec.Op) bool { return x.String() == op })
	}
	ta, oa := key(a)
	tb, ob := key(b)
	return cmp.Or(cmp.Compare(ta, tb), cmp.Compare(oa, ob))
}

// callsOf returns each primitive once; one that is the only one, and is called several times, twice.
func callsOf(primitives []string) []string {
	if len(primitives) == 0 {
		return nil
	}
	once := slices.Compact(slices.Sorted(slices.Values(primitives)))
	if len(once) == 1 {
		return append(once, once[0])
	}
	return once
}
