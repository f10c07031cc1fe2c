package bench

import "github.com/collgen/collgen/fast"

const (
	// period is the number of elements after which values repeat. It is a prime, so that no two blocks begin with the same
	// values, and small, so that writing the values does not fill the caches with their source.
	period = 4093
	// offset is the distance between the values of consecutive ranks.
	offset = 31
	// maxValue is the largest value, as long as the sums over all ranks stay exact.
	maxValue = 7
	// unwritten fills outputs before a checked call.
	unwritten = 99
)

// values are the contents of operands and results. Element j of rank q's input is the value at index
// j + offset·q + shift, modulo period, where shift changes with every rewriting. Values are small integers, so that
// their sum does not depend on the order. Tables have two periods, so that a whole period follows every index.
type values[T fast.Elem] struct {
	of      func(float64) T
	inputs  []T
	results []T // element j of the reduction has index j + shift; nil: there is none
}

// newValues returns those of a call among some ranks. The result of a reduction r combines the inputs of the first
// ones.
func newValues[T fast.Elem](of func(float64) T, exact int64, r *Reduction, ranks, combined int) *values[T] {
	v := &values[T]{of: of, inputs: make([]T, 2*period)}
	value := func(i int) int64 { return valueAt(i%period, r, int(min(maxValue, exact/int64(ranks)))) }
	for i := range v.inputs {
		v.inputs[i] = of(float64(value(i)))
	}
	if r == nil {
		return v
	}
	v.results = make([]T, 2*period)
	for i := range v.results {
		sum := value(i)
		for q := 1; q < combined; q++ {
			sum = r.fold(sum, value(i+offset*q))
		}
		v.results[i] = of(float64(sum) / float64(r.divisor(ranks)))
	}
	return v
}

// valueAt returns a value from 0 to most, without a pattern. The factors of a product are 1 and sometimes 2.
func valueAt(i int, r *Reduction, most int) int64 {
	scattered := uint32(i) * 2654435761 >> 12
	if r != nil && r.Op == fast.Prod {
		return 1 + toInt(scattered%16 == 0)
	}
	return int64(scattered % uint32(most+1))
}

// fill sets s to the values of a table, starting at an index.
func fill[T fast.Elem](s, table []T, index int) {
	for from := table[index%period:][:period]; len(s) > 0; {
		s = s[copy(s, from):]
	}
}

// set sets all of s to x.
func set[T fast.Elem](s []T, x T) {
	for i := range s {
		s[i] = x
	}
}

// wrong counts the elements of s that differ from the values of a table, starting at an index.
func wrong[T fast.Elem](s, table []T, index int) (n int) {
	for from := table[index%period:][:period]; len(s) > 0; {
		piece := s[:min(len(s), period)]
		for i, x := range piece {
			if x != from[i] {
				n++
			}
		}
		s = s[len(piece):]
	}
	return n
}

// changed counts the elements of s that are not x.
func changed[T fast.Elem](s []T, x T) (n int) {
	for i := range s {
		if s[i] != x {
			n++
		}
	}
	return n
}
