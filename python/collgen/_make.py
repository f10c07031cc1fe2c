"""The arguments of collectives, from what a program passes: lengths, types and places are checked here."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple

from ._buffers import Buffer, buffer_of
from ._calls import CALLS, EACH, Call, Op, Shape
from ._checks import LENGTH, integers, invalid, rank_of
from ._lib import IN_PLACE

_OPS: dict[str | Op, int] = {op.name.lower(): op.value for op in Op} | {op: op.value for op in Op}

# What an op is looked up by: None if there is none.
op_number = _OPS.get


def op_of(op: str | Op) -> int:
    """Returns the number of an op."""
    if not isinstance(op, (str, Op)):
        raise TypeError(f"op is of {type(op)}, want a name such as 'sum', or an Op; the buffer of the result is out=")
    found = op_number(op.lower() if isinstance(op, str) else op)
    if found is None:
        names = [op.name.lower() for op in Op]
        raise invalid(f"there is no op {op!r}: want one of {', '.join(names)}")
    return found


class Given(NamedTuple):
    """What a program passes to a collective."""

    x: Any = None
    out: Any = None
    op: str | Op = "sum"
    root: int = 0
    counts: Sequence[int] | None = None  # of the one buffer that is uneven, or of x
    displs: Sequence[int] | None = None
    out_counts: Sequence[int] | None = None
    out_displs: Sequence[int] | None = None
    dtype: Any = None


class Made(NamedTuple):
    """A collective as the library takes it."""

    args: list[Any]
    src: Buffer | None
    dst: Buffer | None

    def result(self) -> Any:
        """Returns what the collective returns."""
        return self.dst.result() if self.dst is not None else None


class _Blocks:
    """How the blocks of a buffer lie that are uneven."""

    def __init__(self, what: str, size: int, counts: Sequence[int] | None, displs: Sequence[int] | None) -> None:
        if counts is None:
            raise invalid(f"the counts of {what} are needed")
        self.counts = _numbers(f"the counts of {what}", counts, size)
        self.displs = None if displs is None else _numbers(f"the displacements of {what}", displs, size)
        starts = self.displs or (0,) * size
        ends = [d + n for d, n in zip(starts, self.counts) if n]
        self.extent = max(ends, default=0) if displs is not None else sum(self.counts)


def _numbers(what: str, given: Sequence[int], size: int) -> Any:
    """Returns numbers as an array for the library."""
    numbers = integers(given, what, LENGTH)
    if len(numbers) != size:
        raise invalid(f"{what} are {numbers}, want {size} numbers from 0 on")
    return (ctypes.c_int64 * size)(*numbers)


def passes(shape: Shape, rank: int, root: int) -> bool:
    """Reports whether a rank passes a buffer."""
    if shape.on == "all":
        return shape.blocks != 0
    return rank == root if shape.on == "root" else rank > 0


def make(name: str, rank: int, size: int, given: Given) -> Made:
    """Returns the arguments of a collective by the name of its method."""
    call = CALLS[name]
    if call.dst.blocks == 0 and call.src.blocks == 0:
        return Made([], None, None)
    root = rank_of(given.root, "root", size)
    has_dst, has_src = passes(call.dst, rank, root), passes(call.src, rank, root)
    src = dst = None
    if given.out is not None and has_dst:
        dst = buffer_of(given.out, "out", given.dtype, True)
    if given.out is None and call.src.on == "root" and call.in_place == "dst":  # as of broadcast
        dst = buffer_of(_needed(given.x, "x"), "x", given.dtype, True)
    elif has_src and given.x is not None:
        src = buffer_of(given.x, "x", given.dtype)
    elif has_src and (dst is None or not call.in_place.startswith("dst")):
        _needed(None, "x")
    dst_blocks, src_blocks = _blocks(call, size, given, has_dst, has_src)
    if dst is None and has_dst:
        if src is None:
            _needed(None, "out")
        else:
            dst = src.make(_shape(call, rank, size, src, dst_blocks, src_blocks))
    if dst is not None and src is not None and dst.type != src.type:
        raise TypeError(f"x has elements of {src.type.name.lower()}, and out of {dst.type.name.lower()}")
    count = _count(call, rank, size, (dst, dst_blocks), (src, src_blocks))
    return Made(_args(call, given, root, (dst, dst_blocks), (src, src_blocks), count), src, dst)


def _needed(value: Any, what: str) -> Any:
    if value is None:
        raise invalid(f"{what} is None, and this rank needs it")
    return value


def _blocks(
    call: Call, size: int, given: Given, has_dst: bool, has_src: bool
) -> tuple[_Blocks | None, _Blocks | None]:
    """Returns how the blocks of both buffers lie, where they are uneven."""
    dst = src = None
    if call.src.uneven and has_src:
        src = _Blocks("x", size, given.counts, given.displs)
    if call.dst.uneven and has_dst:
        counts, displs = (given.out_counts, given.out_displs) if call.src.uneven else (given.counts, given.displs)
        dst = _Blocks("out", size, counts, displs)
    return dst, src


def _shape(
    call: Call, rank: int, size: int, src: Buffer, dst_blocks: _Blocks | None, src_blocks: _Blocks | None
) -> tuple[int, ...]:
    """Returns the shape of a result, if the program passes no buffer for it."""
    if dst_blocks is not None:
        return (dst_blocks.extent,)
    if src_blocks is not None:
        return (src_blocks.counts[rank],)
    if call.dst.blocks == call.src.blocks:
        return src.shape
    if call.dst.blocks == EACH:
        return (size, *src.shape)
    if src.shape and src.shape[0] == size:
        return src.shape[1:]
    raise invalid(f"x has the shape {src.shape}: without out, its first axis has to be that of the {size} ranks")


Placed = tuple[Buffer | None, _Blocks | None]


def _count(call: Call, rank: int, size: int, dst: Placed, src: Placed) -> int:
    """Returns how many elements a block has, after checking that both buffers are as long as they have to be."""
    sides = [("x", call.src, *src), ("out", call.dst, *dst)]
    count = None
    for what, shape, buffer, blocks in sides:
        if buffer is None:
            continue
        if blocks is not None:
            if buffer.count < blocks.extent or (blocks.displs is None and buffer.count != blocks.extent):
                raise invalid(f"{what} has {buffer.count} elements, and its blocks {blocks.extent}")
            if "count" not in call.params and not (call.dst.uneven and call.src.uneven):
                count = blocks.counts[rank]
        elif shape.blocks != EACH and count is None:
            count = buffer.count
    for what, shape, buffer, blocks in sides:
        if buffer is None or blocks is not None:
            continue
        if count is None:
            count, odd = divmod(buffer.count, size)
            if odd:
                raise invalid(f"{what} has {buffer.count} elements, want as many for each of {size} ranks")
        want = count * size if shape.blocks == EACH else count
        if buffer.count != want:
            raise invalid(f"{what} has {buffer.count} elements, want {want}")
    return count or 0


def _args(call: Call, given: Given, root: int, dst: Placed, src: Placed, count: int) -> list[Any]:
    """Returns the arguments of the function of the library."""
    some = dst[0] or src[0]
    values: dict[str, Any] = {
        "count": count,
        "type": some.type if some is not None else 0,
        "root": root,
        "op": op_of(given.op) if "op" in call.params else 0,
    }
    for name, (buffer, blocks) in (("dst", dst), ("src", src)):
        values[name] = buffer.address if buffer is not None else None
        values[name + "_counts"] = blocks.counts if blocks is not None else None
        values[name + "_displs"] = blocks.displs if blocks is not None else None
    if src[0] is None and dst[0] is not None and call.in_place.startswith("dst"):
        values["src"] = IN_PLACE
    return [values[p] for p in call.params]


