"""The options of a call."""

from __future__ import annotations

import ctypes
from typing import TypedDict

from ._checks import integer, nanoseconds, number, text
from ._lib import RawOptions


class Options:
    """Options of a call, to be used for any number of calls. All ranks pass the same, but for timeout and factor.

    timeout: seconds after which the call fails, and with it the communicator; None: never.
    algorithm: its name, such as "ring", in place of the one that the table gives.
    label: what the call is for, which ranks compare: 1 to 256 printable ASCII characters.
    depth: into how many pieces a pipelined algorithm cuts.
    reproducible: whether a sum of floats depends on the operands alone.
    factor: by which this rank's operands are multiplied before they are added.
    """

    __slots__ = ("_factor", "_raw", "address")

    def __init__(
        self,
        *,
        timeout: float | None = None,
        algorithm: str | None = None,
        label: str | None = None,
        depth: int = 0,
        reproducible: bool = False,
        factor: float | None = None,
    ) -> None:
        self._factor = None if factor is None else ctypes.c_double(number(factor, "factor"))
        self._raw = RawOptions(
            ctypes.sizeof(RawOptions),
            nanoseconds(timeout),
            None if algorithm is None else text(algorithm, "algorithm"),
            None if label is None else text(label, "label"),
            integer(depth, "depth"),
            bool(reproducible),
            None if self._factor is None else ctypes.pointer(self._factor),
        )
        self.address = ctypes.addressof(self._raw)


class CallOptions(TypedDict, total=False):
    """The options of a call as keywords, or the same in an Options."""

    timeout: float | None
    algorithm: str | None
    label: str | None
    depth: int
    reproducible: bool
    factor: float | None
    options: Options | None


def options_of(given: CallOptions, method: str) -> Options | None:
    """Returns the options of a method that are given as keywords; None if there are none."""
    if not given:
        return None
    unknown = [name for name in given if name not in CallOptions.__annotations__]
    if unknown:
        known = ", ".join(CallOptions.__annotations__)
        raise TypeError(f"{method}() got the unknown arguments {', '.join(unknown)}: its options are {known}")
    some = given.pop("options", None)
    if some is None:
        return Options(**given)  # type: ignore[misc]
    if given:
        raise TypeError(f"options are given, and {', '.join(given)}")
    if not isinstance(some, Options):
        raise TypeError(f"options are of {type(some)}, want collgen.Options")
    return some
