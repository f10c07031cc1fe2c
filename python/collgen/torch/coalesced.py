"""Several collectives in one call, and the reduction of sparse tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed import ReduceOp
from torch.distributed.distributed_c10d import AllgatherOptions

from .engine import Engine
from .work import DONE, AllWork, DoneWork


class Coalesced:
    """Calls that make several collectives, one after the other."""

    _engine: Engine

    def _all(self, opts: Any, result: Any, works: list[Any]) -> Any:
        return AllWork(works, result) if opts.asyncOp else DONE

    def allreduce_coalesced(self, tensors: list[torch.Tensor], opts: Any) -> Any:
        """Reduces each tensor, in place."""
        return self._all(opts, tensors, [self.allreduce([t], opts) for t in tensors])

    def allgather_coalesced(self, outputs: list[list[torch.Tensor]], inputs: list[torch.Tensor], opts: Any) -> Any:
        """Collects each tensor of all: the list of a rank has its tensors."""
        if len(outputs) != self._engine.size or any(len(o) != len(inputs) for o in outputs):
            raise ValueError(f"collgen: want lists of {len(inputs)} tensors for each of {self._engine.size} ranks")
        each = zip(zip(*outputs), inputs)
        return self._all(opts, outputs, [self.allgather([list(outs)], [t], opts) for outs, t in each])

    def all_gather_single_coalesced(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any) -> Any:
        """Collects each tensor of all in one."""
        return self._all(
            opts, outputs, [self.all_gather_single(o, i, opts) for o, i in zip(outputs, inputs, strict=True)]
        )

    def reduce_scatter_single_coalesced(
        self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any
    ) -> Any:
        """Reduces each tensor, and gives each rank its parts."""
        works = [self.reduce_scatter_single(o, i, opts) for o, i in zip(outputs, inputs, strict=True)]
        return self._all(opts, outputs, works)

    def allreduce_sparse(self, tensors: list[torch.Tensor], opts: Any) -> Any:
        """Adds sparse tensors up: it collects the entries of all. It is over when it returns."""
        (t,) = tensors
        if hash(opts.reduceOp) != int(ReduceOp.SUM):
            raise ValueError("collgen adds sparse tensors up, and has no other reduction of them")
        mine = t.coalesce()
        now = AllgatherOptions()
        now.asyncOp = False
        n = self._engine.size
        counts = torch.empty(n, dtype=torch.int64)
        self.all_gather_single(counts, torch.tensor([mine._nnz()]), now)
        parts = [
            (
                torch.empty(mine.sparse_dim(), k, dtype=torch.int64),
                torch.empty((k, *mine.shape[mine.sparse_dim() :]), dtype=mine.dtype),
            )
            for k in counts.tolist()
        ]
        self.allgather([[p[0] for p in parts]], [mine.indices()], now)
        self.allgather([[p[1] for p in parts]], [mine.values()], now)
        total = torch.sparse_coo_tensor(torch.cat([p[0] for p in parts], 1), torch.cat([p[1] for p in parts]), t.shape)
        with torch.no_grad():
            t.copy_(total.coalesce())
        return DoneWork(tensors) if opts.asyncOp else DONE
