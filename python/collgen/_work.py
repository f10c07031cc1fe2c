"""Started calls."""

from __future__ import annotations

import ctypes
import itertools
import math
import operator
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _lib
from ._checks import invalid, nanoseconds, seconds
from ._errors import CollgenError, Kind, error_of
from ._signals import watch

if TYPE_CHECKING:
    from ._raw import RawCommunicator

# How long a wait lasts, in seconds, before it is seen whether there was a signal; and while other threads wait for some
# of the works.
SLICE = 0.1
SHARED_SLICE = 0.005


def noted(note: list[Any], f: Callable[..., Any], *args: Any) -> None:
    """Appends what f returns to a list.

    No exception of a signal handler comes in between, if f is not written in Python: handlers run between the
    instructions of Python, and this is one.
    """
    note.extend(map(f, *zip(args)))


_FIRST = ctypes.c_size_t(0)


class _Wait:
    """A wait for some works, by a thread that has their locks. It has what the library said also if it was cut off."""

    __slots__ = ("code", "index", "works")

    def __init__(self, works: Sequence[Work]) -> None:
        self.works = works
        self.index = _FIRST  # of the work that is over
        self.code: list[int] = []


class Work:
    """A started call. The communicator keeps its buffers until the call is over, also if nobody waits for it."""

    __slots__ = ("__weakref__", "_comm", "_error", "_lock", "_number", "_result", "_wait")

    def __init__(self, comm: RawCommunicator, number: int, keep: Any, result: Callable[[], Any] | None) -> None:
        self._comm = comm
        self._number = number  # 0: it is over
        self._result = result
        self._error: CollgenError | None = None
        self._lock = threading.Lock()  # of the thread that waits, or looks
        self._wait: _Wait | None = None  # the last one
        comm._pending[number] = keep

    def __del__(self) -> None:
        if self._number:
            self._comm._dropped.append(self._number)

    def wait(self, timeout: float | None = None) -> Any:
        """Waits until the call is over, and returns its result: what the method that is not started returns.

        It raises the error of the call, or NotOverError, a builtin TimeoutError, after timeout seconds. The call goes
        on then. A wait without a timeout in the main thread that Ctrl-C ends gives the communicator up. After an
        exception of a signal handler, it can be waited for again.
        """
        limit = seconds(timeout)
        end = None if limit is None else time.monotonic() + limit
        locked: list[bool] = []
        try:
            patience = -1 if limit is None else min(max(0.0, limit), threading.TIMEOUT_MAX)
            noted(locked, self._lock.acquire, True, patience)
            if not locked[0] or not self._waited(end):
                raise error_of(Kind.NOT_OVER, "the call is not over")
        finally:
            if locked and locked[0]:
                self._lock.release()
        if self._error is not None:
            raise self._error
        return self._result() if self._result else None

    def test(self) -> bool:
        """Reports whether the call is over, without waiting. Sends and receives that were started begin."""
        return self._looked(lambda: self._asked(_lib.load().collgen_test))

    def peek(self) -> bool:
        """Reports whether the call is over, and changes nothing: no sends and receives begin."""
        return self._looked(lambda: self._comm._is_over(self._number))

    def cancel(self) -> bool:
        """Ends a receive of start_message_recv that no message has matched, and reports whether it has.

        wait raises CanceledError then. No other call can be canceled.
        """
        if self._number == 0:
            return False
        canceled = ctypes.c_int()
        self._comm._check(_lib.load().collgen_cancel(self._number, ctypes.byref(canceled)))
        return bool(canceled.value)

    def result(self, timeout: float | None = None) -> Any:
        """Does what wait does."""
        return self.wait(timeout)

    def _looked(self, look: Callable[[], bool]) -> bool:
        """Reports what look does, unless the call was over before, or another thread waits for it."""
        if self._number == 0:
            return True
        locked: list[bool] = []
        try:
            noted(locked, self._lock.acquire, False)
            return locked[0] and (self._settled() or look())
        finally:
            if locked and locked[0]:
                self._lock.release()

    def _waited(self, end: float | None) -> bool:
        """Waits until a time, and reports whether the call is over."""
        if self._settled():
            return True
        wait = _lib.load().collgen_wait
        in_main = threading.get_ident() == watch.main
        if end is None and (not in_main or watch.start()):
            return self._asked(wait, -1, guarded=in_main)
        while True:
            left = SLICE if end is None else min(SLICE, end - time.monotonic())
            if self._asked(wait, nanoseconds(left)):
                return True
            if end is not None and time.monotonic() >= end:
                return False

    def _asked(self, f: Any, *limit: int, guarded: bool = False) -> bool:
        """Calls a function of the library, which ends the work if it is over, and reports whether it is."""
        self._wait = wait = _Wait((self,))
        if guarded:
            self._comm._guarded(f, self._number, *limit, note=wait.code)
        else:
            noted(wait.code, f, self._number, *limit)
        return self._settled()

    def _settled(self) -> bool:
        """Notes how the call went, once the library has said so. Reports whether it is over."""
        wait = self._wait
        if self._number == 0:
            return True
        if wait is None or not wait.code or wait.code[0] == Kind.NOT_OVER:
            return False
        if wait.index.value >= len(wait.works) or wait.works[wait.index.value] is not self:
            return False
        code = wait.code[0]
        if code:
            error = _lib.last_error()
            if error.kind != code:  # after a wait that was cut off, whose error this thread has no more
                error = error_of(code, f"the call has failed, with the kind of error {code}")
            if self._comm.closed:
                error = error_of(Kind.CLOSED, "its communicator was closed before the call was waited for")
            self._error = error
        self._comm._pending.pop(self._number, None)
        self._number = 0
        self._wait = None
        return True


