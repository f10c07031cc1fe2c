package fast

import "fmt"

// Shard returns which of n elements are rank's, those from lo up to but without hi, if size ranks share them as evenly
// as possible: the first n % size ranks have one element more than the others. Algorithms divide a block into chunks in
// the same way. It panics unless 0 <= rank < size and 0 <= n.
func Shard(n, rank, size int) (lo, hi int) {
	if n < 0 || rank < 0 || rank >= size {
		panic(fmt.Sprintf("fast.Shard: the share of rank %d of %d in %d elements", rank, size, n))
	}
	each, more := n/size, n%size
	lo = rank*each + min(rank, more)
	hi = lo + each
	if rank < more {
		hi++
	}
	return lo, hi
}
