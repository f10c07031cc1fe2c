"""Ranks that pass what cannot be sent, or is no number of the library's."""

from __future__ import annotations

import ctypes
import math
import os
import pickle
from typing import Any

import numpy as np
from ranks_errors import raises

import collgen


class Larger(np.ndarray):
    """An array that says that it is larger than it is."""

    @property
    def size(self) -> int:
        return 1 << 22

    @property
    def shape(self) -> tuple[int, ...]:
        return (1 << 22,)


def elements() -> None:
    """No dtype= makes elements of what is none, and no subclass of an array is believed."""
    with collgen.init(timeout=30) as comm:
        objects = np.array([None, None], dtype=object)
        swapped = np.arange(3, dtype=">f8")
        pointers = (ctypes.py_object * 2)(None, None)
        for x, dtype in [
            (objects, "int64"),
            (objects.data, "int64"),
            (pointers, "int64"),
            (swapped, "float64"),
            (swapped.data, "float64"),
            (np.zeros(2, [("a", ">f8")]), "float64"),
            (np.zeros(2, [("a", object)]), "int64"),
            (np.array(["a", "b"], "<U1"), "uint32"),
            (np.zeros(2, "M8[s]"), "int64"),
            (np.zeros(2, np.longdouble), "complex128"),
            (np.ma.array([1.0, 2.0], mask=[0, 1]), None),
        ]:
            with raises(TypeError):
                comm.allreduce(x, dtype=dtype)
            with raises(TypeError):
                comm.allgather(x, dtype=dtype)
            with raises(TypeError):
                comm.allreduce(np.arange(2), out=x, dtype="int64")
        assert objects[0] is None and pointers[0] is None
        small = np.zeros(8).view(Larger)
        with raises(ValueError, "out has 8 elements"):
            comm.allreduce(np.zeros(1 << 22), out=small)
        with raises(ValueError, "out has 4194304 elements, want 8"):
            comm.allreduce(small, out=np.zeros(1 << 22))
        assert comm.allreduce(small, out=small) is small
        matrix = np.arange(4.0).reshape(2, 2).view(np.matrix)
        assert comm.allreduce(matrix).tolist() == (np.arange(4.0) * comm.size).reshape(2, 2).tolist()
        for x in (np.ones(2, "V2"), np.ones(2, "uint16"), np.ones(2, "float16")):
            comm.allreduce(x, "max", dtype="bfloat16")


def integers() -> None:
    """No number is cut to what the library takes, and an error names the argument."""
    with collgen.init(timeout=30) as comm:
        x, size = np.ones(comm.size), comm.size
        big = 2**32
        for what, call in [
            ("color", lambda n: comm.split(n)),
            ("key", lambda n: comm.split(0, n)),
            ("ranks", lambda n: comm.group([n])),
            ("dest", lambda n: comm.send(x, n)),
            ("dest", lambda n: comm.start_send(x, n)),
            ("source", lambda n: comm.recv(x, n)),
            ("source", lambda n: comm.start_recv(x, n)),
            ("dest", lambda n: comm.sendrecv(x, n, 0)),
            ("source", lambda n: comm.sendrecv(x, 0, n)),
            ("flags", lambda n: comm.agree(n * big)),
            ("depth", lambda n: comm.allreduce(x, depth=n)),
            ("bytes", lambda n: comm.explain("allreduce", n * big, "sum")),
            ("root", lambda n: comm.broadcast(x, n)),
            ("counts", lambda n: comm.allgatherv(np.ones(1), [n * big] * size)),
            ("displacements", lambda n: comm.allgatherv(np.ones(1), [1] * size, displs=[n * big] * size)),
            ("shape", lambda n: comm.alloc(n * big)),
            ("shape", lambda n: comm.alloc((2, n * big))),
        ]:
            for n, kind in [
                (big, collgen.InvalidArgumentError),
                (big + 1, collgen.InvalidArgumentError),
                (-big, collgen.InvalidArgumentError),
                (0.5, TypeError),
                (np.float64(1), TypeError),
                (None, TypeError),
            ]:
                if n is None and what in ("flags", "bytes", "counts", "displacements", "shape"):
                    continue
                with raises(kind, what):
                    call(n)
        for wrong in ([1.9] * size, ["1"] * size, "11", 3, None):
            with raises((TypeError, ValueError)):
                comm.reduce_scatterv(x, wrong)
            with raises((TypeError, ValueError)):
                comm.group(wrong)
        with raises(collgen.InvalidArgumentError, "number of bytes"):
            comm.alloc(2**61 + 1)
        with raises(collgen.ExhaustedError, "memory"):
            comm.alloc(10**13)
        with raises(collgen.InvalidArgumentError, "color is 2147483648"):
            comm.split(2**31)
        with comm.split(np.int64(2**31 - 1), -(2**31)) as part:
            assert part.size == size
        assert comm.broadcast(np.ones(2), np.int32(0)).tolist() == [1, 1]
        assert comm.agree(2**64 - 1) == 2**64 - 1
        assert comm.allreduce(1) == size


