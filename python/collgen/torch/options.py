"""The ways in which torch's ProcessGroup can be called without an object of options."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
from torch.distributed import ReduceOp

# Their attributes, by the names of arguments.
_FIELDS = {"op": "reduceOp", "root": "rootRank", "timeout": "timeout"}


def complete(kind: type, tensors: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, Any]:
    """Returns a list of tensors and options, from the arguments of a call that has other ones."""
    opts = named.pop("opts", None) or kind()
    for value in given:
        if isinstance(value, kind):
            opts = value
        elif isinstance(value, timedelta):
            opts.timeout = value
        elif isinstance(value, (ReduceOp, ReduceOp.RedOpType)):
            opts.reduceOp = value
        elif isinstance(value, int):
            opts.rootRank = value
        elif value is not None:
            raise TypeError(f"collgen: {value!r} is no option of this call")
    for name, value in named.items():
        if value is not None:
            setattr(opts, _FIELDS[name], value)
    return ([tensors] if isinstance(tensors, torch.Tensor) else tensors), opts
