"""Started calls."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _lib
from ._errors import CollgenError, Kind, error_of
from ._options import nanoseconds
from ._signals import watch

if TYPE_CHECKING:
    from ._raw import RawCommunicator

# How long a wait lasts, in seconds, before it is seen whether there was a signal.
SLICE = 0.1


class Work:
    """A started call. The communicator keeps its buffers until the call is over, also if nobody waits for it."""

    __slots__ = ("__weakref__", "_comm", "_error", "_lock", "_number", "_result")

    def __init__(self, comm: RawCommunicator, number: int, keep: Any, result: Callable[[], Any] | None) -> None:
        self._comm = comm
        self._number = number  # 0: it is over
        self._result = result
        self._error: CollgenError | None = None
        self._lock = threading.Lock()
        comm._pending[number] = keep

    def __del__(self) -> None:
        if self._number:
            self._comm._dropped.append(self._number)

    def wait(self, timeout: float | None = None) -> Any:
        """Waits until the call is over, and returns its result: what the method that is not started returns.

        It raises the error of the call, or NotOverError, a builtin TimeoutError, after timeout seconds. The call goes
        on then. A wait without a timeout in the main thread that Ctrl-C ends gives the communicator up.
        """
        begun = time.monotonic()
        if not self._lock.acquire(timeout=-1 if timeout is None else max(0, timeout)):
            raise error_of(Kind.NOT_OVER, "the call is not over")
        try:
            left = None if timeout is None else timeout - (time.monotonic() - begun)
            if self._number and not self._waited(left):
                raise error_of(Kind.NOT_OVER, "the call is not over")
        finally:
            self._lock.release()
        if self._error is not None:
            raise self._error
        return self._result() if self._result else None

    def test(self) -> bool:
        """Reports whether the call is over, without waiting. Sends and receives that were started begin."""
        if not self._lock.acquire(blocking=False):
            return False  # another thread waits for it
        try:
            return not self._number or self._over(_lib.load().collgen_test(self._number))
        finally:
            self._lock.release()

    def peek(self) -> bool:
        """Reports whether the call is over, and changes nothing: no sends and receives begin."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            return not self._number or self._comm._is_over(self._number)
        finally:
            self._lock.release()

    def result(self, timeout: float | None = None) -> Any:
        """Does what wait does."""
        return self.wait(timeout)

    def _waited(self, timeout: float | None) -> bool:
        """Waits, and reports whether the call is over."""
        wait, number = _lib.load().collgen_wait, self._number
        in_main = threading.get_ident() == watch.main
        if timeout is None and (not in_main or watch.start()):
            return self._over(self._comm._guarded(wait, number, -1) if in_main else wait(number, -1))
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = SLICE if end is None else min(SLICE, end - time.monotonic())
            if self._over(wait(number, nanoseconds(left))):
                return True
            if end is not None and time.monotonic() >= end:
                return False

    def _over(self, code: int) -> bool:
        """Notes how the call went, unless code says that it is not over."""
        if code == Kind.NOT_OVER:
            return False
        if code:
            self._error = _lib.last_error()
            if self._comm.closed:
                self._error = error_of(Kind.CLOSED, "its communicator was closed before the call was waited for")
        self._comm._pending.pop(self._number, None)
        self._number = 0
        return True


def wait_any(works: Sequence[Work], timeout: float | None = None) -> int:
    """Waits until one of the works is over, and returns its index: the first that is over, if any is already.

    wait of that work returns at once then, with its result or error. After timeout seconds it raises NotOverError.
    """
    if not works:
        raise ValueError("no works")
    end = None if timeout is None else time.monotonic() + timeout
    wait = _lib.load().collgen_wait_any
    while True:
        for i, w in enumerate(works):
            if w._number == 0:
                return i
        numbers = (ctypes.c_int64 * len(works))(*(w._number for w in works))
        index = ctypes.c_size_t()
        left = SLICE if end is None else min(SLICE, end - time.monotonic())
        code = wait(numbers, len(works), nanoseconds(left), ctypes.byref(index))
        if code != Kind.NOT_OVER:
            if index.value >= len(works):
                raise _lib.last_error()
            works[index.value]._over(code)
            return index.value
        if end is not None and time.monotonic() >= end:
            raise error_of(Kind.NOT_OVER, "none of the calls is over")
