// Package fasttest has what tests of package fast and of whole jobs share: inputs and results that follow from ranks
// and seeds, limits of time, and jobs whose ranks are processes. It does not import package fast, whose own tests
// use it.
package fasttest

import "fmt"

// Element returns the i-th input of a rank.
func Element(rank, i, seed int) int { return (rank+1)*1_000_003 + i*7 + seed }

// Input returns so many inputs of a rank.
func Input(rank, count, seed int) []int {
	x := make([]int, count)
	for i := range x {
		x[i] = Element(rank, i, seed)
	}
	return x
}

// Total returns the sum of the i-th inputs of all ranks.
func Total(size, i, seed int) int {
	return size*(size+1)/2*1_000_003 + size*(i*7+seed)
}

// WrongResult is the error of a call that has succeeded with a wrong result.
type WrongResult struct{ at, got, want int }

func (w *WrongResult) Error() string {
	return fmt.Sprintf("wrong: [%d] is %d, want %d", w.at, w.got, w.want)
}

// Unfinished is the error of a call that had a buffer for its result.
type Unfinished struct {
	error
	Buf []int
}

// Unwrap returns the call's own error.
func (u *Unfinished) Unwrap() error { return u.error }

// Verified returns err, with the buffer, or, if there is none, that got is not what is wanted.
func Verified(err error, got []int, want func(i int) int) error {
	if err != nil {
		return &Unfinished{err, got}
	}
	for i, x := range got {
		if x != want(i) {
			return &WrongResult{i, x, want(i)}
		}
	}
	return nil
}
