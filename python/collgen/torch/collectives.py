"""The collectives of a process group, as torch names them."""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch.distributed.distributed_c10d import (
    AllgatherOptions,
    AllreduceCoalescedOptions,
    AllreduceOptions,
    BarrierOptions,
    BroadcastOptions,
    ReduceOptions,
    ReduceScatterOptions,
)

from .buffers import Blocks, Targets, apart, check, direct, source
from .elements import PREMUL_SUM, factor_of, moved, reduced
from .engine import Engine
from .library import IN_PLACE, lib
from .options import complete
from .work import DONE, CollgenWork, registered

_allreduce = lib.collgen_allreduce

_ALLREDUCE = AllreduceOptions, AllreduceCoalescedOptions

# Of calls without options.
_DEFAULT, _SUM = AllgatherOptions(), ReduceScatterOptions()


class Collectives:
    """The collectives. They are over when they return, unless options have asyncOp."""

    _engine: Engine

    def _make(self, opts: Any, result: Any, keep: Any, targets: Targets | None, f: Any, *args: Any,
              factor: float | None = None) -> Any:  # fmt: skip
        """Makes the call f, or starts it, and returns its Work."""
        e = self._engine
        limit, options = e.options_of(opts.timeout, factor)
        fill = targets.fill if targets is not None and targets.copies else None
        if opts.asyncOp:
            call = e.start((keep, options, targets), fill, f, *args, limit)
            return registered(CollgenWork(call, result, e.sequence))
        e.do(f, *args, limit)
        if fill is not None:
            fill()
        return DONE

    def allreduce(self, tensors: list[torch.Tensor], opts: Any = None, *more: Any, **named: Any) -> Any:
        """Reduces a tensor, in place."""
        if not isinstance(opts, _ALLREDUCE):
            tensors, opts = complete(AllreduceOptions, tensors, (opts, *more), named)
        t, op = _one(tensors), opts.reduceOp
        if t.is_cpu and t.is_contiguous() and not t.is_neg() and hash(op) != PREMUL_SUM:  # in short
            kind, number = reduced(t.dtype, op)
            e = self._engine
            limit, options = e.options_of(opts.timeout)
            if opts.asyncOp:
                call = e.start((t, options), None, _allreduce, IN_PLACE, t.data_ptr(), t.numel(), kind, number, limit)
                return registered(CollgenWork(call, tensors, e.sequence))
            e.do(_allreduce, IN_PLACE, t.data_ptr(), t.numel(), kind, number, limit)
            return DONE
        if t.layout is torch.sparse_coo:
            return self.allreduce_sparse(tensors, opts)
        kind, number = reduced(t.dtype, op)
        targets = Targets()
        x = targets.of(t, filled=True)
        return self._make(opts, tensors, x, targets, _allreduce, IN_PLACE, x.data_ptr(), x.numel(), kind, number,
                          factor=_factor(op))  # fmt: skip

    def broadcast(self, tensors: list[torch.Tensor], opts: Any = None, *more: Any, **named: Any) -> Any:
        """Sends the root's tensor to all."""
        if not isinstance(opts, BroadcastOptions):
            tensors, opts = complete(BroadcastOptions, tensors, (opts, *more), named)
        t, root = _one(tensors), opts.rootRank
        targets = Targets()
        x = source(t) if root == self._engine.rank else targets.of(t)
        kind, _ = moved(t.dtype)
        return self._make(opts, tensors, x, targets, lib.collgen_broadcast, x.data_ptr(), IN_PLACE, x.numel(), kind,
                          root)  # fmt: skip

    def reduce(self, tensors: list[torch.Tensor], opts: Any = None, *more: Any, **named: Any) -> Any:
        """Reduces to the root's tensor. What the others pass is not changed."""
        if not isinstance(opts, ReduceOptions):
            tensors, opts = complete(ReduceOptions, tensors, (opts, *more), named)
        t, op, root = _one(tensors), opts.reduceOp, opts.rootRank
        kind, number = reduced(t.dtype, op)
        targets = Targets()
        if root == self._engine.rank:
            x = targets.of(t, filled=True)
            dst, src = x.data_ptr(), IN_PLACE
        else:
            x = source(t)
            dst, src = None, x.data_ptr()
        return self._make(opts, tensors, x, targets, lib.collgen_reduce, dst, src, x.numel(), kind, number, root,
                          factor=_factor(op))  # fmt: skip

    def allgather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any = _DEFAULT) -> Any:
        """Collects the tensors of all, which may differ in length."""
        t, outs = source(_one(inputs)), _one(outputs)
        self._check_list(outs, t)
        if outs[self._engine.rank].numel() != t.numel():
            raise ValueError(f"allgather: this rank's tensor has {t.numel()} elements, and its place "
                             f"{outs[self._engine.rank].numel()}")  # fmt: skip
        targets = Targets()
        xs = [targets.of(o) for o in outs]
        (t,) = apart([t], xs)
        blocks = Blocks(xs)
        return self._make(opts, outputs, (t, xs, blocks), targets, lib.collgen_allgatherv, blocks.address,
                          blocks.counts, blocks.displs, t.data_ptr(), moved(t.dtype)[0])  # fmt: skip

    def all_gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = _DEFAULT) -> Any:
        """Collects the tensors of all in one."""
        t = source(input)
        self._check_multiple(output, t, "output", "input")
        targets = Targets()
        x = targets.of(output)
        return self._make(opts, output, (t, x), targets, lib.collgen_allgather, x.data_ptr(), t.data_ptr(), t.numel(),
                          moved(t.dtype)[0])  # fmt: skip

    def gather(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any) -> Any:
        """Collects the tensors of all on the root."""
        t, root = source(_one(inputs)), opts.rootRank
        kind, _ = moved(t.dtype)
        if root != self._engine.rank:
            if outputs and outputs[0]:
                raise ValueError("ProcessGroupCollgen::gather: requires empty output on non-root")
            return self._make(opts, [], t, None, lib.collgen_gatherv, None, None, None, t.data_ptr(), t.numel(), kind,
                              root)  # fmt: skip
        outs = _one(outputs)
        self._check_list(outs, t)
        targets = Targets()
        xs = [targets.of(o) for o in outs]
        (t,) = apart([t], xs)
        blocks = Blocks(xs)
        return self._make(opts, outputs, (t, xs, blocks), targets, lib.collgen_gatherv, blocks.address, blocks.counts,
                          blocks.displs, t.data_ptr(), t.numel(), kind, root)  # fmt: skip

    def gather_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any) -> Any:
        """Collects the tensors of all in one of the root's."""
        t, root = source(input), opts.rootRank
        targets = Targets()
        dst, x = None, None
        if root == self._engine.rank:
            self._check_multiple(output, t, "output", "input")
            x = targets.of(output)
            dst = x.data_ptr()
        return self._make(opts, output, (t, x), targets, lib.collgen_gather, dst, t.data_ptr(), t.numel(),
                          moved(t.dtype)[0], root)  # fmt: skip

    def scatter(self, outputs: list[torch.Tensor], inputs: list[list[torch.Tensor]], opts: Any) -> Any:
        """Distributes the root's tensors."""
        t, root = _one(outputs), opts.rootRank
        targets = Targets()
        x = targets.of(t)
        kind, _ = moved(t.dtype)
        if root != self._engine.rank:
            if inputs and inputs[0]:
                raise ValueError("ProcessGroupCollgen::scatter: requires empty input on non-root")
            return self._make(opts, outputs, x, targets, lib.collgen_scatterv, x.data_ptr(), None, None, None,
                              x.numel(), kind, root)  # fmt: skip
        ins = [source(i) for i in _one(inputs)]
        self._check_list(ins, t)
        ins = apart(ins, [x])
        blocks = Blocks(ins)
        return self._make(opts, outputs, (x, ins, blocks), targets, lib.collgen_scatterv, x.data_ptr(),
                          blocks.address, blocks.counts, blocks.displs, x.numel(), kind, root)  # fmt: skip

    def reduce_scatter(self, outputs: list[torch.Tensor], inputs: list[list[torch.Tensor]], opts: Any = _SUM) -> Any:
        """Reduces the tensors for each rank, which may differ in length. One tensor alone is divided among the ranks."""
        t, ins, op = _one(outputs), _one(inputs), opts.reduceOp
        if len(ins) == 1 != self._engine.size:
            return self.reduce_scatter_single(t, ins[0], opts)
        kind, number = reduced(t.dtype, op)
        ins = [source(i) for i in ins]
        self._check_list(ins, t)
        targets = Targets()
        x = targets.of(t)
        if ins[self._engine.rank].numel() != x.numel():
            raise ValueError(f"reduce_scatter: the output has {x.numel()} elements, and this rank's input "
                             f"{ins[self._engine.rank].numel()}")  # fmt: skip
        factor = _factor(op)
        if factor is not None:  # the library multiplies a copy, of what lies between the blocks, too
            whole = torch.cat([i.flatten() for i in ins])
            ins = list(whole.split([i.numel() for i in ins]))
        ins = apart(ins, [x])
        blocks = Blocks(ins)
        return self._make(opts, outputs, (x, ins, blocks), targets, lib.collgen_reducescatterv, x.data_ptr(),
                          blocks.address, blocks.counts, blocks.displs, kind, number, factor=factor)  # fmt: skip

    def reduce_scatter_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = _SUM) -> Any:
        """Reduces a tensor, and gives each rank its part."""
        op, t = opts.reduceOp, source(input)
        kind, number = reduced(output.dtype, op)
        self._check_multiple(t, output, "input", "output")
        targets = Targets()
        x = targets.of(output)
        return self._make(opts, output, (t, x), targets, lib.collgen_reducescatter, x.data_ptr(), t.data_ptr(),
                          x.numel(), kind, number, factor=_factor(op))  # fmt: skip

    def alltoall(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any = _DEFAULT) -> Any:
        """Sends each rank its tensor; they may differ in length."""
        ins = [source(i) for i in inputs]
        self._check_list(ins, outputs[0])
        self._check_list(outputs, ins[0])
        targets = Targets()
        xs = [targets.of(o) for o in outputs]
        ins = apart(ins, xs)
        to, of = Blocks(xs), Blocks(ins)
        return self._make(opts, outputs, (xs, ins, to, of), targets, lib.collgen_alltoallv, to.address, to.counts,
                          to.displs, of.address, of.counts, of.displs, moved(ins[0].dtype)[0])  # fmt: skip

    def all_to_all_single(self, output: torch.Tensor, input: torch.Tensor, output_sizes: list[int],
                          input_sizes: list[int], opts: Any = _DEFAULT) -> Any:  # fmt: skip
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
        return self._make(opts, output, (t, x), targets, lib.collgen_alltoallv, x.data_ptr(),
                          (ctypes.c_int64 * n)(*to), None, t.data_ptr(), (ctypes.c_int64 * n)(*of), None,
                          moved(t.dtype)[0])  # fmt: skip

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

    def _check_list(self, tensors: list[torch.Tensor], like: torch.Tensor) -> None:
        if len(tensors) != self._engine.size:
            raise ValueError(f"collgen: {len(tensors)} tensors, want one for each of {self._engine.size} ranks")
        for t in tensors:
            check(t)
            if t.dtype != like.dtype:
                raise ValueError(f"collgen: tensors of {t.dtype} and of {like.dtype} in one call")

    def _check_multiple(self, all: torch.Tensor, part: torch.Tensor, name: str, of: str) -> None:
        if all.dtype != part.dtype:
            raise ValueError(f"collgen: {name} is of {all.dtype}, and {of} of {part.dtype}")
        if all.numel() != part.numel() * self._engine.size:
            raise ValueError(f"collgen: {name} tensor size must be equal to group size times {of} tensor size: "
                             f"{all.numel()}, {self._engine.size} and {part.numel()}")  # fmt: skip


def _one(items: list[Any]) -> Any:
    if len(items) != 1:
        raise ValueError(f"collgen takes one tensor, or one list of them, for each process: not {len(items)}")
    return items[0]


def _factor(op: Any) -> float | None:
    return factor_of(op) if hash(op) == PREMUL_SUM else None
