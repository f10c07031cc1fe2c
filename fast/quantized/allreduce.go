package quantized

import (
	"context"
	"fmt"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/exec"
	"github.com/collgen/collgen/fast/internal/kernel"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/spec"
)

const allReduce = "quantized.AllReduce" // what errors call it

// AllReduce adds up the elements of all ranks, or averages them, and gives every rank the result, the same bits on all
// ranks. It works in place: buf is both src and dst of [AllReduceInto].
func AllReduce(ctx context.Context, q *Comm, buf []float32, op fast.Op, opts ...fast.Option) error {
	return AllReduceInto(ctx, q, buf, buf, op, opts...)
}

// AllReduceInto adds up the elements of all ranks, or averages them, and gives every rank the result, the same bits on
// all ranks. Op is Sum or Avg: an average is a sum that is divided by the number of ranks.
//
// No element of the result is further from the exact one than [Options.ErrorBound]. All elements of a block are NaN
// where any element of it is a NaN or infinite on any rank, and where a sum overflows. A result of 0 may have either
// sign. A single rank gets its own elements as they are.
//
// One call at a time runs on q; another one gets ErrConcurrentUse. Opts are passed on to the two calls of package fast
// that a call is made of. Their errors, and traces, name them.
func AllReduceInto(ctx context.Context, q *Comm, dst, src []float32, op fast.Op, opts ...fast.Option) error {
	switch {
	case q == nil || q.c == nil:
		return wire.Refuse(allReduce, "the communicator is nil, or was not made by New")
	case op != fast.Sum && op != fast.Avg:
		return wire.Refuse(allReduce, "op is %v, want sum or avg", op)
	case len(dst) != len(src):
		return wire.Refuse(allReduce, "len(dst) is %d, and len(src) is %d", len(dst), len(src))
	case exec.Overlap(exec.Bytes(dst), exec.Bytes(src)) && &dst[0] != &src[0]:
		return wire.Refuse(allReduce, "dst and src overlap, but are not the same")
	case !q.busy.CompareAndSwap(false, true):
		return fmt.Errorf("%s on %v: %w", allReduce, q.c, fast.ErrConcurrentUse)
	}
	defer q.busy.Store(false)
	q.part = exec.Part{Operation: q.operation, Op: op, Root: -1}
	q.opts = append(append(q.opts[:0], opts...), fast.Option{Kind: exec.PartOption, Part: &q.part})
	defer clear(q.opts)
	if q.c.Size() == 1 {
		return fast.AllReduceInto(ctx, q.c, dst, src, op, q.opts...)
	}
	if err := q.allReduce(ctx, dst, src); err != nil {
		return fmt.Errorf("%s: %w", allReduce, err)
	}
	kernel.Finish(op, spec.TypeFloat32, exec.Bytes(dst), q.c.Size())
	return nil
}

// allReduce fills dst with sums.
func (q *Comm) allReduce(ctx context.Context, dst, src []float32) error {
	q.lay(len(src))
	for rank := range q.c.Size() {
		if rank != q.c.Rank() {
			q.each(q.share(rank), func(b span, at int) { q.format.encode(q.bytes(b, at), src[b.lo:b.hi]) })
		}
	}
	if err := fast.AllToAllV(ctx, q.c, q.received, q.from, q.sent, q.to, q.opts...); err != nil {
		return err
	}
	own := q.share(q.c.Rank())
	q.each(own, func(b span, at int) {
		sums := q.add(src[b.lo:b.hi], at-q.encoded(own.lo))
		q.format.encode(q.bytes(b, at), sums)
		q.format.decode(dst[b.lo:b.hi], q.bytes(b, at))
	})
	q.part.Number = 1
	if err := fast.AllGatherV(ctx, q.c, q.sent, q.shares, q.opts...); err != nil {
		return err
	}
	for rank := range q.c.Size() {
		if rank != q.c.Rank() {
			q.each(q.share(rank), func(b span, at int) { q.format.decode(dst[b.lo:b.hi], q.bytes(b, at)) })
		}
	}
	return nil
}

// bytes returns the block b, which is quantized, or is to be.
func (q *Comm) bytes(b span, at int) []byte { return q.sent[at:][:scaleBytes+b.hi-b.lo] }

// add returns the sums of a block of all ranks: own is this rank's, and those of the others begin at in what each has
// sent. It starts with rank 0.
func (q *Comm) add(own []float32, at int) []float32 {
	sums := q.sums[:len(own)]
	for rank, from := range q.from.Displs {
		block := q.received[from:]
		switch {
		case rank == q.c.Rank() && rank == 0:
			copy(sums, own)
		case rank == q.c.Rank():
			for i, x := range own {
				sums[i] += x
			}
		case rank == 0:
			q.format.decode(sums, block[at:])
		default:
			q.format.add(sums, block[at:])
		}
	}
	return sums
}
