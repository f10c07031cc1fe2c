package selection

import "math"

// Step is the rule of calls with more bytes in a block than the step before it is for.
type Step struct {
	MaxBytes int // up to so many, inclusive; math.MaxInt: any number
	Rule     int // its index in the table
}

// Steps returns the rules that calls like c get, by the bytes of a block: for each number of bytes the first rule of
// table that holds and whose algorithm carries the call out. Rules bound the bytes from above alone, so that each of
// them is the first one for a range of bytes that begins where those before it end. After the last step no rule is
// left; there is none if its MaxBytes is math.MaxInt.
func Steps(table []Rule, algorithms []Algorithm, c Call) []Step {
	var steps []Step
	reached := -1
	for i := range table {
		r := &table[i]
		upTo := r.MaxBytes
		if upTo == 0 {
			upTo = math.MaxInt
		}
		if upTo <= reached || !r.Holds(c) {
			continue
		}
		if a := Find(algorithms, r.Algorithm); a != nil && a.Carries(c) {
			steps, reached = append(steps, Step{upTo, i}), upTo
		}
	}
	return steps
}

// Select returns the index of the rule that a call like c with blocks of so many bytes gets; -1 if there is none.
func Select(table []Rule, algorithms []Algorithm, c Call, bytes int) int {
	for _, s := range Steps(table, algorithms, c) {
		if bytes <= s.MaxBytes {
			return s.Rule
		}
	}
	return -1
}

// Merge returns a table in which rules, which need not be for all calls, count before those of table. Rules that no
// call would get are left out.
func Merge(rules, table []Rule, algorithms []Algorithm) []Rule {
	all := append(append([]Rule{}, rules...), table...)
	first := firsts(all, algorithms)
	var merged []Rule
	for i, r := range all {
		if first[i] {
			merged = append(merged, r)
		}
	}
	return merged
}
