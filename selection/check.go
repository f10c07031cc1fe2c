package selection

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// checkedSizes is up to how many ranks it is looked at what algorithms serve, and checkedLocals with how many on each
// host.
const checkedSizes = 4096

var checkedLocals = []int{1, 2, 3}

// Check proves that table, of algorithms for one primitive, is legal and total: it is Legal, and every call that some
// algorithm carries out has a rule, for any transport and any number of ranks, of ranks on one host and of bytes,
// and whether its op is commutative or, if others says that there are such ops, not. Reproducible sums need no rule: of
// the algorithms that can, such a call gets the first. Sizes that algorithms do not serve
// are known up to 4096 ranks, and with a few numbers of ranks on each host.
func Check(table []Rule, algorithms []Algorithm, others bool) error {
	if err := Legal(table, algorithms); err != nil {
		return err
	}
	for c := range calls(table, algorithms) {
		if c.AtOnce || !c.Commutative && !others {
			continue
		}
		served := slices.ContainsFunc(algorithms, func(a Algorithm) bool { return a.Carries(c) })
		if reached := reach(Steps(table, algorithms, c)); served && reached < math.MaxInt {
			return fmt.Errorf("no rule is for %d ranks over %s, %d on a host, blocks of %d bytes, commutative op: %v",
				c.Size, c.Transport, c.perHost(), reached+1, c.Commutative)
		}
	}
	return nil
}

// Legal proves what holds of a table that need not be total: every rule says what can be, names an algorithm that
// serves every size that the rule claims, and is the first for some call.
func Legal(table []Rule, algorithms []Algorithm) error {
	var faults []error
	for i, r := range table {
		if err := r.check(Find(algorithms, r.Algorithm)); err != nil {
			faults = append(faults, fmt.Errorf("rule %d, %s: %w", i+1, r.Algorithm, err))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	if i := slices.Index(firsts(table, algorithms), false); i >= 0 {
		return fmt.Errorf("rule %d, %s: other rules come before it in every call", i+1, table[i].Algorithm)
	}
	return nil
}

// check checks what can be said of r alone; a is its algorithm.
func (r *Rule) check(a *Algorithm) error {
	switch {
	case a == nil:
		return errors.New("there is no such algorithm")
	case r.Transport != "" && !slices.Contains(Transports, r.Transport):
		return fmt.Errorf("there is no transport %q, want one of %v", r.Transport, Transports)
	case r.MinSize < 0 || r.MaxSize < 0 || r.MaxPerHost < 0 || r.MaxBytes < 0 || r.PieceBytes < 0:
		return errors.New("a limit is negative")
	case r.MaxSize > 0 && r.MinSize > r.MaxSize:
		return fmt.Errorf("no size is in %d..%d", r.MinSize, r.MaxSize)
	case r.PieceBytes > 0 && !a.Pipelined:
		return errors.New("it has no depth that PieceBytes could set")
	case a.Serves == nil || a.Local: // whether there are hosts that it serves, firsts looks at
		return nil
	}
	for size := max(1, r.MinSize); size <= min(cmp.Or(r.MaxSize, checkedSizes), checkedSizes); size++ {
		if !a.Serves(size, 0) {
			return fmt.Errorf("it does not serve %d ranks", size)
		}
	}
	return nil
}

// firsts tells of each rule whether it is the first for some call.
func firsts(table []Rule, algorithms []Algorithm) []bool {
	first := make([]bool, len(table))
	for c := range calls(table, algorithms) {
		for _, s := range Steps(table, algorithms, c) {
			first[s.Rule] = true
		}
	}
	return first
}

// reach returns the most bytes that steps are for; -1 if there are none.
func reach(steps []Step) int {
	if len(steps) == 0 {
		return -1
	}
	return steps[len(steps)-1].MaxBytes
}

// calls goes through all calls that can make a difference to a table.
func calls(table []Rule, algorithms []Algorithm) func(yield func(Call) bool) {
	return func(yield func(Call) bool) {
		for _, size := range sizes(table, algorithms) {
			for _, transport := range Transports {
				for _, c := range hosts(table, algorithms, transport, size) {
					commutes, atOnce := c, c
					commutes.Commutative = true
					atOnce.Commutative, atOnce.AtOnce = true, true
					if !yield(c) || !yield(commutes) || !yield(atOnce) {
						return
					}
				}
			}
		}
	}
}

// sizes are numbers of ranks of every kind that table and algorithms tell apart: those about the limits of rules, and
// all up to checkedSizes where an algorithm does not serve every number, or was not proved for it.
func sizes(table []Rule, algorithms []Algorithm) []int {
	list := []int{1}
	for _, r := range table {
		list = append(list, max(1, r.MinSize), max(1, r.MaxSize), max(1, min(r.MaxSize, math.MaxInt-1)+1))
	}
	if slices.ContainsFunc(algorithms, func(a Algorithm) bool { return a.Serves != nil || a.Proved != nil }) {
		for size := range checkedSizes {
			list = append(list, size+1)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hosts are calls with ranks on hosts of every kind that table and algorithms tell apart.
func hosts(table []Rule, algorithms []Algorithm, transport string, size int) (list []Call) {
	for _, n := range perHosts(table, transport, size) {
		list = append(list, Call{Transport: transport, Size: size, PerHost: n})
	}
	if Spans(transport) && slices.ContainsFunc(algorithms, func(a Algorithm) bool { return a.Local }) {
		for _, n := range checkedLocals {
			if n <= size {
				list = append(list, Call{Transport: transport, Size: size, PerHost: n, Local: n})
			}
		}
	}
	return list
}

// perHosts are numbers of ranks on the host that has the most, of every kind that table tells apart: all of them, and
// over a transport that spans hosts fewer.
func perHosts(table []Rule, transport string, size int) []int {
	list := []int{size}
	if !Spans(transport) {
		return list
	}
	for _, r := range table {
		if r.MaxPerHost > 0 && r.MaxPerHost < size && !slices.Contains(list, r.MaxPerHost) {
			list = append(list, r.MaxPerHost)
		}
	}
	return list
}
