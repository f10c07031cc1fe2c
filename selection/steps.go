package selection

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
