"""The C library as the backend calls it: by numbers and addresses alone. Importing this module loads it."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import _lib
from .._errors import CollgenError, Kind

lib = _lib.load()

IN_PLACE = ctypes.c_void_p(_lib.IN_PLACE).value

NOT_OVER = int(Kind.NOT_OVER)

Options = _lib.RawOptions


def last_error() -> CollgenError:
    """Returns the last error of a function in this thread."""
    return _lib.last_error()


def options(nanoseconds: int, factor: float | None = None) -> Any:
    """Returns the options of a call."""
    made = Options(size=ctypes.sizeof(Options), timeout=max(nanoseconds, 1))
    if factor is not None:
        made.factor = ctypes.pointer(ctypes.c_double(factor))
    return made
