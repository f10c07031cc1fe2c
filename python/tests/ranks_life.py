"""Ranks that drop works, fork, and end in several ways."""

from __future__ import annotations

import array
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time

import numpy as np
from ranks_errors import raises

import collgen


def dropped() -> None:
    """Nobody waits for started calls, and nobody else gets their memory before they are over."""
    comm = collgen.init(timeout=30)
    n = 40_000
    if os.environ.get("PLANT"):  # the package forgets what calls use
        before = collgen._raw.Work
        collgen._raw.Work = lambda comm, number, keep, result: before(comm, number, None, None)
    for i in range(40):
        comm.start_allreduce(np.full(n, 1.0), out=np.empty(n))
        comm.start_broadcast(np.full(n, 1.0))
        others = [np.full(n, 7.0) for _ in range(8)]  # which would get the memory, had it been freed
        if i % 10 == 9:
            gc.collect()
        for other in others:
            assert (other == 7.0).all()
    assert comm.allreduce(1) == comm.size  # which comes after all of them
    comm.start_allreduce(1).wait()
    assert not comm._dropped and not comm._pending, (comm._dropped, len(comm._pending))
    comm.close()


def kept() -> None:
    """A buffer in use cannot be resized, and is let go of when the call is over."""
    with collgen.init(timeout=30) as comm:
        x = bytearray(1000)
        work = comm.start_allreduce(x, "max", out=x)
        try:
            x.extend(b"more")
        except BufferError:
            pass
        else:
            raise AssertionError("a buffer in use was resized")
        assert work.wait() is x
        del work
        x.extend(b"more")
        a = array.array("d", [1, 2])
        comm.start_allreduce(a, out=a).wait()
        assert a.tolist() == [comm.size, 2 * comm.size]


def closed() -> None:
    """A work that was not waited for says that its communicator was closed."""
    with collgen.init(timeout=30) as comm:
        work = comm.start_allreduce(np.ones(3))
    with raises(collgen.ClosedError):
        work.wait()
    assert comm.closed


def unclosed() -> None:
    """Nobody closes the communicators: the exit does."""
    comm = collgen.init(timeout=30)
    made = [comm.split(0) for _ in range(3)]
    assert [m.allreduce(1) for m in made if m is not None] == [comm.size] * 3
    comm.start_allreduce(np.ones(1000))
    if comm.rank == 0:
        sys.exit(0)


def forks_before() -> None:
    """Children that are forked off before the library is loaded are ranks."""
    assert not collgen._lib.is_loaded()
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    children = [context.Process(target=_child, args=(rank, results)) for rank in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0, 0]
    assert [results.get() for _ in children] == [3, 3]


def _child(rank: int, results: multiprocessing.SimpleQueue[int]) -> None:
    with collgen.init(rank=rank, size=2, job=f"fork-{os.getppid()}") as comm:
        results.put(comm.allreduce(rank + 1))


def forks_after() -> None:
    """A child of a rank is none: all of its calls are refused, and the rank goes on."""
    comm = collgen.init(timeout=30)
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            for call in (lambda: comm.allreduce(1), comm.barrier, comm.start_barrier, comm.close, collgen.init):
                with raises(collgen.ForkedError):
                    call()
                comm.closed = False
            status = 0
        finally:
            os._exit(status)
    assert comm.allreduce(1) == comm.size
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    pid = os.fork()
    if pid == 0:  # its signals are not the parent's
        try:
            time.sleep(2 * collgen._signals.GRACE)  # until the parent is in a call, but for rank 0
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(30)
        except KeyboardInterrupt:
            os._exit(0)
    if comm.rank == 0:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        time.sleep(5 * collgen._signals.GRACE)
    assert comm.allreduce(1) == comm.size
    if comm.rank > 0:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    pid = os.fork()
    if pid == 0:
        sys.exit(0)  # with what is called at exits
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert comm.allreduce(1) == comm.size
    comm.close()


def threads() -> None:
    """Threads with a communicator each do not disturb each other; two in one call each do not both get in."""
    with collgen.init(timeout=30) as comm:
        parts = [comm.split(0) for _ in range(4)]
        failures: list[BaseException] = []

        def calls(part: collgen.Communicator, i: int) -> None:
            try:
                for k in range(50):
                    assert part.allreduce(i * k) == part.size * i * k
                    assert part.start_allreduce(i).wait() == part.size * i
            except BaseException as e:
                failures.append(e)

        running = [threading.Thread(target=calls, args=(p, i)) for i, p in enumerate(parts) if p is not None]
        for t in running:
            t.start()
        for t in running:
            t.join()
        assert not failures, failures
        work = comm.start_allreduce(2)
        got: list[int] = []
        running = [threading.Thread(target=lambda: got.append(work.wait())) for _ in range(3)]
        for t in running:
            t.start()
        for t in running:
            t.join()
        assert got == [2 * comm.size] * 3, got
