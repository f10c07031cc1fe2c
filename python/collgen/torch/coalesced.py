"""Several collectives in one call, and the reduction of sparse tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed import ReduceOp

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
        """Collects each tensor of all."""
        return self._all(opts, outputs, [self.allgather([outs], [t], opts) for outs, t in zip(outputs, inputs, strict=True)])

    def all_gather_single_coalesced(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any) -> Any:
        """Collects each tensor of all in one."""
        return self._all(opts, outputs, [self.all_gather_single(o, i, opts) for o, i in zip(outputs, inputs, strict=True)])

    def reduce_scatter_single_coalesced(self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], opts: Any) -> Any:
        """Reduces each tensor, and gives each rank its parts."""
        works = [self.reduce_scatter_single(o, i, opts) for o, i in zip(outputs, inputs, strict=True)]
        return self._all(opts, outputs, works)
