"""Communicators as the C library has them: calls by addresses."""

from __future__ import annotations

import atexit
import ctypes
import json
import logging
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeVar

from . import _lib
from ._calls import CALLS, Op
from ._checks import INT64, UINT64, integer, integers, nanoseconds, text
from ._errors import CollgenError, ForkedError, Kind, error_of
from ._failed import about, failures_of
from ._make import op_of
from ._options import Options
from ._signals import watch
from ._work import Work, noted

Self = TypeVar("Self", bound="RawCommunicator")

# The communicators that are not closed, in the order in which they were made.
_open: dict[int, RawCommunicator] = {}


class RawCommunicator:
    """A communicator whose calls take addresses. rank and size do not change."""

    def __init__(self, handle: int, log: Callable[[int, str], None] | None = None) -> None:
        """Wraps a communicator of the C library, which belongs to the object from now on.

        log is where warnings go; None: to the standard error.
        """
        lib = _lib.load()
        number = ctypes.c_int()
        _lib.check(lib.collgen_rank(handle, ctypes.byref(number)))
        self.rank: int = number.value
        _lib.check(lib.collgen_size(handle, ctypes.byref(number)))
        self.size: int = number.value
        self.handle = handle
        self.closed = False
        self._log = log
        self._aborted = False  # by this program
        self._pending: dict[int, Any] = {}  # what started calls use, by their number
        self._starting: dict[int, Any] = {}
        self._dropped: deque[int] = deque()  # the numbers of started calls for which nobody will wait
        self._memory: dict[int, int] = {}  # what alloc has returned: bytes, by address
        names = {name: c.function for name, c in CALLS.items()} | {name: f for name, (f, _) in _lib.PAIRS.items()}
        self._functions = {name: getattr(lib, f) for name, f in names.items()}
        _open[handle] = self

    def __repr__(self) -> str:
        state = ", closed" if self.closed else ""
        return f"<{type(self).__name__}: rank {self.rank} of {self.size}{state}>"

    def call(self, name: str, *args: Any, options: Options | None = None) -> None:
        """Makes a call. args are those that CALLS and PAIRS have: buffers are addresses, counts arrays of int64."""
        function, address = self._functions[name], options.address if options is not None else None
        if threading.get_ident() != watch.main:
            code = function(self.handle, *args, address, None)
        elif watch.active or watch.start():
            code = self._guarded(function, self.handle, *args, address, None)
        else:
            self.start(name, *args, options=options).wait()
            return
        if code:
            raise self._error()

    def start(
        self,
        name: str,
        *args: Any,
        options: Options | None = None,
        keep: Any = None,
        result: Callable[[], Any] | None = None,
    ) -> Work:
        """Starts a call with the arguments of call. keep is kept until the call is over; wait returns result()."""
        if self._dropped:
            self._forget()
        number = ctypes.c_int64()
        self._starting[id(number)] = number, keep  # until a work has them: a KeyboardInterrupt may come first
        address = options.address if options is not None else None
        code = self._functions[name](self.handle, *args, address, ctypes.byref(number))
        work = Work(self, number.value, keep, result) if code == 0 else None
        del self._starting[id(number)]
        if work is None:
            raise self._error()
        return work

    def _error(self) -> CollgenError:
        """Returns the last error of a function in this thread, which was about this communicator."""
        return error_of(Kind.CLOSED, "the communicator is closed") if self.closed else _lib.last_error()

    def _check(self, code: int) -> None:
        """Raises the error of a function that was about this communicator."""
        if code:
            raise self._error()

    def abort(self) -> None:
        """Gives the communicator up, on all ranks, which ends the calls on it. It has to be closed all the same."""
        self._aborted = True
        self._check(_lib.load().collgen_abort(self.handle))

    def close(self) -> None:
        """Leaves the communicator, and waits for started calls as long as they make progress.

        The second close does nothing. Memory of alloc is gone after it, and works cannot be waited for any more: if a
        call fails meanwhile, a warning says so. Ctrl-C in the main thread ends the wait, and gives the communicator up.
        """
        if self.closed:
            return
        self.closed = True
        _open.pop(self.handle, None)
        close = _lib.load().collgen_close
        failed = failures_of(list(self._pending))
        try:
            if threading.get_ident() == watch.main and watch.start():
                code = self._guarded(close, self.handle)
            else:
                code = close(self.handle)
        finally:
            self._pending.clear()
            self._starting.clear()
            self._dropped.clear()
        if failed and not self._aborted:
            self._warn(about(failed))
        _lib.check(code)

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, at: TracebackType | None) -> None:
        if e is None:
            self.close()
        else:
            give_up(self)

    def topology(self) -> dict[str, Any]:
        """Returns on which hosts ranks are, and how this one reaches them.

        {"hosts": [[0, 1]], "links": ["self", "shm"], "transport": "shm"}
        """
        told: dict[str, Any] = json.loads(self._text(_lib.load().collgen_topology))
        return told

    def explain(self, collective: str, bytes: int, op: str | Op | None = None) -> str:
        """Returns which algorithm a call gets whose blocks have so many bytes, and why."""
        number, n = 0 if op is None else op_of(op), integer(bytes, "bytes", INT64)
        primitive = CALLS[collective].primitive if collective in CALLS else collective
        return self._text(_lib.load().collgen_explain, text(primitive, "collective"), n, number)

    def trace(self) -> list[dict[str, Any]]:
        """Returns the last calls of this process."""
        return [json.loads(line) for line in self._text(_lib.load().collgen_trace).splitlines()]

    def invite(self, timeout: float | None = None) -> str:
        """Returns a ticket with which one process can join, while all ranks call grow."""
        return self._text(_lib.load().collgen_invite, nanoseconds(timeout))

    def health(self, timeout: float | None = None) -> str:
        """Returns what each rank does now, a line for each. One rank calls it, while calls hang or not.

        Timeout None means 5 s.
        """
        return self._text(_lib.load().collgen_health, nanoseconds(timeout))

    def revoke(self) -> None:
        """Gives the communicator up on all ranks, which ends the calls on it. agree and shrink work on it."""
        self._check(_lib.load().collgen_revoke(self.handle))

    def agree(self, flags: int = 1, timeout: float | None = None) -> int:
        """Returns the AND of the flags of all ranks that have not failed, which all call it, also after failures.

        If some have failed, it raises their error on all ranks, whose attribute flags has the result.
        """
        agreed, own = ctypes.c_uint64(), integer(flags, "flags", UINT64)
        try:
            self._checked(_lib.load().collgen_agree, own, nanoseconds(timeout), ctypes.byref(agreed))
        except CollgenError as e:
            e.flags = agreed.value
            raise
        return agreed.value

    def monitored_barrier(self, timeout: float | None = None) -> None:
        """Returns when all ranks have called it.

        If the timeout is over before, TimeoutError says which have not, and in which call each of them is. The
        communicator is as before.
        """
        self._checked(_lib.load().collgen_monitored_barrier, nanoseconds(timeout))

    def split(self: Self, color: int, key: int = 0, timeout: float | None = None) -> Self | None:
        """Makes a communicator of the ranks with the same color, by key; None where color is negative. All call it.

        Both are numbers of 32 bits.
        """
        numbers = integer(color, "color"), integer(key, "key")
        return self._made(_lib.load().collgen_split, *numbers, nanoseconds(timeout))

    def group(self: Self, ranks: Sequence[int], timeout: float | None = None) -> Self:
        """Makes a communicator of the given ranks, which alone call it."""
        some = integers(ranks, "ranks")
        numbers = (ctypes.c_int * max(1, len(some)))(*some)
        return self._sure(self._made(_lib.load().collgen_group, numbers, len(some), nanoseconds(timeout)))

    def shrink(self: Self, timeout: float | None = None) -> Self:
        """Makes a communicator of the ranks that are left after a failure. They all call it."""
        return self._sure(self._made(_lib.load().collgen_shrink, nanoseconds(timeout)))

    def grow(self: Self, timeout: float | None = None) -> Self:
        """Makes a communicator of all ranks, which all call it, and the processes that were invited."""
        return self._sure(self._made(_lib.load().collgen_grow, nanoseconds(timeout)))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """What is started inside begins at the end, sends and receives together."""
        lib = _lib.load()
        self._check(lib.collgen_batch_begin(self.handle))
        try:
            yield
        finally:
            self._check(lib.collgen_batch_end(self.handle))

    def _alloc(self, bytes: int, timeout: float | None) -> int:
        """Returns the address of so many bytes that the ranks of a host read directly. All ranks call it."""
        memory = ctypes.c_void_p()
        self._checked(_lib.load().collgen_alloc, bytes, nanoseconds(timeout), ctypes.byref(memory))
        return memory.value or 0

    def _made(self: Self, function: Any, *args: Any) -> Self | None:
        handle = ctypes.c_int64()
        self._checked(function, *args, ctypes.byref(handle))
        return type(self)(handle.value, self._log) if handle.value else None

    def _sure(self: Self, made: Self | None) -> Self:
        if made is None:
            raise RuntimeError("the library has returned no communicator")
        return made

    def _checked(self, function: Any, *args: Any) -> None:
        """Calls a function of this communicator that waits for others."""
        if threading.get_ident() == watch.main and watch.start():
            self._check(self._guarded(function, self.handle, *args))
        else:
            self._check(function(self.handle, *args))

    def _guarded(self, function: Any, *args: Any, note: list[int] | None = None) -> int:
        """Calls a function in the main thread, so that Ctrl-C aborts the communicator.

        What it returns is in note also if an exception comes then.
        """
        watch.serial += 1
        try:
            watch.handle = self.handle
            if note is None:
                code: int = function(*args)
            else:
                noted(note, function, *args)
                code = note[0]
        finally:
            watch.handle = 0
        return code

    def _text(self, function: Any, *args: Any) -> str:
        """Returns the text that a function writes."""
        length, room = ctypes.c_size_t(), 4096
        while True:
            text = ctypes.create_string_buffer(room)
            code = function(self.handle, *args, text, room, ctypes.byref(length))
            if code != Kind.INVALID_ARGUMENT or length.value < room:
                self._check(code)
                return text.value.decode(errors="replace")
            room = length.value + 1

    def _is_over(self, number: int) -> bool:
        """Reports whether a started call is over."""
        over = ctypes.c_int()
        code = _lib.load().collgen_peek(number, ctypes.byref(over))
        return code != 0 or over.value != 0

    def _forget(self) -> None:
        """Lets go of dropped calls that are over."""
        lib, over = _lib.load(), ctypes.c_int()
        for _ in range(len(self._dropped)):
            try:
                number = self._dropped.popleft()
            except IndexError:  # other threads let go of them, too
                return
            known = lib.collgen_peek(number, ctypes.byref(over)) == 0
            if known and not over.value:
                self._dropped.append(number)
                continue
            if known and lib.collgen_test(number) not in (0, Kind.CANCELED):  # the program itself has canceled it
                self._warn(f"a started call has failed, and nobody waits for it: {_lib.last_error()}")
            self._pending.pop(number, None)

    def _warn(self, text: str) -> None:
        """Writes a warning into the log of the job."""
        if self._log is None:
            print(f"collgen: {text}", file=sys.stderr)
        else:
            self._log(logging.WARNING, text)


def give_up(comm: RawCommunicator) -> None:
    """Leaves a communicator whose program has failed."""
    try:
        comm.abort()
    except CollgenError:
        pass
    try:
        comm.close()
    except Exception:
        pass  # there is an error already


def open_communicators() -> list[RawCommunicator]:
    """Returns the communicators of this process that are not closed."""
    return list(_open.values())


@atexit.register
def _close_all() -> None:
    """Leaves all communicators, those first that were made last; gives them up after an error that ends the program."""
    failed = getattr(sys, "last_value", None) is not None and not hasattr(sys, "ps1")
    for comm in reversed(open_communicators()):
        if failed:
            give_up(comm)
            continue
        try:
            comm.close()
        except ForkedError:
            return  # it is the parent that leaves them
        except Exception as e:
            print(f"collgen: at exit: {e}", file=sys.stderr)
