"""Calls for objects of any type, by pickle."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from ._make import Given
from ._options import CallOptions


class Objects:
    """Calls for objects of any type.

    They are pickled, and whoever unpickles runs what a rank has put there: use these methods among ranks alone that may
    run any code here. Collectives and messages of buffers never unpickle anything.
    """

    rank: int
    size: int

    def _call(self, name: str, given: Given, options: CallOptions) -> Any:
        raise NotImplementedError

    def send(self, x: Any, dest: int) -> None:
        raise NotImplementedError

    def recv(self, out: Any, source: int) -> Any:
        raise NotImplementedError

    def broadcast_object(self, obj: Any = None, root: int = 0) -> Any:
        """Returns the root's object on all ranks: the same object on the root."""
        data = pickle.dumps(obj) if self.rank == root else b""
        length = self._call("broadcast", Given(x=bytearray(len(data).to_bytes(8, "little")), root=root), {})
        room = bytearray(data) if self.rank == root else bytearray(int.from_bytes(length, "little"))
        self._call("broadcast", Given(x=room, root=root), {})
        return obj if self.rank == root else pickle.loads(room)

    def allgather_object(self, obj: Any) -> list[Any]:
        """Returns the objects of all ranks, by rank."""
        counts, data = self._gathered("allgather", obj, 0)
        return _unpickled(counts, data)

    def gather_object(self, obj: Any, root: int = 0) -> list[Any] | None:
        """Returns the objects of all ranks, by rank, on the root; None elsewhere."""
        counts, data = self._gathered("gather", obj, root)
        return _unpickled(counts, data) if self.rank == root else None

    def scatter_object(self, objs: Sequence[Any] | None = None, root: int = 0) -> Any:
        """Returns objs[rank] of the root's objs, one for each rank."""
        data, counts = b"", None
        if self.rank == root:
            if objs is None or len(objs) != self.size:
                raise ValueError(f"objs are {objs!r:.80}, want one for each of {self.size} ranks")
            parts = [pickle.dumps(o) for o in objs]
            data, counts = b"".join(parts), [len(p) for p in parts]
        lengths = None if counts is None else b"".join(n.to_bytes(8, "little") for n in counts)
        length = self._call("scatter", Given(x=lengths, out=bytearray(8), root=root), {})
        room = bytearray(int.from_bytes(length, "little"))
        self._call("scatterv", Given(x=data if counts is not None else None, counts=counts, out=room, root=root), {})
        return pickle.loads(room)

    def send_object(self, obj: Any, dest: int) -> None:
        """Sends an object to a rank, which calls recv_object."""
        data = pickle.dumps(obj)
        self.send(len(data).to_bytes(8, "little"), dest)
        self.send(data, dest)

    def recv_object(self, source: int) -> Any:
        """Returns the object that a rank sends by send_object."""
        length = self.recv(bytearray(8), source)
        return pickle.loads(self.recv(bytearray(int.from_bytes(length, "little")), source))

    def _gathered(self, name: str, obj: Any, root: int) -> tuple[list[int], Any]:
        """Returns the lengths and the pickles of all ranks, on those that get them."""
        data = pickle.dumps(obj)
        lengths = self._call(name, Given(x=len(data).to_bytes(8, "little"), root=root), {})
        counts = [] if lengths is None else [int.from_bytes(n, "little") for n in _chunks(lengths, [8] * self.size)]
        given = Given(x=data, counts=counts, root=root)
        return counts, self._call(name + "v", given, {})


def _chunks(data: Any, counts: Sequence[int]) -> list[bytes]:
    flat, chunks, at = memoryview(data).cast("B"), [], 0
    for n in counts:
        chunks.append(bytes(flat[at : at + n]))
        at += n
    return chunks


def _unpickled(counts: Sequence[int], data: Any) -> list[Any]:
    return [pickle.loads(chunk) for chunk in _chunks(data, counts)]
