"""What is done when calls are over, by threads of the package's own.

The callbacks of a future are functions of the program, which may make calls and wait for them. The library's threads must
not wait: they only pass on what is to be done, and lines of jobs are for that. The first line has the futures that a
program has got in its own threads. One thread does them in their order, so that all ranks make the calls in callbacks in
the same order. What callbacks of a line get themselves, and may wait for, is done by the next line.
"""

from __future__ import annotations

import itertools
import queue
import threading
import traceback
from collections.abc import Callable

from .._lib import Notify
from .capi import lib

# After so many seconds in one job, another thread goes on: its callback may wait for a later one.
PATIENCE = 1.0

Job = Callable[[], None]


class _Line:
    """Jobs, and the thread that does them."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self.taken = 0
        self.busy = False
        self.watched = False
        self.threads = 0  # how many were begun; the last one goes on
        self._begin()

    def put(self, job: Job) -> None:
        self.jobs.put(job)
        if self.busy and not self.watched:
            self._watch()

    def _begin(self) -> None:
        self.threads += 1
        name = f"collgen-futures-{self.depth}"
        threading.Thread(target=self._work, args=(self.threads,), name=name, daemon=True).start()

    def _work(self, number: int) -> None:
        _here.depth = self.depth + 1
        while number == self.threads:
            job = self.jobs.get()
            self.taken += 1
            self.busy = True
            if not self.watched and not self.jobs.empty():
                self._watch()
            try:
                job()
            except Exception:
                traceback.print_exc()
            del job
            if number == self.threads:
                self.busy = False

    def _watch(self) -> None:
        self.watched = True
        timer = threading.Timer(PATIENCE, self._look, (self.taken,))
        timer.daemon = True
        timer.start()

    def _look(self, taken: int) -> None:
        """Has another thread go on if the job is still the same one, and there are others."""
        self.watched = False
        if not self.busy or self.jobs.empty():
            return
        if self.taken == taken:
            self._begin()
        self._watch()


_here = threading.local()
_lines: list[_Line] = []
_lock = threading.Lock()

# What is to be done when calls are over, by a number.
_waiting: dict[int, tuple[_Line, Job]] = {}
_keys = itertools.count(1)


def _line() -> _Line:
    """Returns the line of what this thread wants to have done."""
    depth = getattr(_here, "depth", 0)
    if depth >= len(_lines):
        with _lock:
            if depth >= len(_lines):
                _lines.append(_Line(depth))
    return _lines[depth]


@Notify
def _over(key: int, _kind: int) -> None:
    found = _waiting.pop(key, None)
    if found is not None:
        line, job = found
        line.put(job)


def when_over(number: int, job: Job) -> bool:
    """Has a job done when a call is over. It returns False if there is no such call any more."""
    key = next(_keys)
    _waiting[key] = _line(), job
    if lib.collgen_notify(number, _over, key) == 0:
        return True
    _waiting.pop(key, None)
    return False
