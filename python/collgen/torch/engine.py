"""A communicator of the library's, the calls on it, and what they need to be kept."""

from __future__ import annotations

import atexit
import ctypes
import itertools
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from threading import get_ident
from typing import Any

from .._lib import Notify
from .._signals import watch
from .errors import failure
from .library import NOT_OVER, lib, options

# How long destroy_process_group waits for calls that nobody has waited for.
GRACE = 5.0


def nanoseconds(t: timedelta) -> int:
    """Returns t in nanoseconds."""
    return ((t.days * 86400 + t.seconds) * 1_000_000 + t.microseconds) * 1000


def guarded(comm: int, f: Any, *args: Any) -> int:
    """Calls a function that may wait for others. Ctrl-C aborts the communicator while the main thread is in it."""
    if get_ident() != watch.main:
        return f(*args)
    watch.serial += 1
    watch.handle = comm
    try:
        return f(*args)
    finally:
        watch.handle = 0


class Call:
    """A call that was started. It keeps its tensors until it is over, whoever has dropped its Work."""

    __slots__ = ("engine", "error", "fill", "keep", "lock", "number", "over", "then")

    def __init__(self, engine: Engine, number: int, keep: Any, fill: Callable[[], None] | None) -> None:
        self.engine = engine
        self.number = number
        self.keep = keep
        self.fill = fill
        self.lock = threading.Lock()
        self.over = False
        self.error: Exception | None = None
        self.then: list[Callable[[], None]] = []

    def poll(self) -> bool:
        """Returns whether the call is over. It does not wait."""
        if not self.over and self.lock.acquire(False):
            try:
                self._look(lib.collgen_test)
            finally:
                self.lock.release()
        return self.over

    def wait(self, limit: int) -> bool:
        """Waits for the call, at most for so many nanoseconds, and returns whether it is over; below 0: no limit."""
        if not self.over and self.lock.acquire(timeout=-1 if limit < 0 else limit / 1e9):
            try:
                self._look(lib.collgen_wait, limit)
            finally:
                self.lock.release()
        return self.over

    def _look(self, f: Any, *limit: int) -> None:
        if self.over:
            return
        kind = guarded(self.engine.comm, f, self.number, *limit)
        if kind != NOT_OVER:
            self._end(self.engine.failure(kind) if kind else None)

    def end(self, error: Exception | None) -> None:
        """Ends a call whose communicator was closed."""
        with self.lock:
            if not self.over:
                self._end(error)

    def _end(self, error: Exception | None) -> None:
        if error is None and self.fill is not None:
            try:
                self.fill()
            except Exception as err:  # whoever waits for the call gets it
                error = err
        self.error = error
        self.keep = self.fill = None
        self.over = True

    def notify(self, f: Callable[[], None]) -> None:
        """Has f called once when the call is over, perhaps by another thread, or at once."""
        key = next(_keys)
        _notified[key] = self, f
        if self.over or lib.collgen_notify(self.number, _notify, key):
            _notify(key, 0)


# What is to be called when calls are over, by a number.
_notified: dict[int, tuple[Call, Callable[[], None]]] = {}
_keys = itertools.count(1)


@Notify
def _notify(key: int, _kind: int) -> None:
    found = _notified.pop(key, None)
    if found is not None:
        call, f = found
        call.wait(-1)  # it is over
        f()


