package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// limitLines are lines from the top to the bottom, whose labels do not overlap.
func limitLines(limits []limit, y *axis) (lines []limitLine) {
	slices.SortStableFunc(limits, func(a, b limit) int { return cmp.Compare(b.Value, a.Value) })
	free := 0.0
	for _, l := range limits {
		at := y.at(l.Value)
		label := max(at, free)
		free = label + labelHeight
		lines = append(lines, limitLine{at, chartRight + 16, label, limitLabel(&l)})
	}
	return lines
}

// limitLabel returns a limit in words.
func limitLabel(l *limit) string {
	if l.Name == "copy" || l.Name == "reduce" {
		return fmt.Sprintf("%s in %s, %d cores: %s", l.Name, l.Where, l.Cores, number(l.Value))
	}
	return fmt.Sprintf("%s, %s: %s", l.Name, l.Where, number(l.Value))
}

// shown returns the limits that say something of transports: what all cores can do with large operands, and hand-offs.
func shown(limits []limit, results []*result) (some []limit) {
	tcp := slices.ContainsFunc(results, func(r *result) bool { return r.Transport == "tcp" || r.Transport == "mixed" })
	memory := slices.ContainsFunc(results, func(r *result) bool { return r.Transport != "tcp" })
	most := slices.Max(coreCounts())
	for _, l := range limits {
		switch {
		case strings.HasPrefix(l.Name, "tcp"):
			if tcp {
				some = append(some, l)
			}
		case l.Name == "process_vm_readv":
		case memory && (l.Unit == "us" || l.Where != "L1" && l.Cores == most):
			some = append(some, l)
		}
	}
	return some
}
