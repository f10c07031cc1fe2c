"""Checks of plain arguments: numbers and texts. ctypes would cut them to what the library takes."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

from ._errors import InvalidArgumentError, Kind

# The ranges of the library's numbers.
INT = (-(2**31), 2**31 - 1)
INT64 = (-(2**63), 2**63 - 1)
UINT64 = (0, 2**64 - 1)
LENGTH = (0, 2**62 - 1)


def invalid(text: str) -> InvalidArgumentError:
    """Returns the error of an argument that has a wrong value."""
    return InvalidArgumentError(text, Kind.INVALID_ARGUMENT)


def integer(value: Any, what: str, range: tuple[int, int] = INT) -> int:
    """Returns an argument that is an integer of a range, both ends included."""
    try:
        n = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r:.80}, want an integer") from None
    if not range[0] <= n <= range[1]:
        raise invalid(f"{what} is {n}, want a number from {range[0]} to {range[1]}")
    return n


def rank_of(value: Any, what: str, size: int) -> int:
    """Returns an argument that is a rank."""
    n = integer(value, what, INT64)
    if not 0 <= n < size:
        raise invalid(f"{what} is {n}, want a rank of {size}")
    return n


def integers(values: Any, what: str, range: tuple[int, int] = INT) -> list[int]:
    """Returns an argument that is some integers."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{what} are {values!r:.80}, want integers")
    return [integer(n, f"one of {what}", range) for n in values]


def number(value: Any, what: str) -> float:
    """Returns an argument that is a number, no text of one."""
    try:
        if not isinstance(value, (str, bytes, bytearray)):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise TypeError(f"{what} is {value!r:.80}, want a number")


def text(value: Any, what: str) -> bytes:
    """Returns an argument that is a text, as the library takes it."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is {value!r:.80}, want a str")
    if "\0" in value:
        raise invalid(f"{what} is {value!r:.80}, which has a NUL")
    return value.encode(errors="surrogateescape")


def seconds(timeout: Any) -> float | None:
    """Returns an argument that is a time; None if it is None or infinite, which sets no limit."""
    if timeout is None:
        return None
    try:
        t = number(timeout, "timeout")
    except OverflowError:  # an integer beyond all floats
        return None
    if math.isnan(t):
        raise invalid("timeout is not a number")
    return None if t == math.inf else t


def nanoseconds(timeout: Any, none: int = 0) -> int:
    """Returns a time in seconds as the library has it; none for None. A time of 0 or less is the shortest there is."""
    if timeout is None:
        return none
    t = seconds(timeout)
    return 2**63 - 1 if t is None else int(min(max(1, t * 1e9), 2**63 - 1))
