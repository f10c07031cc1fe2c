"""Which types and reductions of torch are which of the library's."""

from __future__ import annotations

import torch
from torch.distributed import ReduceOp

from .._calls import Op, Type

# The type of the library's, and how many bytes an element has. Types that the library does not know are moved as
# integers of as many bytes, and are not reduced.
TYPES: dict[torch.dtype, tuple[int, int]] = {
    torch.int8: (int(Type.INT8), 1),
    torch.int16: (int(Type.INT16), 2),
    torch.int32: (int(Type.INT32), 4),
    torch.int64: (int(Type.INT64), 8),
    torch.uint8: (int(Type.UINT8), 1),
    torch.uint16: (int(Type.UINT16), 2),
    torch.uint32: (int(Type.UINT32), 4),
    torch.uint64: (int(Type.UINT64), 8),
    torch.float16: (int(Type.FLOAT16), 2),
    torch.bfloat16: (int(Type.BFLOAT16), 2),
    torch.float32: (int(Type.FLOAT32), 4),
    torch.float64: (int(Type.FLOAT64), 8),
    torch.complex64: (int(Type.COMPLEX64), 8),
    torch.complex128: (int(Type.COMPLEX128), 16),
    torch.bool: (int(Type.BOOL), 1),
    torch.float8_e4m3fn: (int(Type.FLOAT8E4M3), 1),
    torch.float8_e5m2: (int(Type.FLOAT8E5M2), 1),
}

_MOVED = {1: int(Type.INT8), 2: int(Type.INT16), 4: int(Type.INT32), 8: int(Type.INT64), 16: int(Type.COMPLEX128)}

_REDUCED = frozenset(TYPES)

# By the number of a ReduceOp, which is its hash.
_OPS = {
    int(ReduceOp.SUM): int(Op.SUM),
    int(ReduceOp.AVG): int(Op.AVG),
    int(ReduceOp.PRODUCT): int(Op.PROD),
    int(ReduceOp.MIN): int(Op.MIN),
    int(ReduceOp.MAX): int(Op.MAX),
    int(ReduceOp.BAND): int(Op.BAND),
    int(ReduceOp.BOR): int(Op.BOR),
    int(ReduceOp.BXOR): int(Op.BXOR),
    int(ReduceOp.PREMUL_SUM): int(Op.SUM),
}

PREMUL_SUM = int(ReduceOp.PREMUL_SUM)

# On bools, a sum is whether any is true, and a product whether all are, as torch converts numbers to bools.
_BOOL_OPS = {
    int(ReduceOp.SUM): (int(Type.BOOL), int(Op.LOR)),
    int(ReduceOp.MAX): (int(Type.BOOL), int(Op.LOR)),
    int(ReduceOp.BOR): (int(Type.BOOL), int(Op.LOR)),
    int(ReduceOp.PRODUCT): (int(Type.BOOL), int(Op.LAND)),
    int(ReduceOp.MIN): (int(Type.BOOL), int(Op.LAND)),
    int(ReduceOp.BAND): (int(Type.BOOL), int(Op.LAND)),
    int(ReduceOp.BXOR): (int(Type.UINT8), int(Op.BXOR)),
}

_FLOATS = frozenset(t for t in TYPES if t.is_floating_point or t.is_complex)


def moved(dtype: torch.dtype) -> tuple[int, int]:
    """Returns the type of elements that are moved, and how many bytes one has."""
    found = TYPES.get(dtype)
    if found is None:
        size = dtype.itemsize
        if size not in _MOVED:
            raise ValueError(f"collgen does not move tensors of {dtype}")
        found = TYPES[dtype] = _MOVED[size], size
    return found


# What reduced has returned, by dtype and op.
_known: dict[tuple[torch.dtype, int], tuple[int, int]] = {}


def reduced(dtype: torch.dtype, op: ReduceOp) -> tuple[int, int]:
    """Returns the type and the reduction for elements of dtype and op. Raises ValueError if there is none."""
    number = hash(op)
    found = _known.get((dtype, number))
    if found is None:
        found = _known[dtype, number] = _reduced(dtype, number, op)
    return found


def _reduced(dtype: torch.dtype, number: int, op: ReduceOp) -> tuple[int, int]:
    if dtype not in _REDUCED:
        raise ValueError(f"collgen does not reduce tensors of {dtype}")
    if number not in _OPS:
        raise ValueError(f"collgen has no reduction {op}")
    if dtype == torch.bool:
        if number not in _BOOL_OPS:
            raise ValueError(f"Cannot use {_name(number)} with Bool tensors")
        return _BOOL_OPS[number]
    bits = (int(ReduceOp.BAND), int(ReduceOp.BOR), int(ReduceOp.BXOR))
    if number in bits and dtype in _FLOATS:
        raise ValueError(f"Cannot use ReduceOp.{_name(number)} with non-integral dtype")
    return TYPES[dtype][0], _OPS[number]


def _name(number: int) -> str:
    return next(name for name, op in ReduceOp.RedOpType.__members__.items() if int(op) == number)


def factor_of(op: ReduceOp) -> float:
    """Returns by what a PREMUL_SUM multiplies."""
    factor = op.factor
    return float(factor.item()) if isinstance(factor, torch.Tensor) else float(factor)
