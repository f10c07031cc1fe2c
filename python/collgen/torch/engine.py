"""A communicator of the library's, the calls on it, and what they need to be kept."""

from __future__ import annotations

import atexit
import ctypes
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from threading import get_ident
from typing import Any

import torch.distributed as dist

from .._errors import Kind
from .._signals import watch
from .._work import noted
from .capi import NOT_OVER, lib, options
from .completions import when_over
from .errors import failure, known

# How long destroy_process_group waits for calls that nobody has waited for.
GRACE = 5.0

# Starting a message looks at so many of the outstanding ones, in turn, and lets go of those that are over.
LOOKED_AT = 8


def nanoseconds(t: timedelta) -> int:
    """Returns t in nanoseconds."""
    return ((t.days * 86400 + t.seconds) * 1_000_000 + t.microseconds) * 1000


def guarded(comm: int, f: Any, *args: Any) -> int:
    """Calls a function that may wait for others. Ctrl-C aborts the communicator while the main thread is in it."""
    if get_ident() != watch.main:
        return f(*args)
    watch.serial += 1
    try:
        watch.handle = comm
        return f(*args)
    finally:
        watch.handle = 0


class Call:
    """A call that was started. It keeps its tensors until it is over, whoever has dropped its Work."""

    __slots__ = ("codes", "engine", "error", "fill", "keep", "lock", "over", "started")

    def __init__(self, engine: Engine, keep: Any, fill: Callable[[], None] | None) -> None:
        self.engine = engine
        self.started = ctypes.c_int64()  # where the library writes its number
        self.keep = keep
        self.fill = fill
        self.lock = threading.Lock()
        self.codes: list[int] = []  # what the library has said last, noted before a signal's handler can come
        self.over = False
        self.error: Exception | None = None

    def poll(self) -> bool:
        """Returns whether the call is over. It does not wait."""
        return self._locked(False, -1, lib.collgen_test)

    def wait(self, limit: int) -> bool:
        """Waits for the call, at most for so many nanoseconds, and returns whether it is over; below 0: no limit."""
        return self._locked(True, -1 if limit < 0 else limit / 1e9, lib.collgen_wait, limit)

    def _locked(self, blocking: bool, patience: float, f: Any, *limit: int) -> bool:
        """Asks how the call is, with its lock, which no exception of a signal's handler leaves locked."""
        if self.over:
            return True
        locked: list[bool] = []
        try:
            noted(locked, self.lock.acquire, blocking, patience)
            if locked[0]:
                self._look(f, *limit)
        finally:
            if locked and locked[0]:
                self.lock.release()
        return self.over

    def _look(self, f: Any, *limit: int) -> None:
        if self.over:
            return
        codes = self.codes
        if not codes or codes[0] == NOT_OVER:
            codes.clear()
            if limit and get_ident() == watch.main:
                guarded(self.engine.comm, noted, codes, f, self.started.value, *limit)
            else:
                noted(codes, f, self.started.value, *limit)
        if codes[0] != NOT_OVER:
            self._end(self.engine.failure(codes[0]) if codes[0] else None)

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
        """Has f called once when the call is over: at once, or by a thread that may wait for other calls meanwhile."""

        def job() -> None:
            self.wait(-1)  # it is over
            f()

        if self.over or not when_over(self.started.value, job):
            job()


class Engine:
    """A communicator."""

    def __init__(self, comm: int, rank: int, ranks: list[int], timeout: timedelta) -> None:
        self.comm, self.rank, self.size = comm, rank, len(ranks)
        self.ranks = ranks  # of the job, as torch's default group numbers them
        self.lock = threading.Lock()  # one call at a time that is not started, or is being started
        self.sequence = 0
        self.monitored = 0  # how many monitored barriers there were
        self.closed = False
        self.pending: deque[Call] = deque()  # collectives, which are over in this order
        self.posted: deque[Call] = deque()
        self.starting: dict[int, Call] = {}
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
        return Engine(made.value, ranks.index(self.rank), [self.ranks[rank] for rank in ranks], timeout)

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
        for _ in range(min(len(self.posted), LOOKED_AT)):
            self._reap_posted()
        return self._started(self.posted, keep, fill, f, *args)

    def _started(self, calls: deque[Call], keep: Any, fill: Callable[[], None] | None, f: Any, *args: Any) -> Call:
        call = Call(self, keep, fill)
        self.starting[id(call)] = call  # until calls has it: an exception of a signal's handler may come first
        kind = f(self.comm, *args, ctypes.addressof(call.started))
        if kind == 0:
            calls.append(call)
        del self.starting[id(call)]
        if kind:
            raise self.failure(kind)
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
        if self.closed:
            return known(dist.DistBackendError("collgen: the process group was destroyed"), Kind.CLOSED)
        return failure(kind, self.ranks)

    def wait_pending(self, seconds: float) -> int:
        """Waits a while for calls that were started, and returns how many of them are not over."""
        until = time.monotonic() + seconds
        for calls in (self.pending, self.posted):
            while calls and calls[0].wait(max(0, int((until - time.monotonic()) * 1e9))):
                calls.popleft()
        return sum(not call.poll() for call in [*self.pending, *self.posted])  # other threads may change them

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
        error = failure(kind, self.ranks) if kind else self.failure(0)
        for calls in (self.pending, self.posted):
            while calls:
                calls.popleft().end(error)
        while self.starting:
            self.starting.popitem()[1].end(error)


_open: weakref.WeakSet[Engine] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Has the other ranks know at once that this one is gone, and no thread of the library's call Python any more."""
    failed = getattr(sys, "last_value", None) is not None and not hasattr(sys, "ps1")
    for engine in list(_open):
        if failed:  # others may wait for calls of this one
            engine.abort()
        engine.close()
