package hosts

import (
	"context"

	"github.com/collgen/collgen/fast"
)

// AllReduce combines the blocks of all ranks elementwise with op and gives every rank the result, the same bits on all
// ranks. It works in place: buf is both src and dst of [AllReduceInto].
func AllReduce[T fast.Elem](ctx context.Context, h *Comm, buf []T, op fast.Op) error {
	return AllReduceInto(ctx, h, buf, buf, op)
}

// AllReduceInto combines the blocks of all ranks elementwise with op and gives every rank the result, the same bits on
// all ranks. Among n hosts, they send each other 2 (n-1) blocks in all.
//
// The order of the reduction depends on which ranks are on which host, and never on timing.
func AllReduceInto[T fast.Elem](ctx context.Context, h *Comm, dst, src []T, op fast.Op) error {
	const name = "hosts.AllReduce"
	if err := checkLength(name, "dst", len(dst), len(src)); err != nil {
		return err
	}
	if err := checkOp[T](name, op); err != nil {
		return err
	}
	if err := checkOverlap(name, dst, src, 0, 0); err != nil {
		return err
	}
	if err := h.begin(ctx, name, op, noRoot); err != nil {
		return err
	}
	defer h.end()
	if h.flat != nil {
		return h.made(h.flat, fast.AllReduceInto(ctx, h.flat.Comm, dst, src, op))
	}
	by := combining(op)
	if err := h.made(&h.near, fast.ReduceInto(ctx, h.near.Comm, dst, src, by, 0, h.opts...)); err != nil {
		return err
	}
	if h.leads() {
		if err := h.made(&h.far, fast.AllReduce(ctx, h.far.Comm, dst, by, h.opts...)); err != nil {
			return err
		}
		finish(h, op, dst)
	}
	return h.made(&h.near, fast.Broadcast(ctx, h.near.Comm, dst, 0, h.opts...))
}

// Barrier returns when all ranks have called it.
func Barrier(ctx context.Context, h *Comm) error {
	if err := h.begin(ctx, "hosts.Barrier", 0, noRoot); err != nil {
		return err
	}
	defer h.end()
	if h.flat != nil {
		return h.made(h.flat, fast.Barrier(ctx, h.flat.Comm))
	}
	if err := h.made(&h.near, fast.Barrier(ctx, h.near.Comm, h.opts...)); err != nil {
		return err
	}
	if h.leads() {
		if err := h.made(&h.far, fast.Barrier(ctx, h.far.Comm, h.opts...)); err != nil {
			return err
		}
	}
	return h.made(&h.near, fast.Barrier(ctx, h.near.Comm, h.opts...))
}
