package main

import "github.com/collgen/collgen/fast"

const (
	// period is after how many elements the values repeat: a prime, so that no block begins with the same values as
	// another, and short, so that writing them does not fill the caches with their source.
	period = 4093
	// apart is how far the values of a rank are from those of the rank before.
	apart = 31
	// largest is the largest value, as long as the sums over all ranks stay exact.
	largest = 7
	// unwritten is in outputs before a checked call.
	unwritten = 99
)

// values are what operands and results consist of: element j of rank q's input is that of index j + apart·q + shift,
// modulo period, where shift changes with every rewriting. They are small integers, so that every order of summing
// them gives the same. Tables are twice as long as period: from every index on there are period values in a row.
type values[T fast.Elem] struct {
	of      func(float64) T
	inputs  []T
	results []T // element j of the reduction of all inputs is that of index j + shift; empty: there is none
}

func newValues[T fast.Elem](of func(float64) T, exact int64, f *folding, ranks int) *values[T] {
	v := &values[T]{of: of, inputs: make([]T, 2*period)}
	value := func(i int) int64 { return valueAt(i%period, f, int(min(largest, exact/int64(ranks)))) }
	for i := range v.inputs {
		v.inputs[i] = of(float64(value(i)))
	}
	if f == nil {
		return v
	}
	v.results = make([]T, 2*period)
	for i := range v.results {
		sum := value(i)
		for q := 1; q < ranks; q++ {
			sum = f.fold(sum, value(i+apart*q))
		}
		v.results[i] = of(float64(sum) / float64(f.divided(ranks)))
	}
	return v
}

// valueAt is 0 to most, without a pattern. The factors of a product are 1 and now and then 2.
func valueAt(i int, f *folding, most int) int64 {
	scattered := uint32(i) * 2654435761 >> 12
	if f != nil && f.op == fast.Prod {
		return 1 + truth(scattered%16 == 0)
	}
	return int64(scattered % uint32(most+1))
}

// fill sets s to the values of a table from an index on.
func fill[T fast.Elem](s, table []T, index int) {
	for from := table[index%period:][:period]; len(s) > 0; {
		s = s[copy(s, from):]
	}
}

// fillWith sets all of s to x.
func fillWith[T fast.Elem](s []T, x T) {
	for i := range s {
		s[i] = x
	}
}

// wrong counts the elements of s that are not the values of a table from an index on.
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
