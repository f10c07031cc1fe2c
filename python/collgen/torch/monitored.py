"""The barrier that names the ranks which do not come."""

from __future__ import annotations

import ctypes
import time
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from .._calls import Type
from .._errors import Kind
from .capi import lib, options
from .engine import Engine, nanoseconds

# Tags of its messages, which programs use hardly ever: the largest.
ARRIVED, RELEASED = 2**31 - 1, 2**31 - 2

_TYPE = int(Type.INT64)

# A message is the number of the barrier, and whether all have come.
_Numbers = ctypes.c_int64 * 2
_ALL, _LATE = 0, 1


class MonitoredBarrier:
    """A barrier in which rank 0 waits for a message of each rank, and answers it."""

    _engine: Engine

    def monitored_barrier(self, timeout: Any = None, wait_all_ranks: bool = False) -> None:
        """Waits until all ranks have called it. After the timeout, rank 0 says which have not: the first, or all."""
        e = self._engine
        limit = timeout if isinstance(timeout, timedelta) else getattr(timeout, "timeout", None)
        if limit is None or limit < timedelta(0):
            limit = e.timeout
        until = time.monotonic() + limit.total_seconds()
        e.monitored += 1
        if e.rank == 0:
            self._lead(limit, until, wait_all_ranks)
        else:
            self._follow(limit, until)

    def _lead(self, limit: timedelta, until: float, wait_all_ranks: bool) -> None:
        e, late = self._engine, []
        if not limit:
            raise _error("[Rank 0]: Rank 0 timed out in monitoredBarrier after 0 ms", [e.ranks[0]])
        for rank in range(1, e.size):
            if self._receive(rank, ARRIVED, until) is None:
                late.append(rank)
                if not wait_all_ranks:
                    break
        for rank in range(1, e.size):
            self._send(rank, RELEASED, _LATE if late else _ALL, until)
        if late:
            which = f"Ranks {', '.join(map(str, late))}" if len(late) > 1 else f"Rank {late[0]}"
            text = f"[Rank 0]: {which} failed to pass monitoredBarrier in {_ms(limit)} ms"
            raise _error(text, [e.ranks[rank] for rank in late])

    def _follow(self, limit: timedelta, until: float) -> None:
        e = self._engine
        self._send(0, ARRIVED, _ALL, until)
        if self._receive(0, RELEASED, until) != _ALL:
            raise _error(
                f"Rank {e.rank} successfully reached monitoredBarrier, but received errors while waiting for "
                "send/recv from rank 0. Please check rank 0 logs for faulty rank. "
                f"It has waited up to {_ms(limit)} ms",
                [e.ranks[0]],
            )

    def _send(self, to: int, tag: int, what: int, until: float) -> None:
        e, o = self._engine, _left(until)
        numbers = _Numbers(e.monitored, what)
        kind = lib.collgen_message_send(e.comm, ctypes.addressof(numbers), 2, _TYPE, to, tag, ctypes.addressof(o), None)
        if kind and kind != Kind.TIMEOUT:
            raise e.failure(kind)

    def _receive(self, origin: int, tag: int, until: float) -> int | None:
        """Returns what a rank says of this barrier, or None if it says nothing in time. It drops what is of others."""
        e, numbers = self._engine, _Numbers(-1, 0)
        while numbers[0] != e.monitored:
            o = _left(until)
            kind = lib.collgen_message_recv(
                e.comm, ctypes.addressof(numbers), 2, _TYPE, origin, tag, None, ctypes.addressof(o), None
            )
            if kind == Kind.TIMEOUT:
                return None
            if kind:
                raise e.failure(kind)
        return numbers[1]


def _left(until: float) -> Any:
    return options(max(1_000_000, int((until - time.monotonic()) * 1e9)))


def _ms(t: timedelta) -> int:
    return nanoseconds(t) // 1_000_000


def _error(text: str, ranks: list[int]) -> Exception:
    err = dist.DistBackendError(text)
    err.kind, err.field, err.ranks = Kind.TIMEOUT, "", tuple(ranks)  # type: ignore[attr-defined]
    return err
