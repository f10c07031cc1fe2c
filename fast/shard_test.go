package fast

import (
	"math"
	"testing"
)

// TestShard: shards follow each other, and differ by one element at most, the longer ones first.
func TestShard(t *testing.T) {
	for size := 1; size <= 17; size++ {
		for _, n := range []int{0, 1, size - 1, size, size + 1, 7*size + 5, 997, math.MaxInt} {
			at, before := 0, math.MaxInt
			for rank := range size {
				lo, hi := Shard(n, rank, size)
				if lo != at || hi-lo > before || hi-lo < n/size || hi-lo > (n-1)/size+1 {
					t.Errorf("rank %d of %d has %d to %d of %d", rank, size, lo, hi, n)
				}
				at, before = hi, hi-lo
			}
			if at != n {
				t.Errorf("%d ranks have %d of %d", size, at, n)
			}
		}
	}
	for _, x := range [][3]int{{-1, 0, 1}, {1, -1, 2}, {1, 2, 2}, {1, 0, 0}, {1, 0, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Shard(%d) does not panic", x)
				}
			}()
			Shard(x[0], x[1], x[2])
		}()
	}
}
