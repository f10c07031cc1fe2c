"""Sends and receives, by the library's messages with tags."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

from .._checks import integer
from .._lib import Status
from .._messages import ANY, TAGS
from .buffers import Targets, source
from .capi import lib
from .elements import moved
from .engine import Engine
from .work import MessageWork


class Messages:
    """Sends and receives. They begin at once, and their order is that of messages of one rank with one tag alone."""

    _engine: Engine

    def send(self, tensors: list[torch.Tensor], to: int, tag: int) -> Any:
        """Starts to send a tensor."""
        (t,) = tensors
        x = source(t)
        return self._post(x, None, tensors, lib.collgen_message_send, to, tag)

    def recv(self, tensors: list[torch.Tensor], origin: int, tag: int) -> Any:
        """Starts to receive a tensor from a rank."""
        (t,) = tensors
        targets = Targets()
        x = targets.of(t)
        status = Status(source=origin)
        return self._post(x, targets, tensors, lib.collgen_message_recv, origin, tag, status)

    def recv_anysource(self, tensors: list[torch.Tensor], tag: int) -> Any:
        """Starts to receive a tensor from any rank."""
        return self.recv(tensors, ANY, tag)

    recvAnysource = recv_anysource

    def _post(
        self, x: torch.Tensor, targets: Targets | None, result: Any, f: Any, peer: int, tag: int, *status: Status
    ) -> Any:
        e = self._engine
        fill = targets.fill if targets is not None and targets.copies else None
        tag = integer(tag, "tag", TAGS)
        at = [ctypes.addressof(s) for s in status]
        call = e.post(
            (x, targets, status), fill, f, x.data_ptr(), x.numel(), moved(x.dtype)[0], peer, tag, *at, e.limit
        )
        return MessageWork(call, result, *_told(e, bool(status), peer, tag), *status)


def _told(e: Engine, receives: bool, peer: int, tag: int) -> tuple[str, tuple[int, ...]]:
    """Returns the name of a call, and the rank that it waits for, as the default group numbers it."""
    name, way = ("a receive", "from") if receives else ("a send", "to")
    if peer == ANY:
        return f"{name} {way} any rank, tag {tag}", ()
    return f"{name} {way} rank {peer}, tag {tag}", (e.ranks[peer],)
