"""Calls for objects of any type, by pickle."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

from ._checks import invalid
from ._errors import CollgenError
from ._make import Given
from ._options import CallOptions


class Objects:
    """Calls for objects of any type.

    They are pickled, and whoever unpickles runs what a rank has put there: use these methods among ranks alone that may
    run any code here. Collectives and messages of buffers never unpickle anything.

    If an object cannot be pickled or unpickled on a rank, that rank raises the reason, and the others a CollgenError
    that names the rank. The communicator is as before. These methods take no options, and cannot be started.
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
        own = _Pickled([obj] if self.rank == root else [])
        length = self._call("broadcast", Given(x=bytearray(own.lengths or bytes(8)), root=root), {})
        n = self._length(length, root, own)
        room = bytearray(own.data) if self.rank == root else bytearray(n)
        self._call("broadcast", Given(x=room, root=root), {})
        others = {} if self.rank == root else {root: room}
        got = self._unpickled(others)
        return obj if self.rank == root else got[root]

    def allgather_object(self, obj: Any) -> list[Any]:
        """Returns the objects of all ranks, by rank."""
        got = self._gathered("allgather", obj, 0)
        return [got[rank] for rank in range(self.size)]

    def gather_object(self, obj: Any, root: int = 0) -> list[Any] | None:
        """Returns the objects of all ranks, by rank, on the root; None elsewhere."""
        got = self._gathered("gather", obj, root)
        return [got[rank] for rank in range(self.size)] if self.rank == root else None

    def scatter_object(self, objs: Sequence[Any] | None = None, root: int = 0) -> Any:
        """Returns objs[rank] of the root's objs, one for each rank."""
        if self.rank == root and (objs is None or len(objs) != self.size):
            raise invalid(f"objs are {objs!r:.80}, want one for each of {self.size} ranks")
        own = _Pickled(list(objs or ()) if self.rank == root else [])
        given = Given(x=own.lengths if self.rank == root else None, out=bytearray(8), root=root)
        room = bytearray(self._length(self._call("scatter", given, {}), root, own))
        given = Given(x=own.data, counts=own.counts, out=room, root=root)
        self._call("scatterv", given if self.rank == root else Given(out=room, root=root), {})
        return self._unpickled({root: room})[root]

    def send_object(self, obj: Any, dest: int) -> None:
        """Sends an object to a rank, which calls recv_object. It does not learn whether that could unpickle it."""
        own = _Pickled([obj])
        self.send(own.lengths, dest)
        own.check()
        self.send(own.data, dest)

    def recv_object(self, source: int) -> Any:
        """Returns the object that a rank sends by send_object."""
        n = self._length(self.recv(bytearray(8), source), source, _Pickled([]))
        return pickle.loads(self.recv(bytearray(n), source))

    def _length(self, data: Any, rank: int, own: _Pickled) -> int:
        """Returns the length of a pickle that a rank has told, and raises an error if it has none."""
        n = int.from_bytes(data, "little", signed=True)
        if n < 0:
            own.check()
            raise failed("pickle", [rank])
        return n

    def _gathered(self, name: str, obj: Any, root: int) -> dict[int, Any]:
        """Returns the objects of all ranks, on those that get them."""
        own = _Pickled([obj])
        lengths = self._call(name, Given(x=own.lengths, root=root), {})
        each = [] if lengths is None else _chunks(lengths, [8] * self.size)
        told = [int.from_bytes(n, "little", signed=True) for n in each]
        counts = [max(0, n) for n in told]
        data = self._call(name + "v", Given(x=own.data, counts=counts, root=root), {})
        parts = zip(told, _chunks(data, counts))
        return self._unpickled({rank: part for rank, (n, part) in enumerate(parts) if n >= 0}, own.error)

    def _unpickled(self, pickles: Mapping[int, Any], error: Exception | None = None) -> dict[int, Any]:
        """Returns the objects in the pickles of some ranks. If any rank has failed, here or before, all do."""
        objects: dict[int, Any] = {}
        failure = 0 if error is None else 1  # to pickle
        for rank, data in pickles.items():
            try:
                objects[rank] = pickle.loads(data)
            except Exception as e:
                if error is None:
                    error, failure = e, 2
        told = bytes(self._call("allgather", Given(x=bytes([failure])), {}))
        if error is not None:
            raise error
        for code, what in ((1, "pickle"), (2, "unpickle")):
            ranks = [rank for rank, failure in enumerate(told) if failure == code]
            if ranks:
                raise failed(what, ranks)
        return objects


class _Pickled:
    """Objects that are pickled one by one, and the error if one cannot be: the others are told lengths of -1 then."""

    def __init__(self, objs: Sequence[Any]) -> None:
        self.error: Exception | None = None
        try:
            parts = [pickle.dumps(obj) for obj in objs]
        except Exception as e:
            self.error, parts = e, [b""] * len(objs)
        self.data = b"".join(parts)
        self.counts = [len(part) for part in parts]
        told = self.counts if self.error is None else [-1] * len(objs)
        self.lengths = b"".join(n.to_bytes(8, "little", signed=True) for n in told)

    def check(self) -> None:
        """Raises the error if there is one."""
        if self.error is not None:
            raise self.error


def failed(what: str, ranks: Sequence[int]) -> CollgenError:
    """Returns the error of objects that other ranks could not pickle or unpickle."""
    who = f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {', '.join(map(str, ranks))}"
    return CollgenError(f"{who} could not {what} an object", ranks=ranks)


def _chunks(data: Any, counts: Sequence[int]) -> list[bytes]:
    """Returns the parts of data that have these lengths."""
    flat, chunks, at = memoryview(data).cast("B") if counts else memoryview(b""), [], 0
    for n in counts:
        chunks.append(bytes(flat[at : at + n]))
        at += n
    return chunks
