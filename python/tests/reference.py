"""What collectives promise, in NumPy: the inputs of all ranks come in, and the results of all ranks come out."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Arrays = Sequence[Any]

_UFUNCS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "band": np.bitwise_and,
    "bor": np.bitwise_or,
    "bxor": np.bitwise_xor,
    "land": lambda a, b: np.logical_and(a, b).astype(a.dtype),
    "lor": lambda a, b: np.logical_or(a, b).astype(a.dtype),
}


def fold(xs: Arrays, op: str, ranks: int | None = None) -> Any:
    """Reduces operands; avg divides by the number of ranks."""
    if op == "avg":
        total = functools.reduce(np.add, xs)
        return (total / (ranks or len(xs))).astype(xs[0].dtype)
    return functools.reduce(_UFUNCS[op], xs)


def cuts(x: Any, counts: Sequence[int]) -> list[Any]:
    """Returns the blocks of a flat array."""
    return np.split(x, np.cumsum(counts)[:-1])
