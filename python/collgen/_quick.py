"""The arguments of the most frequent calls, without a detour: those that all ranks make with whole NumPy arrays."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from ._buffers import known_types
from ._calls import CALLS, EACH, Op
from ._make import Given, op_number

# Whether out and x of a call have a block of each rank, and whether it has an op. Its other arguments are the same.
_PLANS = {
    name: (call.dst.blocks == EACH, call.src.blocks == EACH, call.params[4:] == ("op",))
    for name, call in CALLS.items()
    if call.dst.on == call.src.on == "all"
    and call.params in (("dst", "src", "count", "type"), ("dst", "src", "count", "type", "op"))
}

_from_buffer, _addressof = ctypes.c_char.from_buffer, ctypes.addressof


def quick(name: str, size: int, given: Given) -> tuple[tuple[Any, ...], Any] | None:
    """Returns the arguments of a call and its result; None if anything about it is unusual, which make finds out."""
    numpy, plan = sys.modules.get("numpy"), _PLANS.get(name)
    x, out = given.x, given.out
    if numpy is None or plan is None or type(x) is not numpy.ndarray or given.dtype is not None:
        return None
    each_dst, each_src, has_op = plan
    dtype, n = x.dtype, x.size
    kind = known_types.get(dtype)
    if out is None:
        shape = x.shape
        if each_dst != each_src:
            if each_src and shape[:1] != (size,):
                return None
            shape = shape[1:] if each_src else (size, *shape)
        out = numpy.empty(shape, dtype)
    elif type(out) is not numpy.ndarray or out.dtype != dtype or not out.flags.aligned:
        return None
    count = n // size if each_src else n
    if kind is None or not x.flags.aligned or count * (size if each_src else 1) != n:
        return None
    if out.size != (count * size if each_dst else count):
        return None
    try:  # which refuses arrays that are empty, read-only or not contiguous
        dst, src = _addressof(_from_buffer(out)), _addressof(_from_buffer(x))
    except (TypeError, ValueError, BufferError):
        return None
    if has_op:
        named = given.op
        op = op_number(named) if type(named) is str or type(named) is Op else None
        return ((dst, src, count, kind, op), out) if op is not None else None
    return (dst, src, count, kind), out
