"""The collectives that reduce, as torch names them."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.distributed_c10d import (
    AllreduceCoalescedOptions,
    AllreduceOptions,
    ReduceOptions,
    ReduceScatterOptions,
)

from .buffers import Blocks, Targets, apart, separate, source
from .calls import Maker, one
from .capi import IN_PLACE, lib
from .elements import PREMUL_SUM, factor_of, reduced
from .options import complete
from .work import DONE, CollgenWork, registered

_allreduce = lib.collgen_allreduce

_ALLREDUCE = AllreduceOptions, AllreduceCoalescedOptions

# Of calls without options.
_SUM = ReduceScatterOptions()


class Reductions(Maker):
    """The collectives that reduce."""

    def allreduce(self, tensors: list[torch.Tensor], opts: Any = None, *more: Any, **named: Any) -> Any:
        """Reduces a tensor, in place."""
        if not isinstance(opts, _ALLREDUCE):
            tensors, opts = complete(AllreduceOptions, tensors, (opts, *more), named)
        t, op = one(tensors), opts.reduceOp
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
        return self._make(
            opts, tensors, x, targets, _allreduce, IN_PLACE, x.data_ptr(), x.numel(), kind, number, factor=_factor(op)
        )

    def reduce(self, tensors: list[torch.Tensor], opts: Any = None, *more: Any, **named: Any) -> Any:
        """Reduces to the root's tensor. What the others pass is not changed."""
        if not isinstance(opts, ReduceOptions):
            tensors, opts = complete(ReduceOptions, tensors, (opts, *more), named)
        t, op, root = one(tensors), opts.reduceOp, opts.rootRank
        kind, number = reduced(t.dtype, op)
        targets = Targets()
        if root == self._engine.rank:
            x = targets.of(t, filled=True)
            dst, src = x.data_ptr(), IN_PLACE
        else:
            x = source(t)
            if x is not t:  # all ranks refuse the same tensors
                separate(t)
            dst, src = None, x.data_ptr()
        return self._make(
            opts, tensors, x, targets, lib.collgen_reduce, dst, src, x.numel(), kind, number, root, factor=_factor(op)
        )

    def reduce_scatter(self, outputs: list[torch.Tensor], inputs: list[list[torch.Tensor]], opts: Any = _SUM) -> Any:
        """Reduces the tensors for each rank, which may differ in length. A single one is divided among the ranks."""
        t, ins, op = one(outputs), one(inputs), opts.reduceOp
        if len(ins) == 1 != self._engine.size:
            return self.reduce_scatter_single(t, ins[0], opts)
        kind, number = reduced(t.dtype, op)
        ins = [source(i) for i in ins]
        self._check_list(ins, t)
        targets = Targets()
        x = targets.of(t)
        if ins[self._engine.rank].numel() != x.numel():
            raise ValueError(
                f"reduce_scatter: the output has {x.numel()} elements, and this rank's input "
                f"{ins[self._engine.rank].numel()}"
            )
        factor = _factor(op)
        if factor is not None:  # the library multiplies a copy, of what lies between the blocks, too
            whole = torch.cat([i.flatten() for i in ins])
            ins = list(whole.split([i.numel() for i in ins]))
        ins = apart(ins, [x])
        blocks = Blocks(ins)
        return self._make(
            opts,
            outputs,
            (x, ins, blocks),
            targets,
            lib.collgen_reducescatterv,
            x.data_ptr(),
            blocks.address,
            blocks.counts,
            blocks.displs,
            kind,
            number,
            factor=factor,
        )

    def reduce_scatter_single(self, output: torch.Tensor, input: torch.Tensor, opts: Any = _SUM) -> Any:
        """Reduces a tensor, and gives each rank its part."""
        op, t = opts.reduceOp, source(input)
        kind, number = reduced(output.dtype, op)
        self._check_multiple(t, output, "input", "output")
        targets = Targets()
        x = targets.of(output)
        return self._make(
            opts,
            output,
            (t, x),
            targets,
            lib.collgen_reducescatter,
            x.data_ptr(),
            t.data_ptr(),
            x.numel(),
            kind,
            number,
            factor=_factor(op),
        )


def _factor(op: Any) -> float | None:
    return factor_of(op) if hash(op) == PREMUL_SUM else None
