package hosts

import (
	"context"

	"github.com/collgen/collgen/fast"
	"github.com/collgen/collgen/fast/internal/wire"
	"github.com/collgen/collgen/fast/quantized"
)

// AllReduceQuantized adds up the elements of all ranks, or averages them, and gives every rank the result, the same
// bits on all ranks. It works in place: buf is both src and dst of [AllReduceQuantizedInto].
func AllReduceQuantized(ctx context.Context, h *Comm, buf []float32, op fast.Op, o quantized.Options) error {
	return AllReduceQuantizedInto(ctx, h, buf, buf, op, o)
}

// AllReduceQuantizedInto adds up the elements of all ranks, or averages them, and gives every rank the result, the same
// bits on all ranks. Op is Sum or Avg. The ranks of a host add up in float32. Leaders exchange sums by
// quantized.AllReduce, a quarter of the bytes that AllReduceInto takes. If all ranks are on one host, nothing is
// quantized.
//
// No element of the result is further from the exact one than o.ErrorBound of the elements on all ranks. All elements
// of a block are NaN where any element of it is a NaN or infinite on any rank, and where a sum overflows; if nothing is
// quantized, only such elements are what AllReduceInto makes of them. A result of 0 may have either sign.
func AllReduceQuantizedInto(ctx context.Context, h *Comm, dst, src []float32, op fast.Op, o quantized.Options) error {
	const name = "hosts.AllReduceQuantized"
	if op != fast.Sum && op != fast.Avg {
		return wire.Refuse(name, "op is %v, want sum or avg", op)
	}
	if err := checkLength(name, "dst", len(dst), len(src)); err != nil {
		return err
	}
	if err := checkOverlap(name, dst, src, 0, 0); err != nil {
		return err
	}
	if err := h.begin(ctx, name, op, noRoot); err != nil {
		return err
	}
	defer h.end()
	if err := h.quantize(o); err != nil {
		return err
	}
	h.whole.Operation = h.quantizing.operation
	if h.flat == &h.near {
		return h.made(h.flat, fast.AllReduceInto(ctx, h.near.Comm, dst, src, op, h.opts...))
	}
	if err := h.made(&h.near, fast.ReduceInto(ctx, h.near.Comm, dst, src, fast.Sum, 0, h.opts...)); err != nil {
		return err
	}
	if h.leads() {
		if err := h.made(&h.far, quantized.AllReduce(ctx, h.quantizing.on, dst, fast.Sum, h.opts...)); err != nil {
			return err
		}
		finish(h, op, dst)
	}
	return h.made(&h.near, fast.Broadcast(ctx, h.near.Comm, dst, 0, h.opts...))
}

// quantizing is how calls are quantized.
type quantizing struct {
	by        quantized.Options
	operation string
	on        *quantized.Comm // of the leaders; on another rank it makes no call
}

// quantize has calls be quantized as o says.
func (h *Comm) quantize(o quantized.Options) error {
	if h.quantizing.on != nil && h.quantizing.by == o {
		return nil
	}
	c := h.far.Comm
	if !h.leads() {
		c = h.near.Comm
	}
	on, err := quantized.New(c, o)
	if err == nil {
		h.quantizing = quantizing{o, "hosts " + o.String(), on}
	}
	return err
}
