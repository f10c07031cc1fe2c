package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/collgen/collgen/spec"
	"github.com/collgen/collgen/verify/colltest"
)

// This file has what tells calls apart, for people and in files.

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