class Engine:
    """A communicator."""

    def __init__(self, comm: int, rank: int, size: int, timeout: timedelta) -> None:
        self.comm, self.rank, self.size = comm, rank, size
        self.lock = threading.Lock()  # one call at a time that is not started, or is being started
        self.sequence = 0
        self.monitored = 0  # how many monitored barriers there were
        self.closed = False
        self.pending: deque[Call] = deque()  # collectives, which are over in this order
        self.posted: deque[Call] = deque()
        self.set_timeout(timeout)
        _open.add(self)

    def part(self, ranks: list[int], timeout: timedelta) -> Engine:
        """Returns the engine of a group of some ranks, which call it."""
        made = ctypes.c_int64()
        numbers = (ctypes.c_int * len(ranks))(*ranks)
        with self.lock:
            kind = guarded(
                self.comm,
                lib.collgen_group,
                self.comm,
                numbers,
                len(ranks),
                nanoseconds(timeout),
                ctypes.addressof(made),
            )
        if kind:
            raise self.failure(kind)
        return Engine(made.value, ranks.index(self.rank), len(ranks), timeout)

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets the timeout of calls that have none of their own."""
        self.timeout = timeout
        self.options = options(nanoseconds(timeout))
        self.limit = ctypes.addressof(self.options)

    def options_of(self, timeout: timedelta, factor: float | None = None) -> tuple[int, Any]:
        """Returns where the options of a call are, and what has to be kept until it has begun."""
        if factor is None and timeout.days < 0:
            return self.limit, None
        o = options(nanoseconds(self.timeout if timeout.days < 0 else timeout), factor)
        return ctypes.addressof(o), o

    def do(self, f: Any, *args: Any) -> None:
        """Makes a call. The last argument is where its options are."""
        self.sequence += 1
        if self.pending:
            self.reap()
        with self.lock:
            kind = guarded(self.comm, f, self.comm, *args, None)
        if kind:
            raise self.failure(kind)

    def start(self, keep: Any, fill: Callable[[], None] | None, f: Any, *args: Any) -> Call:
        """Starts a call, and keeps keep until it is over. Fill is called then, unless it has failed."""
        self.sequence += 1
        self.reap()
        with self.lock:
            return self._started(self.pending, keep, fill, f, *args)

    def post(self, keep: Any, fill: Callable[[], None] | None, f: Any, *args: Any) -> Call:
        """Starts to send or receive a message, which others need not wait for."""
        for _ in range(len(self.posted)):
            self._reap_posted()
        return self._started(self.posted, keep, fill, f, *args)

    def _started(self, calls: deque[Call], keep: Any, fill: Callable[[], None] | None, f: Any, *args: Any) -> Call:
        number = ctypes.c_int64()
        kind = f(self.comm, *args, ctypes.addressof(number))
        if kind:
            raise self.failure(kind)
        call = Call(self, number.value, keep, fill)
        calls.append(call)
        return call

    def _reap_posted(self) -> None:
        """Lets go of a message that is over. They are over in any order."""
        try:
            call = self.posted.popleft()
        except IndexError:  # another thread has
            return
        if not call.poll():
            self.posted.append(call)

    def reap(self) -> None:
        """Lets go of what calls have kept that are over."""
        while self.pending and self.pending[0].poll():
            try:
                self.pending.popleft()
            except IndexError:  # another thread has
                return

    def failure(self, kind: int) -> Exception:
        """Returns the exception for an error that the library has just returned."""
        return failure(kind)

    def wait_pending(self, seconds: float) -> None:
        """Waits a while for calls that were started."""
        until = time.monotonic() + seconds
        for calls in (self.pending, self.posted):
            while calls and calls[0].wait(max(0, int((until - time.monotonic()) * 1e9))):
                calls.popleft()

    def abort(self) -> None:
        """Gives the communicator up, on all ranks."""
        if not self.closed:
            lib.collgen_abort(self.comm)

    def close(self) -> None:
        """Leaves the communicator, and ends the calls on it."""
        if self.closed:
            return
        self.closed = True
        _open.discard(self)
        kind = lib.collgen_close(self.comm)
        error = self.failure(kind) if kind else RuntimeError("collgen: the process group was destroyed")
        for calls in (self.pending, self.posted):
            while calls:
                calls.popleft().end(error)


_open: weakref.WeakSet[Engine] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Has the other ranks know at once that this one is gone, and no thread of the library's call Python any more."""
    failed = getattr(sys, "last_value", None) is not None and not hasattr(sys, "ps1")
    for engine in list(_open):
        if failed:  # others may wait for calls of this one
            engine.abort()
        engine.close()
