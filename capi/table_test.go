package main

import (
	"math/rand/v2"
	"testing"
)

// TestTable compares a table with a map: numbers stay those of what they were given to, and of nothing else.
func TestTable(t *testing.T) {
	var x table[int]
	r := rand.New(rand.NewPCG(1, 2))
	is, gone := map[int64]*int{}, []int64{0, -1, 1, 1 << 32, 1<<63 - 1, -1 << 63}
	for i := range 10_000 {
		if len(is) < 20 && r.IntN(2) == 0 {
			number := x.add(&i)
			if _, ok := is[number]; ok || number <= 0 {
				t.Fatalf("%d is given again", number)
			}
			is[number] = &i
		}
		for number, want := range is {
			if x.get(number) != want {
				t.Fatalf("%d is of another thing", number)
			}
			if r.IntN(20) == 0 {
				if x.remove(number) != want {
					t.Fatalf("%d was of another thing", number)
				}
				delete(is, number)
				gone = append(gone, number)
			}
		}
		if number := gone[r.IntN(len(gone))]; x.get(number) != nil || x.remove(number) != nil {
			t.Fatalf("%d is still there", number)
		}
	}
	if len(x.places) > 20 || len(gone) < 1000 {
		t.Errorf("%d places for 20 things at once, %d are gone", len(x.places), len(gone))
	}
	x.removeAll(func(i *int) bool { return *i%2 == 0 })
	for number, i := range is {
		if got := x.get(number); got != nil != (*i%2 != 0) {
			t.Errorf("%d is there: %t", *i, got != nil)
		}
	}
}
