package gen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/collgen/collgen/spec"
)

// Rule is a line of a selection table: which algorithm a call gets. That of the first rule counts that matches the call
// and whose algorithm serves it; rules look at nothing but what all ranks agree on.
type Rule struct {
	Algorithm        string // its name: "ring"
	MinSize, MaxSize int    // ranks, inclusive; MaxSize 0: any number
	MaxBytes         int    // bytes of one block, inclusive; 0: any number
	// PieceBytes sets the depth of a call: as many pieces as there are PieceBytes in a block, rounded up, but at least 1
	// and at most as many as there are elements. 0: depth 1.
	PieceBytes int
}

// Matches tells whether the rule is for size ranks and blocks of so many bytes.
func (r Rule) Matches(size, bytes int) bool {
	return size >= r.MinSize && (r.MaxSize == 0 || size <= r.MaxSize) && (r.MaxBytes == 0 || bytes <= r.MaxBytes)
}

// Depth is the depth of a call with blocks of count elements and so many bytes.
func (r Rule) Depth(count, bytes int) int {
	if r.PieceBytes <= 0 || bytes <= 0 {
		return 1
	}
	return max(1, min((bytes-1)/r.PieceBytes+1, count))
}

const kib = 1 << 10

// tables are those that rules has noted, by the primitive's name.
var tables = map[string][]Rule{}

// rules notes the first selection table for p, for ranks that share the memory of one machine and its few cores. Each
// primitive's file calls it, unless any of its algorithms is as good as another.
//
// Where nothing was measured, tables follow what the algorithms cost. For short blocks the fewest steps win, because
// ranks wait for each other in each; with more ranks than cores, the fewest messages in all. For long ones it is the
// fewest bytes in all.
func rules(p spec.Primitive, table ...Rule) []Rule {
	tables[p.Name] = table
	return table
}

// Rules is the selection table for p among algorithms, which are all for p: this package's, where they are all that it
// speaks of; otherwise each serves what those before it do not.
func Rules(p spec.Primitive, algorithms []Algorithm) []Rule {
	table, ok := tables[p.Name]
	for _, r := range table {
		ok = ok && find(algorithms, r.Algorithm) != nil
	}
	if ok {
		return slices.Clone(table)
	}
	table = nil
	for _, a := range algorithms {
		table = append(table, Rule{Algorithm: a.Name})
	}
	return table
}

// Select is the index of the rule that a call gets: the first that matches and whose algorithm serves the call; -1 if
// there is none.
func Select(table []Rule, algorithms []Algorithm, size, bytes int, commutative bool) int {
	return slices.IndexFunc(table, func(r Rule) bool {
		a := find(algorithms, r.Algorithm)
		return a != nil && r.Matches(size, bytes) && a.Serves(size) && (commutative || !a.Requires.Commutative)
	})
}

func find(algorithms []Algorithm, name string) *Algorithm {
	for i := range algorithms {
		if algorithms[i].Name == name {
			return &algorithms[i]
		}
	}
	return nil
}

// checkedSizes is up to how many ranks CheckRules looks at what algorithms require.
const checkedSizes = 4096

// CheckRules proves that table, of algorithms for one primitive, is legal and total: every rule says what can be, is
// the first for some call, and names an algorithm that serves every size that the rule claims; and every call that some
// algorithm serves has a rule, whatever its number of ranks, bytes and op, the op being commutative or one of ops that
// is not. Sizes that algorithms do not serve are known up to 4096 ranks.
func CheckRules(table []Rule, algorithms []Algorithm, ops []spec.Op) error {
	var faults []error
	for i, r := range table {
		if err := r.check(find(algorithms, r.Algorithm)); err != nil {
			faults = append(faults, fmt.Errorf("rule %d, %s: %w", i+1, r.Algorithm, err))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	commutes := []bool{true}
	if slices.ContainsFunc(ops, func(o spec.Op) bool { return !o.Commutative() }) {
		commutes = []bool{true, false}
	}
	return coverage(table, algorithms, commutes)
}

// check checks what can be said of r alone; a is its algorithm.
func (r Rule) check(a *Algorithm) error {
	switch {
	case a == nil:
		return errors.New("there is no such algorithm")
	case r.MinSize < 0 || r.MaxSize < 0 || r.MaxBytes < 0 || r.PieceBytes < 0:
		return errors.New("a limit is negative")
	case r.MaxSize > 0 && r.MinSize > r.MaxSize:
		return fmt.Errorf("no size is in %d..%d", r.MinSize, r.MaxSize)
	case r.PieceBytes > 0 && !a.hasDepth():
		return errors.New("it has no depth that PieceBytes could set")
	}
	for size := max(1, r.MinSize); size <= cmp.Or(r.MaxSize, checkedSizes); size++ {
		if !a.Serves(size) {
			return fmt.Errorf("it does not serve %d ranks", size)
		}
	}
	return nil
}

// coverage goes through all calls. Between limits that rules speak of, numbers of bytes make no difference.
func coverage(table []Rule, algorithms []Algorithm, commutes []bool) error {
	bytes, sizes := []int{0}, checkedSizes
	for _, r := range table {
		bytes = append(bytes, r.MaxBytes, r.MaxBytes+1)
		sizes = max(sizes, r.MinSize+1, r.MaxSize+1)
	}
	isFirst := make([]bool, len(table))
	for size := 1; size <= sizes; size++ {
		for _, commutative := range commutes {
			served := slices.ContainsFunc(algorithms, func(a Algorithm) bool {
				return a.Serves(size) && (commutative || !a.Requires.Commutative)
			})
			for _, b := range bytes {
				switch i := Select(table, algorithms, size, b, commutative); {
				case i >= 0:
					isFirst[i] = true
				case served:
					return fmt.Errorf("no rule is for %d ranks, blocks of %d bytes, commutative op: %v", size, b, commutative)
				}
			}
		}
	}
	if i := slices.Index(isFirst, false); i >= 0 {
		return fmt.Errorf("rule %d, %s: other rules come before it in every call", i+1, table[i].Algorithm)
	}
	return nil
}
