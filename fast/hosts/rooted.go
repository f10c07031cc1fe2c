package hosts

import (
	"context"

	"github.com/collgen/collgen/fast"
)

// Broadcast gives every rank the block of the root. It works in place: buf is dst and src of [BroadcastInto].
func Broadcast[T fast.Elem](ctx context.Context, h *Comm, buf []T, root int) error {
	return BroadcastInto(ctx, h, buf, buf, root)
}

// BroadcastInto gives every rank the block of the root, which is its src. What the others pass there is ignored. Each
// host gets it once.
func BroadcastInto[T fast.Elem](ctx context.Context, h *Comm, dst, src []T, root int) error {
	const name = "hosts.Broadcast"
	if err := h.checkRoot(name, root); err != nil {
		return err
	}
	if h.rank() != root {
		src = nil
	} else if err := checkLength(name, "src", len(src), len(dst)); err != nil {
		return err
	}
	if err := checkOverlap(name, dst, src, 0, 0); err != nil {
		return err
	}
	if err := h.begin(ctx, name, 0, root); err != nil {
		return err
	}
	defer h.end()
	if h.flat != nil {
		return h.made(h.flat, fast.BroadcastInto(ctx, h.flat.Comm, dst, src, root))
	}
	seat := h.seatHere(root)
	if seat > 0 { // the leader, too, has to get it first
		if err := h.made(&h.near, fast.BroadcastInto(ctx, h.near.Comm, dst, src, seat, h.opts...)); err != nil {
			return err
		}
		src = dst
	}
	if h.leads() {
		if err := h.made(&h.far, fast.BroadcastInto(ctx, h.far.Comm, dst, src, h.hostOf[root], h.opts...)); err != nil {
			return err
		}
	}
	if seat > 0 {
		return nil
	}
	return h.made(&h.near, fast.Broadcast(ctx, h.near.Comm, dst, 0, h.opts...))
}

// seatHere returns the number of a rank on this rank's host, or that of the leader if it is on another host.
func (h *Comm) seatHere(rank int) int {
	if h.hostOf[rank] != h.hostOf[h.rank()] {
		return 0
	}
	return h.seatOf[rank]
}

// Reduce gives the root the blocks of all ranks, combined elementwise with op. It works in place: buf is src and, on
// the root, dst of [ReduceInto].
func Reduce[T fast.Elem](ctx context.Context, h *Comm, buf []T, op fast.Op, root int) error {
	return ReduceInto(ctx, h, buf, buf, op, root)
}

// ReduceInto gives the root the blocks of all ranks, combined elementwise with op, in its dst. What the others pass
// there is ignored. Each other host sends one block. A leader that is not the root needs memory for one.
//
// The order of the reduction depends on which ranks are on which host, and never on timing.
func ReduceInto[T fast.Elem](ctx context.Context, h *Comm, dst, src []T, op fast.Op, root int) error {
	const name = "hosts.Reduce"
	if err := h.checkRoot(name, root); err != nil {
		return err
	}
	if err := checkOp[T](name, op); err != nil {
		return err
	}
	isRoot := h.rank() == root
	if !isRoot {
		dst = nil
	} else if err := checkLength(name, "dst", len(dst), len(src)); err != nil {
		return err
	}
	if err := checkOverlap(name, dst, src, 0, 0); err != nil {
		return err
	}
	if err := h.begin(ctx, name, op, root); err != nil {
		return err
	}
	defer h.end()
	if h.flat != nil {
		return h.made(h.flat, fast.ReduceInto(ctx, h.flat.Comm, dst, src, op, root))
	}
	err := reduce(ctx, h, dst, src, combining(op), root)
	if err == nil && isRoot {
		finish(h, op, dst)
	}
	return err
}

// reduce is ReduceInto without what op does in the end. The ranks of the root's host meet last if the root is not their
// leader, who then contributes what other hosts have, too.
func reduce[T fast.Elem](ctx context.Context, h *Comm, dst, src []T, op fast.Op, root int) error {
	if err := checkRoom[T](h, len(src), 1); err != nil {
		return err
	}
	sum, seat := src, h.seatHere(root)
	if h.leads() && h.rank() != root {
		dst = room[T](h, 0, len(src))
	}
	if seat == 0 && !h.alone() {
		if err := h.made(&h.near, fast.ReduceInto(ctx, h.near.Comm, dst, src, op, 0, h.opts...)); err != nil {
			return err
		}
		sum = dst
	}
	if h.leads() {
		if err := h.made(&h.far, fast.ReduceInto(ctx, h.far.Comm, dst, sum, op, h.hostOf[root], h.opts...)); err != nil {
			return err
		}
		sum = dst
	}
	if seat == 0 {
		return nil
	}
	return h.made(&h.near, fast.ReduceInto(ctx, h.near.Comm, dst, sum, op, seat, h.opts...))
}
