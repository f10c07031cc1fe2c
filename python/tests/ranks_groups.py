"""Ranks that make communicators, and everything else that is no collective."""

from __future__ import annotations

import array
import ctypes
import os
import sys

import numpy as np
from ranks_errors import raises

import collgen


def groups() -> None:
    with collgen.init(timeout=30) as comm:
        rank, size = comm.rank, comm.size
        with comm.split(rank % 2, -rank) as part:
            want = [q for q in range(size - 1, -1, -1) if q % 2 == rank % 2]
            assert (part.size, part.allgather(rank)) == (len(want), want)
        made = comm.split(-1 if rank == 0 else 0)
        assert (made is None) == (rank == 0)
        if rank < 2:
            with comm.group([1, 0][: min(2, size)] if size > 1 else [0]) as pair:
                assert pair.rank == (1 - rank if size > 1 else 0)
        comm.monitored_barrier(timeout=30)
        assert comm.agree(6 | 1 << rank) == (7 if size == 1 else 6)
        with comm.split(0) as part:
            assert "waits for" in part.health()
            if rank == 0:
                part.revoke()
            try:
                while True:
                    part.allreduce(1)
            except collgen.CollgenError as e:
                assert isinstance(e, (collgen.RevokedError, collgen.AbortedError)), e
            assert part.agree() == 1
        topology = comm.topology()
        assert topology["hosts"] == [list(range(size))] and topology["links"][rank] == "self", topology
        assert "AllReduce with sum of 4096 bytes" in comm.explain("allreduce", 4096, "sum")
        assert "Broadcast" in comm.explain("broadcast", 1 << 20)
        assert comm.trace()
        assert repr(comm) == f"<Communicator: rank {rank} of {size}>"
        array = comm.alloc((3, 2), "float32")
        assert array.dtype == np.float32 and array.shape == (3, 2) and not array.any()
        array += rank
        assert comm.allreduce(array, out=array) is array
        assert (array == size * (size - 1) // 2).all()
        comm.free(array)
        del array
        for dtype in (bool, np.int16, "complex128", "bfloat16", collgen.Type.UINT8):
            kept = comm.alloc(2, dtype)
            assert len(kept) == 2
            del kept


def batches() -> None:
    with collgen.init(timeout=30) as comm:
        rank, size = comm.rank, comm.size
        inputs = [np.full(4, rank) for _ in range(size)]
        outputs = [np.full(4, -1) for _ in range(size)]
        others = [q for q in range(size) if q != rank]
        with comm.batch():
            works = [comm.start_send(inputs[q], q) for q in others]
            works += [comm.start_recv(outputs[q], q) for q in others]
        for w in works:
            w.wait()
        assert all((outputs[q] == q).all() for q in others)
        works = [comm.start_allreduce(i) for i in range(3)]
        left = list(works)
        while left:
            left.pop(collgen.wait_any(left))
        assert [w.wait() for w in works] == [size * i for i in range(3)]
        assert all(w.peek() and w.test() for w in works)
        with raises(ValueError, "no works"):
            collgen.wait_any([])
        options = collgen.Options(timeout=30, label="step", algorithm="ring")
        for _ in range(2):
            assert comm.allreduce(2, options=options) == 2 * size
        assert comm.allreduce(np.ones(3), factor=0.5).tolist() == [size / 2] * 3
        assert comm.allreduce(np.ones(3), reproducible=True).tolist() == [size] * 3


def objects() -> None:
    with collgen.init(timeout=30) as comm:
        rank, size = comm.rank, comm.size
        for root in range(size):
            assert comm.broadcast_object({"of": rank} if rank == root else None, root) == {"of": root}
            got = comm.gather_object("x" * rank, root)
            assert got == (["x" * q for q in range(size)] if rank == root else None)
            assert comm.scatter_object([(q, "x" * q) for q in range(size)] if rank == root else None, root) == (
                rank,
                "x" * rank,
            )
        assert comm.allgather_object([rank] * rank) == [[q] * q for q in range(size)]
        if size > 1 and rank == 0:
            comm.send_object({"a": 1}, 1)
        if rank == 1:
            assert comm.recv_object(0) == {"a": 1}


def buffers() -> None:
    """Whatever has a buffer can be sent."""
    with collgen.init(timeout=30) as comm:
        rank, size = comm.rank, comm.size
        assert bytes(comm.allgather(b"ab")) == b"ab" * size
        assert bytes(comm.allreduce(bytearray([1, rank]), "max")) == bytes([1, size - 1])
        got = comm.allreduce(array.array("i", [1, rank]))
        assert (got.format, got.tolist()) == ("i", [size, size * (size - 1) // 2])
        own = array.array("f", [rank])
        assert comm.broadcast(own, 0) is own and own.tolist() == [0]
        got = comm.reduce_scatter(memoryview(bytearray(8 * size)).cast("d", [size]))
        assert (got.format, got.tolist()) == ("d", [0.0]), got
        numbers = (ctypes.c_int32 * 3)(1, 2, rank)
        assert comm.allreduce(numbers, out=numbers) is numbers and list(numbers)[:2] == [size, 2 * size]
        halves = comm.allreduce(bytearray(np.ones(3, "float16").tobytes()), dtype="float16")
        assert np.frombuffer(halves, "float16").tolist() == [size] * 3
        one = array.array("H", [0x3F80])  # the upper half of 1.0
        assert comm.allreduce(one, "max", dtype="bfloat16").cast("B").cast("H").tolist() == [0x3F80]
        for number in (3, 2.5, 1 + 2j):
            assert comm.allreduce(number) == number * size
        assert comm.allreduce(rank == 0, "lor") is True and comm.allreduce(rank == 0, "land") is (size == 1)
        assert comm.allgather(rank) == list(range(size)) and comm.allgather(1j * rank) == [1j * q for q in range(size)]
        assert comm.start_allreduce(rank, "max").wait() == size - 1
        assert bytes(comm.allgather(b"")) == b""


def grows() -> None:
    """A process joins by a ticket. Rank 1 of this job is no rank at first."""
    folder, secret = os.environ["FOLDER"], bytes(range(32))
    if os.environ["COLL_RANK"] == "0":
        for name in ("COLL_RANK", "COLL_SIZE"):
            del os.environ[name]
        comm = collgen.init(rank=0, size=1, secret=secret, timeout=30)
        ticket = comm.invite()
        with open(f"{folder}/part", "w") as f:
            f.write(ticket)
        os.rename(f"{folder}/part", f"{folder}/ticket")
        grown = comm.grow(timeout=30)
    else:
        ticket = sys.stdin.readline().strip()
        with raises(collgen.TicketError):
            collgen.join("nonsense", secret=secret)
        grown = collgen.join(ticket, secret=secret, timeout=30)
    assert grown.size == 2 and grown.allreduce(grown.rank) == 1
    grown.close()


class Files:
    """A store of files."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def path(self, key: str) -> str:
        return os.path.join(self.folder, key.encode().hex())

    def set(self, key: str, value: bytes) -> None:
        with open(self.path(key) + f".{os.getpid()}", "wb") as f:
            f.write(value)
        os.rename(f.name, self.path(key))

    def get(self, key: str, timeout: float) -> bytes | None:
        import time

        end = time.monotonic() + timeout
        while time.monotonic() < end:
            try:
                with open(self.path(key), "rb") as f:
                    return f.read()
            except FileNotFoundError:
                time.sleep(0.01)
        return None

    def delete(self, key: str) -> None:
        if os.path.exists(self.path(key)):
            os.remove(self.path(key))


def stores() -> None:
    """Ranks meet by a store of the program's, with a secret of its own, and log by its function."""
    told: list[str] = []
    store = Files(os.environ["FOLDER"])
    with collgen.init(store=store, secret=bytes(range(32)), log=lambda level, text: told.append(text)) as comm:
        assert comm.allreduce(1) == comm.size

    class Broken(Files):
        def set(self, key: str, value: bytes) -> None:
            raise OSError("disk full")

    with raises(collgen.CollgenError) as caught:
        collgen.init(store=Broken(store.folder), secret=bytes([1] * 32), timeout=5)
    assert isinstance(caught[0].__cause__, OSError), caught
