"""The collectives that move elements, as torch names them, and the barrier."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch.distributed.distributed_c10d import AllgatherOptions, BarrierOptions, BroadcastOptions

from .buffers import Blocks, Targets, apart, direct, separate, source
from .calls import Maker, one
from .capi import IN_PLACE, lib
from .elements import moved
from .options import complete

# Of calls without options.
_DEFAULT = AllgatherOptions()


class Moves(Maker):
    """The collectives that move elements."""

    def broadcast(self, tensors: list[torch.Tensor], opts: Any = None, *more: Any, **named: Any) -> Any:
        """Sends the root's tensor to all."""
        if not isinstance(opts, BroadcastOptions):
            tensors, opts = complete(BroadcastOptions, tensors, (opts, *more), named)
        t, root = one(tensors), opts.rootRank
        targets = Targets()
        if root == self._engine.rank:
            x = source(t)
            if x is not t:  # all ranks refuse the same tensors
                separate(t)
        else:
            x = targets.of(t)
        kind, _ = moved(t.dtype)
        return self._make(
            opts, tensors, x, targets, lib.collgen_broadcast, x.data_ptr(), IN_PLACE, x.numel(), kind, root
        )

    def allgather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any = _DEFAULT) -> Any:
        """Collects the tensors of all, which may differ in length."""
        t, outs = source(one(inputs)), one(outputs)
        self._check_list(outs, t)
        if outs[self._engine.rank].numel() != t.numel():
            raise ValueError(
                f"allgather: this rank's tensor has {t.numel()} elements, and its place "
                f"{outs[self._engine.rank].numel()}"
            )
        targets = Targets()
        xs = [targets.of(o) for o in outs]
        (t,) = apart([t], xs)
        blocks = Blocks(xs)
        return self._make(
            opts,
            outputs,
            (t, xs, blocks),
            targets,
            lib.collgen_allgatherv,
            blocks.address,
            blocks.counts,
            blocks.displs,
            t.data_ptr(),
            moved(t.dtype)[0],
        )

    def all_gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = _DEFAULT) -> Any:
        """Collects the tensors of all in one."""
        t = source(input)
        self._check_multiple(output, t, "output", "input")
        targets = Targets()
        x = targets.of(output)
        return self._make(
            opts,
            output,
            (t, x),
            targets,
            lib.collgen_allgather,
            x.data_ptr(),
            t.data_ptr(),
            t.numel(),
            moved(t.dtype)[0],
        )

    def gather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any) -> Any:
        """Collects the tensors of all on the root."""
        t, root = source(one(inputs)), opts.rootRank
        kind, _ = moved(t.dtype)
        if root != self._engine.rank:
            if outputs and outputs[0]:
                raise ValueError("ProcessGroupCollgen::gather: requires empty output on non-root")
            return self._make(
                opts, [], t, None, lib.collgen_gatherv, None, None, None, t.data_ptr(), t.numel(), kind, root
            )
        outs = one(outputs)
        self._check_list(outs, t)
        targets = Targets()
        xs = [targets.of(o) for o in outs]
        (t,) = apart([t], xs)
        blocks = Blocks(xs)
        return self._make(
            opts,
            outputs,
            (t, xs, blocks),
            targets,
            lib.collgen_gatherv,
            blocks.address,
            blocks.counts,
            blocks.displs,
            t.data_ptr(),
            t.numel(),
            kind,
            root,
        )

    def gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any) -> Any:
        """Collects the tensors of all in one of the root's."""
        t, root = source(input), opts.rootRank
        targets = Targets()
        dst, x = None, None
        if root == self._engine.rank:
            self._check_multiple(output, t, "output", "input")
            x = targets.of(output)
            dst = x.data_ptr()
        return self._make(
            opts, output, (t, x), targets, lib.collgen_gather, dst, t.data_ptr(), t.numel(), moved(t.dtype)[0], root
        )

    def scatter(self, outputs: list[torch.Tensor], inputs: list[list[torch.Tensor]], opts: Any) -> Any:
        """Distributes the root's tensors."""
        t, root = one(outputs), opts.rootRank
        targets = Targets()
        x = targets.of(t)
        kind, _ = moved(t.dtype)
        if root != self._engine.rank:
            if inputs and inputs[0]:
                raise ValueError("ProcessGroupCollgen::scatter: requires empty input on non-root")
            return self._make(
                opts, outputs, x, targets, lib.collgen_scatterv, x.data_ptr(), None, None, None, x.numel(), kind, root
            )
        ins = [source(i) for i in one(inputs)]
        self._check_list(ins, t)
        ins = apart(ins, [x])
        blocks = Blocks(ins)
        return self._make(
            opts,
            outputs,
            (x, ins, blocks),
            targets,
            lib.collgen_scatterv,
            x.data_ptr(),
            blocks.address,
            blocks.counts,
            blocks.displs,
            x.numel(),
            kind,
            root,
        )

    def alltoall(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any = _DEFAULT) -> Any:
        """Sends each rank its tensor; they may differ in length."""
        ins = [source(i) for i in inputs]
        self._check_list(ins, outputs[0])
        self._check_list(outputs, ins[0])
        targets = Targets()
        xs = [targets.of(o) for o in outputs]
        ins = apart(ins, xs)
        to, of = Blocks(xs), Blocks(ins)
        return self._make(
            opts,
            outputs,
            (xs, ins, to, of),
            targets,
            lib.collgen_alltoallv,
            to.address,
            to.counts,
            to.displs,
            of.address,
            of.counts,
            of.displs,
            moved(ins[0].dtype)[0],
        )

    def all_to_all_single(
        self,
        output: torch.Tensor,
        input: torch.Tensor,
        output_sizes: list[int],
        input_sizes: list[int],
        opts: Any = _DEFAULT,
    ) -> Any:
        """Sends each rank its part of a tensor, by the sizes along the first dimension, or equal parts."""
        if not direct(input) or not direct(output):
            raise ValueError("Tensors must be contiguous")
        t = source(input)
        if output.dtype != t.dtype:
            raise ValueError("Input and output tensors must have the same dtype")
        n = self._engine.size
        to, of = self._parts(output, output_sizes), self._parts(t, input_sizes)
        targets = Targets()
        x = targets.of(output)
        (t,) = apart([t], [x])
        return self._make(
            opts,
            output,
            (t, x),
            targets,
            lib.collgen_alltoallv,
            x.data_ptr(),
            (ctypes.c_int64 * n)(*to),
            None,
            t.data_ptr(),
            (ctypes.c_int64 * n)(*of),
            None,
            moved(t.dtype)[0],
        )

    def barrier(self, opts: Any = None, timeout: Any = None) -> Any:
        """Waits until all ranks have called it."""
        if not isinstance(opts, BarrierOptions):
            _, opts = complete(BarrierOptions, [], (opts, timeout), {})
        return self._make(opts, [], None, None, lib.collgen_barrier)

    def _parts(self, t: torch.Tensor, sizes: list[int]) -> list[int]:
        """Returns how many elements of t are each rank's."""
        n = self._engine.size
        rows = t.size(0) if t.dim() else 1
        if not sizes:
            if rows % n:
                raise ValueError(f"Tensor's dim 0 does not divide equally across group size: {rows} by {n}")
            return [t.numel() // n] * n
        if len(sizes) != n:
            raise ValueError(f"Number of tensor splits not equal to group size: {len(sizes)}, and not {n}")
        if sum(sizes) != rows or min(sizes) < 0:
            raise ValueError(f"Split sizes doesn't match total dim 0 size: {sizes}, and not {rows}")
        row = t.numel() // rows if rows else 0
        return [size * row for size in sizes]
