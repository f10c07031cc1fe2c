"""The barrier that names the ranks which do not come."""

from __future__ import annotations

import ctypes
import time
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from .._errors import Kind
from .._lib import Status
from .engine import Engine, nanoseconds
from .library import lib, options

# Tags of its messages, which programs use hardly ever: the largest.
ARRIVED, RELEASED = 2**31 - 1, 2**31 - 2

_TYPE = 1  # of bytes


class MonitoredBarrier:
    """A barrier in which rank 0 waits for a message of each rank, and answers it."""

    _engine: Engine

    def monitored_barrier(self, timeout: Any = None, wait_all_ranks: bool = False) -> None:
        """Waits until all ranks have called it. After the timeout, rank 0 says which have not: the first, or all."""
        e = self._engine
        limit = timeout if isinstance(timeout, timedelta) else getattr(timeout, "timeout", None)
        if limit is None or limit <= timedelta(0):
            limit = e.timeout
        until = time.monotonic() + limit.total_seconds()
        if e.rank == 0:
            self._lead(limit, until, wait_all_ranks)
        else:
            self._follow(limit, until)

    def _lead(self, limit: timedelta, until: float, wait_all_ranks: bool) -> None:
        e, late = self._engine, []
        for rank in range(1, e.size):
            if not self._receive(rank, ARRIVED, until):
                late.append(rank)
                if not wait_all_ranks:
                    break
        if late:
            self._release(b"\x01", until)
            ranks = f"Ranks {', '.join(map(str, late))}" if wait_all_ranks and len(late) > 1 else f"Rank {late[0]}"
            if wait_all_ranks:
                raise _error(f"[Rank 0]: {ranks} failed to pass monitoredBarrier in {_ms(limit)} ms", late)
            raise _error(f"[Rank 0]: {ranks} failed to pass monitoredBarrier in {_ms(limit)} ms", late)
        self._release(b"\x00", until)

    def _follow(self, limit: timedelta, until: float) -> None:
        e = self._engine
        self._send(0, ARRIVED, b"\x00", until)
        answer = self._receive(0, RELEASED, until)
        if answer != b"\x00":
            raise _error(f"Rank {e.rank} successfully reached monitoredBarrier, but received errors while waiting for "
                         "send/recv from rank 0. Please check rank 0 logs for faulty rank. "
                         f"It has waited up to {_ms(limit)} ms", [0])  # fmt: skip

    def _release(self, answer: bytes, until: float) -> None:
        for rank in range(1, self._engine.size):
            self._send(rank, RELEASED, answer, until)

    def _send(self, to: int, tag: int, data: bytes, until: float) -> None:
        o = _left(until)
        buf = ctypes.create_string_buffer(data, 1)
        kind = lib.collgen_message_send(self._engine.comm, ctypes.addressof(buf), 1, _TYPE, to, tag, ctypes.addressof(o),
                                        None)  # fmt: skip
        if kind and kind != Kind.TIMEOUT:
            raise self._engine.failure(kind)

    def _receive(self, origin: int, tag: int, until: float) -> bytes:
        """Returns a message, or b"" if it does not come in time, or cannot."""
        o, status = _left(until), Status()
        buf = ctypes.create_string_buffer(1)
        kind = lib.collgen_message_recv(self._engine.comm, ctypes.addressof(buf), 1, _TYPE, origin, tag,
                                        ctypes.addressof(status), ctypes.addressof(o), None)  # fmt: skip
        return b"" if kind else buf.raw


def _left(until: float) -> Any:
    return options(max(1_000_000, int((until - time.monotonic()) * 1e9)))


def _ms(t: timedelta) -> int:
    return nanoseconds(t) // 1_000_000


def _error(text: str, ranks: list[int]) -> Exception:
    err = dist.DistBackendError(text)
    err.kind, err.field, err.ranks = Kind.TIMEOUT, "", tuple(ranks)  # type: ignore[attr-defined]
    return err
