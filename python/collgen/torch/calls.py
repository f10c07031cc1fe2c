"""How collectives are made: what they have in common."""

from __future__ import annotations

from typing import Any

import torch

from .buffers import Targets, check
from .engine import Engine
from .work import DONE, CollgenWork, registered


class Maker:
    """Makes calls. They are over when they return, unless options have asyncOp."""

    _engine: Engine

    def _make(
        self,
        opts: Any,
        result: Any,
        keep: Any,
        targets: Targets | None,
        f: Any,
        *args: Any,
        factor: float | None = None,
    ) -> Any:
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
            raise ValueError(
                f"collgen: {name} tensor size must be equal to group size times {of} tensor size: "
                f"{all.numel()}, {self._engine.size} and {part.numel()}"
            )


def one(items: list[Any]) -> Any:
    """Returns the only item."""
    if len(items) != 1:
        raise ValueError(f"collgen takes one tensor, or one list of them, for each process: not {len(items)}")
    return items[0]
