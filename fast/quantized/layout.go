package quantized

import "github.com/collgen/collgen/fast"

// span is blocks that lie one after the other: elements from lo up to but without hi.
type span struct{ lo, hi int }

// share returns what a rank owns of a buffer.
func (q *Comm) share(rank int) span {
	blocks := (q.length + q.block - 1) / q.block
	lo, hi := fast.Shard(blocks, rank, q.c.Size())
	return span{min(lo*q.block, q.length), min(hi*q.block, q.length)}
}

// encoded returns how many bytes the first n elements of a buffer, which end with a block, take.
func (q *Comm) encoded(n int) int { return n + scaleBytes*((n+q.block-1)/q.block) }

// lay has the next call be of buffers of that length.
func (q *Comm) lay(length int) {
	if q.length == length {
		return
	}
	q.length = length
	me := q.c.Rank()
	own := q.share(me)
	mine := q.encoded(own.hi) - q.encoded(own.lo)
	for rank := range q.c.Size() {
		s := q.share(rank)
		q.shares.Displs[rank] = q.encoded(s.lo)
		q.shares.Counts[rank] = q.encoded(s.hi) - q.encoded(s.lo)
		q.to.Counts[rank] = q.shares.Counts[rank]
		q.from.Displs[rank], q.from.Counts[rank] = rank*mine, mine
	}
	q.to.Counts[me], q.from.Counts[me] = 0, 0
	q.sent = resized(q.sent, q.encoded(length))
	q.received = resized(q.received, mine*q.c.Size())
}

// resized returns a slice of that length, which has the memory of b if there is enough.
func resized(b []byte, length int) []byte {
	if cap(b) < length {
		return make([]byte, length)
	}
	return b[:length]
}

// each calls f for each block of s: its elements, and where its bytes begin in sent.
func (q *Comm) each(s span, f func(block span, at int)) {
	for lo := s.lo; lo < s.hi; lo += q.block {
		f(span{lo, min(lo+q.block, s.hi)}, q.encoded(lo))
	}
}
