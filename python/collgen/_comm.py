"""Communicators."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import _lib
from ._buffers import Buffer, buffer_of, type_of
from ._calls import BYTES, CALLS, Type
from ._checks import LENGTH, integer, integers, invalid, rank_of
from ._collectives import Collectives
from ._make import Given, make, passes
from ._messages import Messages
from ._objects import Objects
from ._options import CallOptions, options_of
from ._quick import quick
from ._work import Work

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Communicator(Collectives, Objects, Messages):
    """Ranks that make calls together; init makes the first one. Collectives has what methods take and raise.

    A communicator is closed by close, by the end of a with statement, or when the process exits. A with statement that
    ends by an exception gives the communicator up first, so that other ranks do not wait.

    One thread at a time may be in a call that is not started. Ctrl-C in the main thread ends the call that it is in, by
    KeyboardInterrupt, and gives the communicator up. Python calls other handlers of signals, and those of your own for
    SIGINT, when the call is over.
    """

    def send(self, x: Any, dest: int, *, dtype: Any = None, **options: Unpack[CallOptions]) -> None:
        """Sends x to a rank, which receives as many elements of the same type."""
        b, to = buffer_of(x, "x", dtype), rank_of(dest, "dest", self.size)
        self.call("send", b.address, b.count, b.type, to, options=options_of(options, "send"))

    def start_send(self, x: Any, dest: int, *, dtype: Any = None, **options: Unpack[CallOptions]) -> Work:
        """Starts send."""
        b, to = buffer_of(x, "x", dtype), rank_of(dest, "dest", self.size)
        some = options_of(options, "start_send")
        return self.start("send", b.address, b.count, b.type, to, options=some, keep=b)

    def recv(self, out: Any, source: int, *, dtype: Any = None, **options: Unpack[CallOptions]) -> Any:
        """Receives from a rank, which sends as many elements as out has, and returns out."""
        b, of = buffer_of(out, "out", dtype, True), rank_of(source, "source", self.size)
        self.call("recv", b.address, b.count, b.type, of, options=options_of(options, "recv"))
        return out

    def start_recv(self, out: Any, source: int, *, dtype: Any = None, **options: Unpack[CallOptions]) -> Work:
        """Starts recv."""
        b, of = buffer_of(out, "out", dtype, True), rank_of(source, "source", self.size)
        some = options_of(options, "start_recv")
        return self.start("recv", b.address, b.count, b.type, of, options=some, keep=b, result=b.result)

    def sendrecv(
        self, x: Any, dest: int, source: int, out: Any = None, *, dtype: Any = None, **options: Unpack[CallOptions]
    ) -> Any:
        """Sends x to one rank while it receives from another one, and returns what it received.

        out: where that goes: a writable buffer with as many elements as source sends; it may be x. None: a new one
        like x.
        """
        args, dst, _ = _pair(self.size, x, dest, source, out, dtype)
        self.call("sendrecv", *args, options=options_of(options, "sendrecv"))
        return dst.result()

    def start_sendrecv(
        self, x: Any, dest: int, source: int, out: Any = None, *, dtype: Any = None, **options: Unpack[CallOptions]
    ) -> Work:
        """Starts sendrecv."""
        args, dst, src = _pair(self.size, x, dest, source, out, dtype)
        some = options_of(options, "start_sendrecv")
        return self.start("sendrecv", *args, options=some, keep=(src, dst), result=dst.result)

    def alloc(self, shape: int | Sequence[int], dtype: Any = "float64", timeout: float | None = None) -> Any:
        """Returns an array of zeros that the ranks of a host read directly. All ranks call it.

        It is a NumPy array, or a flat memoryview without NumPy. Nothing may touch it after free, or after close of the
        communicator: its memory is gone then.
        """
        kind = type_of(dtype)
        axes = tuple(integers(shape if isinstance(shape, Iterable) else [shape], "the axes of shape", LENGTH))
        size = integer(math.prod(axes) * BYTES[kind], "the number of bytes", LENGTH)
        address = self._alloc(size, timeout)
        memory = (ctypes.c_char * size).from_address(address)
        self._memory[address] = size
        try:
            import numpy
        except ImportError:
            return memoryview(memory).cast("B")
        of = _numpy_of(kind) if isinstance(dtype, (str, Type)) else numpy.dtype(dtype)
        return numpy.frombuffer(memoryview(memory), numpy.uint8).view(of).reshape(axes)

    def free(self, array: Any) -> None:
        """Frees an array of alloc. All ranks call it."""
        address = buffer_of(array, "array").address
        if address not in self._memory:
            raise invalid("the array is none of alloc")
        self._checked(_lib.load().collgen_free, address)
        del self._memory[address]

    def _call(self, name: str, given: Given, options: CallOptions) -> Any:
        some = quick(name, self.size, given)
        if some is not None:
            self.call(name, *some[0], options=options_of(options, name) if options else None)
            return some[1]
        chosen = options_of(options, name)
        given = self._with_counts(name, given)
        made = make(name, self.rank, self.size, given)
        self.call(name, *made.args, options=chosen)
        return made.result()

    def _start(self, name: str, given: Given, options: CallOptions) -> Work:
        chosen = options_of(options, "start_" + name) if options else None
        some = quick(name, self.size, given)
        if some is not None:
            args, out = some
            return self.start(name, *args, options=chosen, keep=(given.x, out), result=lambda: out)
        made = make(name, self.rank, self.size, given)
        return self.start(name, *made.args, options=chosen, keep=made, result=made.result)

    def _with_counts(self, name: str, given: Given) -> Given:
        """Returns what is given, with counts that the ranks tell each other."""
        call = CALLS[name]
        if not call.dst.uneven or given.x is None:
            return given
        if call.src.uneven:
            if given.out_counts is None and given.counts is not None:
                return given._replace(out_counts=self._told("alltoall", given.counts, 0))
            return given
        if given.counts is not None:
            return given
        own = buffer_of(given.x, "x", given.dtype).count
        if call.dst.on == "all":
            return given._replace(counts=self._told("allgather", [own], 0))
        counts = self._told("gather", [own], given.root)
        return given._replace(counts=counts) if passes(call.dst, self.rank, given.root) else given

    def _told(self, name: str, counts: Sequence[int], root: int) -> list[int]:
        """Returns numbers of all ranks."""
        checked = integers(counts, "the counts of x", LENGTH)
        numbers = (ctypes.c_int64 * len(checked))(*checked)
        told = (ctypes.c_int64 * self.size)()
        made = make(name, self.rank, self.size, Given(x=numbers, out=told, root=root))
        self.call(name, *made.args)
        return list(told)


def _numpy_of(kind: Any) -> Any:
    """Returns the dtype of NumPy, or of ml_dtypes, for a type of elements."""
    import numpy

    name = {"float8e4m3": "float8_e4m3fn", "float8e5m2": "float8_e5m2"}.get(kind.name.lower(), kind.name.lower())
    if hasattr(numpy, name) or name == "bool":
        return numpy.dtype(name)
    ml_dtypes = sys.modules.get("ml_dtypes")
    if ml_dtypes is None:
        return numpy.dtype(f"uint{8 * BYTES[kind]}")
    return numpy.dtype(getattr(ml_dtypes, name))


def _pair(
    size: int, x: Any, dest: int, source: int, out: Any, dtype: Any
) -> tuple[tuple[Any, ...], Buffer, Buffer]:
    """Returns the arguments of a sendrecv, and its buffers."""
    src = buffer_of(x, "x", dtype)
    dst = src.make(src.shape) if out is None else buffer_of(out, "out", dtype, True)
    if dst.type != src.type:
        raise TypeError(f"x has elements of {src.type.name.lower()}, and out of {dst.type.name.lower()}")
    sent = _lib.IN_PLACE if src.address == dst.address and src.count else src.address
    to, of = rank_of(dest, "dest", size), rank_of(source, "source", size)
    return (sent, src.count, to, dst.address, dst.count, of, src.type), dst, src