def wait_any(works: Sequence[Work], timeout: float | None = None) -> int:
    """Waits until one of the works is over, and returns its index: the first that is over, if any is already.

    wait of that work returns at once then, with its result or error. After timeout seconds it raises NotOverError.
    """
    if not works:
        raise invalid("no works")
    limit = seconds(timeout)
    end = None if limit is None else time.monotonic() + limit
    while True:
        left = math.inf if end is None else end - time.monotonic()
        index = _any_over(works, left)
        if index is not None:
            return index
        if left <= 0:
            raise error_of(Kind.NOT_OVER, "none of the calls is over")


def _any_over(works: Sequence[Work], left: float) -> int | None:
    """Waits for a slice of the time that is left, and returns the index of a work that is over; None if none is."""
    distinct = list(dict.fromkeys(works))
    locks, locked = [w._lock for w in distinct], list[bool]()
    try:
        locked.extend(map(operator.methodcaller("acquire", False), locks))
        mine = list(itertools.compress(distinct, locked))
        free = set(mine)
        for i, w in enumerate(works):
            if w._number == 0 or (w in free and w._settled()):
                return i
        if mine:
            slice = SLICE if len(mine) == len(distinct) else SHARED_SLICE
            return _slice(works, mine, min(slice, left))
    finally:
        list(map(operator.methodcaller("release"), itertools.compress(locks, locked)))
    time.sleep(max(0.0, min(SHARED_SLICE, left)))  # until those that wait for all of them have let go
    return None


def _slice(works: Sequence[Work], mine: Sequence[Work], left: float) -> int | None:
    """Waits for those works whose locks this thread has, and returns the index of one that is over."""
    wait = _Wait(mine)
    for w in mine:
        w._wait = wait
    numbers = (ctypes.c_int64 * len(mine))(*(w._number for w in mine))
    wait.index = ctypes.c_size_t(len(mine))
    f = _lib.load().collgen_wait_any
    noted(wait.code, f, numbers, len(mine), nanoseconds(left), ctypes.byref(wait.index))
    if wait.code[0] == Kind.NOT_OVER:
        return None
    if wait.index.value >= len(mine):
        raise _lib.last_error()
    over = mine[wait.index.value]
    over._settled()
    return next(i for i, w in enumerate(works) if w is over)
