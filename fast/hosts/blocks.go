package hosts

import (
	"context"

	"github.com/collgen/collgen/fast"
)

// AllGather gives every rank the blocks of all ranks. It works in place: buf is dst of [AllGatherInto], and its block
// rank is src.
func AllGather[T fast.Elem](ctx context.Context, h *Comm, buf []T) error {
	count := len(buf) / h.size()
	if err := checkBlocks("hosts.AllGather", "buf", len(buf), h.size()); err != nil {
		return err
	}
	return AllGatherInto(ctx, h, buf, buf[h.rank()*count:][:count])
}

// AllGatherInto gives every rank the blocks of all ranks, by rank: each has len(src) elements. Each host gets the
// blocks of the others once. Where the ranks of a host are not consecutive, leaders need memory for all blocks.
func AllGatherInto[T fast.Elem](ctx context.Context, h *Comm, dst, src []T) error {
	const name = "hosts.AllGather"
	count, size := len(src), h.size()
	if err := checkLength(name, "dst", len(dst), size*count); err != nil {
		return err
	}
	if err := checkOverlap(name, dst, src, h.rank()*count, 0); err != nil {
		return err
	}
	if err := h.begin(ctx, name, 0, noRoot); err != nil {
		return err
	}
	defer h.end()
	if h.flat != nil {
		return h.made(h.flat, fast.AllGatherInto(ctx, h.flat.Comm, dst, src))
	}
	return allGather(ctx, h, dst, src)
}

// allGather is AllGatherInto in two levels.
func allGather[T fast.Elem](ctx context.Context, h *Comm, dst, src []T) error {
	count := len(src)
	if err := checkRoom[T](h, len(dst), 1); err != nil {
		return err
	}
	all, mine := dst, dst[:0]
	if h.leads() {
		if h.mixed {
			all = room[T](h, 0, len(dst))
		}
		mine = own(h, all, count)
	}
	if err := h.made(&h.near, fast.GatherInto(ctx, h.near.Comm, mine, src, 0, h.opts...)); err != nil {
		return err
	}
	if h.leads() {
		if err := h.made(&h.far, fast.AllGatherV(ctx, h.far.Comm, all, h.blocks(count), h.opts...)); err != nil {
			return err
		}
		if h.mixed {
			byRank(h, dst, all, count)
		}
	}
	return h.made(&h.near, fast.Broadcast(ctx, h.near.Comm, dst, 0, h.opts...))
}

// ReduceScatter combines block r of all ranks elementwise with op and gives the result to rank r. It works in place:
// buf is src of [ReduceScatterInto], and its block rank is dst.
func ReduceScatter[T fast.Elem](ctx context.Context, h *Comm, buf []T, op fast.Op) error {
	count := len(buf) / h.size()
	if err := checkBlocks("hosts.ReduceScatter", "buf", len(buf), h.size()); err != nil {
		return err
	}
	return ReduceScatterInto(ctx, h, buf[h.rank()*count:][:count], buf, op)
}

// ReduceScatterInto combines block r of all ranks elementwise with op and gives the result to rank r: each block has
// len(dst) elements. Each host sends the others a sum of each of their blocks. Leaders need memory for all blocks, and
// twice as much where the ranks of a host are not consecutive.
//
// The order of the reduction depends on which ranks are on which host, and never on timing.
func ReduceScatterInto[T fast.Elem](ctx context.Context, h *Comm, dst, src []T, op fast.Op) error {
	const name = "hosts.ReduceScatter"
	count, size := len(dst), h.size()
	if err := checkLength(name, "src", len(src), size*count); err != nil {
		return err
	}
	if err := checkOp[T](name, op); err != nil {
		return err
	}
	if err := checkOverlap(name, dst, src, 0, h.rank()*count); err != nil {
		return err
	}
	if err := h.begin(ctx, name, op, noRoot); err != nil {
		return err
	}
	defer h.end()
	if h.flat != nil {
		return h.made(h.flat, fast.ReduceScatterInto(ctx, h.flat.Comm, dst, src, op))
	}
	return reduceScatter(ctx, h, dst, src, op)
}

// reduceScatter is ReduceScatterInto in two levels.
func reduceScatter[T fast.Elem](ctx context.Context, h *Comm, dst, src []T, op fast.Op) error {
	if err := checkRoom[T](h, len(src), 1); err != nil {
		return err
	}
	count, by, sums := len(dst), combining(op), src
	if !h.alone() {
		if h.leads() {
			sums = room[T](h, 0, len(src))
		}
		if err := h.made(&h.near, fast.ReduceInto(ctx, h.near.Comm, sums, src, by, 0, h.opts...)); err != nil {
			return err
		}
	}
	mine := dst
	if h.leads() {
		if h.mixed {
			sums = byHost(h, room[T](h, 1, len(src)), sums, count)
		}
		if !h.alone() {
			mine = own(h, sums, count)
		}
		if err := h.made(&h.far, fast.ReduceScatterVInto(ctx, h.far.Comm, mine, sums, h.blocks(count), by,
			h.opts...)); err != nil {
			return err
		}
		finish(h, op, mine)
	}
	if h.alone() {
		return nil
	}
	return h.made(&h.near, fast.ScatterInto(ctx, h.near.Comm, dst, mine, 0, h.opts...))
}
