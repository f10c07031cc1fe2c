"""What torch waits for."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as _c10d

from .._errors import Kind
from .._lib import Status
from .engine import Call, nanoseconds
from .errors import known

_FOREVER = timedelta(0)


class CollgenWork(dist.Work):
    """A call that was started."""

    _name = "a collective"
    _peers: tuple[int, ...] = ()  # that it waits for, as far as it is known here

    def __init__(self, call: Call, result: Any, sequence: int = 0) -> None:
        dist.Work.__init__(self)
        self._call = call
        self._result = result
        self._sequence = sequence
        self._registered: list[torch.Tensor] = []

    def is_completed(self) -> bool:
        """Returns whether the call is over."""
        return self._call.poll()

    def is_success(self) -> bool:
        """Returns whether the call is over and has not failed."""
        return self._call.poll() and self._call.error is None

    def exception(self) -> Exception | None:
        """Returns the error of the call, if it has failed."""
        return self._call.error if self._call.poll() else None

    def wait(self, timeout: timedelta = _FOREVER) -> bool:
        """Waits for the call, and raises its error. With a timeout, it raises an error when that is over."""
        call = self._call
        if not call.wait(nanoseconds(timeout) if timeout else -1):
            text = f"collgen: {self._name}: Operation timed out! The call goes on after {timeout} of waiting"
            raise known(dist.DistBackendError(text), Kind.TIMEOUT, self._peers)
        if call.error is not None:
            raise call.error
        if self._registered:
            self._forget()
        return True

    def _forget(self) -> None:
        """Has torch forget that the tensors are still written."""
        tensors, self._registered = self._registered, []
        for t in tensors:
            torch.ops._c10d_functional.wait_tensor(t)

    def synchronize(self) -> None:
        """Waits for the call."""
        self.wait()

    def result(self) -> Any:
        """Returns the tensors that the call has written."""
        return _flat(self._result)

    def _get_sequence_number(self) -> int:
        return self._sequence

    def get_future(self) -> torch.futures.Future:
        """Returns a future that is completed with the tensors that the call writes."""
        future: torch.futures.Future = torch.futures.Future()

        def complete() -> None:
            if self._call.error is not None:
                future.set_exception(self._call.error)
            else:
                future.set_result(self._result)

        self._call.notify(complete)
        return future


def registered(work: CollgenWork) -> CollgenWork:
    """Returns work, after torch was told that its tensors are still written, if it wants to know that."""
    if _c10d._allow_inflight_collective_as_graph_input():
        work._registered = _flat(work._result)
        for t in work._registered:
            _c10d._register_work(t, work)
    return work


class MessageWork(CollgenWork):
    """A message that is sent or received."""

    def __init__(
        self, call: Call, result: Any, name: str, peers: tuple[int, ...], status: Status | None = None
    ) -> None:
        CollgenWork.__init__(self, call, result)
        self._name, self._peers, self._status = name, peers, status

    def source_rank(self) -> int:
        """Returns the rank of the group from which a receive has got its message."""
        if self._status is None:
            raise RuntimeError(
                "sourceRank() may only be called on work objects that correspond to a recv or recv-from-any call."
            )
        return int(self._status.source)

    _source_rank = source_rank


def _flat(tensors: Any) -> list[torch.Tensor]:
    if isinstance(tensors, torch.Tensor):
        return [tensors]
    return [t for part in tensors for t in _flat(part)]


class DoneWork(dist.Work):
    """A call that is over."""

    def __init__(self, result: Any = ()) -> None:
        dist.Work.__init__(self)
        self._result = result

    def is_completed(self) -> bool:
        """Returns True."""
        return True

    is_success = is_completed

    def wait(self, timeout: timedelta = _FOREVER) -> bool:
        """Returns True."""
        return True

    def result(self) -> Any:
        """Returns the tensors that the call has written."""
        return _flat(self._result)

    def get_future(self) -> torch.futures.Future:
        """Returns a future that is completed."""
        future: torch.futures.Future = torch.futures.Future()
        future.set_result(self._result)
        return future


DONE = DoneWork()


class AllWork(dist.Work):
    """Several calls that were started."""

    def __init__(self, works: list[CollgenWork], result: Any) -> None:
        dist.Work.__init__(self)
        self._works = works
        self._result = result

    def is_completed(self) -> bool:
        """Returns whether all calls are over."""
        return all(w.is_completed() for w in self._works)

    def is_success(self) -> bool:
        """Returns whether all calls are over, and none has failed."""
        return all(w.is_success() for w in self._works)

    def exception(self) -> Exception | None:
        """Returns the first error of a call."""
        return next((w.exception() for w in self._works if w.exception() is not None), None)

    def wait(self, timeout: timedelta = _FOREVER) -> bool:
        """Waits for all calls, each at most for the timeout, and raises the first error."""
        for w in self._works:
            w.wait(timeout)
        return True

    synchronize = CollgenWork.synchronize
    result = CollgenWork.result

    def get_future(self) -> torch.futures.Future:
        """Returns a future that is completed with the tensors that the calls write."""
        every = torch.futures.collect_all([w.get_future() for w in self._works])
        return every.then(lambda f: (f.wait(), self._result)[1])