def texts() -> None:
    """Options that are no options, and times that are no times."""
    rank, size = os.environ["COLL_RANK"], int(os.environ["COLL_SIZE"])
    for job in ("a\0b", "\0"):
        with raises(collgen.InvalidArgumentError, "NUL"):
            collgen.init(job=job)
    with raises(collgen.InvalidArgumentError, "NUL"):
        collgen.join("a\0b", secret=bytes(32))
    with collgen.init(timeout=math.inf, rank=int(rank)) as comm:
        for name in ("allreduce", "start_allreduce"):
            call = getattr(comm, name)
            for option, value, kind, text in [
                ("label", "a\0b", collgen.InvalidArgumentError, "label"),
                ("algorithm", "a\0b", collgen.InvalidArgumentError, "algorithm"),
                ("label", 3, TypeError, "label"),
                ("timeout", "1", TypeError, "timeout"),
                ("timeout", math.nan, collgen.InvalidArgumentError, "timeout"),
                ("factor", "1", TypeError, "factor"),
                ("options", {}, TypeError, "options"),
                ("foo", 1, TypeError, f"{name}() got the unknown arguments foo: its options are timeout,"),
            ]:
                with raises(kind, text):
                    call(np.ones(3), **{option: value})
            with raises(TypeError, "op is of <class 'numpy.ndarray'>"):
                call(np.ones(3), np.ones(3))
            with raises(TypeError, "op is of"):
                call(np.ones(3), 1)
        with raises(TypeError, "send() got the unknown arguments tag"):
            comm.send(1, 0, tag=3)
        with raises(collgen.InvalidArgumentError, "collective"):
            comm.explain("a\0b", 1)
        with raises(TypeError, "root is None"):
            comm.broadcast(np.ones(3), None)
        assert comm.allreduce(1, timeout=math.inf) == size
        assert comm.start_allreduce(1).wait(math.inf) == size
        work = comm.start_allreduce(1)
        assert collgen.wait_any([work], 10**400) == 0 and work.wait() == size
        with raises(TypeError, "timeout"):
            work.wait("1")


def same_class() -> None:
    """A mistake has one class, wherever it is found: it is a ValueError and a CollgenError, and has a kind."""
    with collgen.init(timeout=30) as comm:
        x = np.ones(3)
        for call in [
            lambda: comm.broadcast(x, 9),
            lambda: comm.send(x, 9),
            lambda: comm.allreduce(x, "mean"),
            lambda: comm.allreduce(x, algorithm="none"),
            lambda: comm.allreduce(x, out=np.ones(4)),
            lambda: comm.allreduce(),
            lambda: comm.reduce_scatterv(x, [1]),
            lambda: comm.free(x),
            lambda: collgen.wait_any([]),
            lambda: collgen.init(secret=b"abc"),
            lambda: comm.scatter_object([], comm.rank),
            lambda: comm.allreduce(2**64),
        ]:
            with raises(collgen.InvalidArgumentError) as caught:
                call()
            e: Any = caught[0]
            assert e.kind == collgen.Kind.INVALID_ARGUMENT and e.ranks == (), (e, vars(e))
            with raises(ValueError):
                raise pickle.loads(pickle.dumps(e))


class Unpicklable:
    def __reduce__(self) -> Any:
        raise OSError("mine")


class Explosive:
    """What cannot be unpickled on one rank."""

    def __reduce__(self) -> Any:
        return _explode, (int(os.environ["BROKEN"]),)


def _explode(rank: int) -> str:
    if rank == int(os.environ["COLL_RANK"]):
        raise OSError("mine")
    return "whole"


def objects() -> None:
    """An object that cannot be pickled, or unpickled, on one rank: the others learn which, and can go on."""
    broken = int(os.environ["BROKEN"])
    with collgen.init(timeout=30) as comm:
        rank, size = comm.rank, comm.size
        own = Unpicklable() if rank == broken else "whole"
        bad = Unpicklable() if rank == 0 else None

        def both(who: int, call: Any, *args: Any, others: bool = True) -> None:
            if rank == who:
                with raises(OSError, "mine"):
                    call(*args)
            elif others:
                with raises(collgen.CollgenError, f"rank {who} could not") as caught:
                    call(*args)
                assert caught[0].ranks == (who,), vars(caught[0])
            assert comm.allreduce(1, timeout=20) == size

        both(broken, comm.allgather_object, own)
        both(broken, comm.gather_object, own, 0)
        both(0, comm.broadcast_object, bad, 0)
        both(0, comm.scatter_object, [bad] * size if rank == 0 else None, 0)
        both(broken, comm.allgather_object, Explosive())
        if broken != 0:
            both(broken, comm.broadcast_object, Explosive() if rank == 0 else None, 0)
        both(broken, comm.scatter_object, [Explosive()] * size if rank == 0 else None, 0)
        both(broken, comm.gather_object, Explosive(), broken)
        if rank == 0:
            with raises(OSError, "mine"):
                comm.send_object(Unpicklable(), 1)
        elif rank == 1:
            with raises(collgen.CollgenError, "rank 0 could not pickle"):
                comm.recv_object(0)
        assert comm.allgather_object(rank) == list(range(size))
