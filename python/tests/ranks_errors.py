"""Ranks whose calls fail."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from jobs import rank_and_size

import collgen


@contextmanager
def raises(
    kind: type[BaseException] | tuple[type[BaseException], ...], text: str = ""
) -> Iterator[list[BaseException]]:
    caught: list[BaseException] = []
    try:
        yield caught
    except kind as e:
        assert text in str(e), f"{e} does not have {text!r}"
        caught.append(e)
    else:
        raise AssertionError(f"no {kind}")


def refused() -> None:
    """What cannot be sent is refused before anything is sent, and the communicator can be used."""
    with collgen.init(timeout=30) as comm:
        rank, size = comm.rank, comm.size
        x = np.arange(6.0).reshape(2, 3)
        for kind, text, name, args, options in [
            (ValueError, "out is not C-contiguous", "allreduce", [x.T.copy(), "sum", np.empty((2, 3)).T], {}),
            (ValueError, "x is not C-contiguous", "broadcast", [x[:, ::2]], {}),
            (ValueError, "out has 5 elements, want 6", "allreduce", [x, "sum", np.empty(5)], {}),
            (ValueError, "out has 6 elements, want 12", "allgather", [x, np.empty(6)], {}),
            (TypeError, "x has elements of float64, and out of float32", "allreduce", [x, "sum", x.astype("f")], {}),
            (ValueError, "there is no op 'mean'", "allreduce", [x, "mean"], {}),
            (ValueError, "root is 2, want a rank of 2", "broadcast", [x, 2], {}),
            (ValueError, "root is -1", "reduce", [x, "sum", -1], {}),
            (ValueError, "x is None", "allreduce", [], {}),
            (ValueError, "x has the shape (3, 2)", "reduce_scatter", [x.reshape(3, 2)], {}),
            (ValueError, "x has 3 elements, want as many", "alltoall", [x[0]], {}),
            (ValueError, "the counts of x are needed", "reduce_scatterv", [x], {}),
            (ValueError, "x has 6 elements, and its blocks 5", "reduce_scatterv", [x, [2, 3]], {}),
            (ValueError, "x has 6 elements, and its blocks 7", "reduce_scatterv", [x, [3, 3]], {"displs": [0, 4]}),
            (ValueError, "want 2 numbers", "reduce_scatterv", [x, [6]], {}),
            (ValueError, "one of the counts of x is -1", "reduce_scatterv", [x, [7, -1]], {}),
            (TypeError, "big", "allreduce", [x.astype(">f8")], {}),
            (TypeError, "datetime64", "allreduce", [np.zeros(2, "M8[s]")], {}),
            (TypeError, "object", "allreduce", [np.zeros(2, object)], {}),
            (TypeError, "want a NumPy array", "allreduce", [[1.0, 2.0]], {}),
            (TypeError, "want a NumPy array", "allreduce", ["text"], {}),
            (ValueError, "no number of 64 bits", "allreduce", [2**63], {}),
            (TypeError, "x has elements of 8 bytes, and bfloat16 has 2", "allreduce", [x], {"dtype": "bfloat16"}),
            (TypeError, "elements of nonsense", "allreduce", [x], {"dtype": "nonsense"}),
            (collgen.InvalidArgumentError, "no-such", "allreduce", [x], {"algorithm": "no-such"}),
            (collgen.InvalidArgumentError, "", "allreduce", [x, "band"], {}),
            (collgen.InvalidArgumentError, "", "allreduce", [np.ones(9)[:8], "sum", None], {"label": "\n"}),
            (TypeError, "options are given, and depth", "allreduce", [x], {"options": collgen.Options(), "depth": 1}),
            (TypeError, "nonsense", "allreduce", [x], {"nonsense": 1}),
        ]:
            for method in (name, "start_" + name):
                text = text.replace("big", "in this byte order")
                with raises(kind, text):
                    getattr(comm, method)(*args, **options)
        whole = np.arange(8.0)
        with raises(collgen.InvalidArgumentError, "overlap"):
            comm.allreduce(whole[:6], "sum", whole[2:])
        with raises(ValueError, "read-only"):
            comm.allreduce(b"12", "max", b"34")
        with raises(TypeError, "a number, want a writable buffer"):
            comm.broadcast(1)
        with raises(ValueError, "read-only"):
            fixed = x.copy()
            fixed.flags.writeable = False
            comm.broadcast(fixed)
        with raises(ValueError, "not aligned"):
            comm.allreduce(memoryview(bytearray(17))[1:], dtype="float64")
        with raises(ValueError, "none of alloc"):
            comm.free(x)
        assert comm.allreduce(rank) == size * (size - 1) // 2


def mismatch() -> None:
    """Both ranks learn in what they differ, and who the other one is."""
    comm = collgen.init(timeout=30)
    other = 1 - comm.rank
    with raises(collgen.MismatchError, "count is") as caught:
        comm.allreduce(np.ones(2 + comm.rank))
    e = caught[0]
    assert isinstance(e, collgen.MismatchError)
    assert e.field == "count" and e.ranks == (other,) and e.kind == collgen.Kind.MISMATCH, vars(e)
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e) and vars(again) == vars(e) and str(again) == str(e)
    with raises(collgen.AbortedError):
        comm.allreduce(1)
    with raises(collgen.AbortedError):
        comm.start_allreduce(1).wait()
    comm.close()
    comm.close()
    with raises(collgen.ClosedError):
        comm.allreduce(1)
    with raises(collgen.ClosedError):
        comm.start_allreduce(1)


def timeout() -> None:
    """A call whose time is over names the ranks that it has waited for."""
    comm = collgen.init(timeout=30)
    if comm.rank == 1:
        sys.stdin.read()
        return
    work = comm.start_allreduce(np.ones(2), timeout=1)
    with raises(collgen.NotOverError) as caught:
        work.wait(timeout=0.1)
    assert isinstance(caught[0], TimeoutError) and not work.peek()
    for _ in range(2):
        with raises(collgen.TimeoutError) as caught:
            work.wait()
    e = caught[0]
    assert isinstance(e, collgen.TimeoutError) and e.ranks == (1,) and work.peek() and work.test(), vars(e)
    print("over", flush=True)


def late() -> None:
    comm = collgen.init(timeout=30)
    if comm.rank == 0:
        with raises(collgen.TimeoutError, "rank 1") as caught:
            comm.monitored_barrier(timeout=0.1)
        with raises(TimeoutError, "") as caught:
            comm.allreduce(1, timeout=0.3)
        e = caught[0]
        assert isinstance(e, collgen.TimeoutError) and e.ranks == (1,), vars(e)
        print("over", flush=True)
        return
    sys.stdin.read()


def killed() -> None:
    """The others learn who was killed, and go on without."""
    comm = collgen.init(timeout=30)
    last = comm.size - 1
    assert comm.allreduce(1) == comm.size
    if comm.rank == last:
        os.kill(os.getpid(), signal.SIGKILL)
    with raises(collgen.PeerError) as caught:
        while True:
            comm.allreduce(np.ones(3))
    e = caught[0]  # an AbortedError if the rank was dead before the call began
    assert isinstance(e, (collgen.RankDiedError, collgen.AbortedError)) and e.ranks == (last,), (e, vars(e))
    with raises(collgen.RankDiedError) as caught:
        comm.agree(3)
    e = caught[0]
    assert isinstance(e, collgen.CollgenError) and e.flags == 3
    with comm.shrink(timeout=30) as rest:
        assert rest.size == last, rest
        total = rest.allreduce(1)
        assert total == last, total
    comm.close()


def fails() -> None:
    """A program that fails inside of with gives the communicator up: nobody waits for it."""
    try:
        with collgen.init(timeout=30) as comm:
            if comm.rank == 1:
                raise RuntimeError("mine")
            with raises(collgen.AbortedError) as caught:
                comm.allreduce(1)
            e = caught[0]
            assert isinstance(e, collgen.CollgenError) and e.ranks == (1,), vars(e)
    except RuntimeError as error:
        assert str(error) == "mine" and comm.closed


def uncaught() -> None:
    """The same where nothing closes the communicator but the end of the program."""
    comm = collgen.init(timeout=30)
    if comm.rank == 1:
        raise RuntimeError("mine")
    with raises(collgen.AbortedError):
        comm.allreduce(1)


def no_job() -> None:
    """Without a rank, init is refused."""
    for name in list(os.environ):
        if name.startswith("COLL_"):
            del os.environ[name]
    with raises(collgen.InvalidArgumentError, "no launcher has set the rank"):
        collgen.init()
    with raises(TypeError, "unknown arguments: sizes"):
        collgen.init(sizes=3)
    with raises(ValueError, "the secret has 3 bytes"):
        collgen.init(secret=b"abc")
    with collgen.init(rank=0, size=1, store="local") as comm:
        assert (comm.rank, comm.size, comm.allreduce(2.5)) == (0, 1, 2.5)


def missing() -> None:
    """Init ends when the others do not come."""
    with raises(TimeoutError, ""):
        collgen.init(timeout=0.5)


def environ() -> None:
    """What the program sets in os.environ counts."""
    rank, _ = rank_and_size()
    os.environ["COLL_TRANSPORT"] = "tcp"
    with collgen.init(timeout=30) as comm:
        assert comm.rank == rank and comm.topology()["transport"] == "tcp", comm.topology()
