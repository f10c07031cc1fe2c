"""Ranks whose waits are cut off, shared by threads, or left out."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from ranks_errors import raises

import collgen


class Cut(Exception):
    """What the handler raises."""


def _cut(*_: object) -> None:
    raise Cut


def cut() -> None:
    """An exception of a signal handler, when the library is about to say how a call went, loses no result."""
    collgen._work.SLICE = 60  # no wait ends before the call
    signal.signal(signal.SIGUSR1, _cut)
    waits: list[Callable[[collgen.Work], object]] = [
        lambda w: w.wait(),
        lambda w: w.wait(60),
        lambda w: collgen.wait_any([w, w]),
    ]
    again: list[Callable[[collgen.Work], object]] = [
        lambda w: w.wait(),
        lambda w: w.wait(60),
        lambda w: w.test() and w.wait(),
        lambda w: w.wait() if collgen.wait_any([w]) == 0 else None,
    ]
    with collgen.init(timeout=30) as comm, comm.split(0) as side:
        for wait in waits:
            for next_wait in again:
                got = _cut_off(comm, side, 3, wait, next_wait)
                assert got.tolist() == [comm.size] * 3, got
        with raises(collgen.MismatchError):
            _cut_off(comm, side, 3 + comm.rank, lambda w: w.wait(), lambda w: w.wait())


def _cut_off(comm: collgen.Communicator, side: collgen.Communicator, n: int, wait: Any, again: Any) -> Any:
    """Makes a call that ends while rank 0 is in wait and has got a signal. Returns what again returns."""
    if comm.rank > 0:
        side.barrier()
        return comm.allreduce(np.ones(n))
    main = threading.get_ident()

    def signals() -> None:
        while sys._current_frames()[main].f_code.co_name not in ("noted", "_guarded", "_waited", "wait_any"):
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGUSR1)
        side.barrier()

    work = comm.start_allreduce(np.ones(n))
    thread = threading.Thread(target=signals)
    thread.start()
    with raises(Cut):
        wait(work)
    thread.join()
    try:
        return again(work)
    finally:
        assert work.peek()


def shared() -> None:
    """Several threads wait for the same works, in several ways. Each gets all results."""
    failures: list[BaseException] = []
    with collgen.init(timeout=30) as comm:

        def waits(works: list[collgen.Work], i: int) -> None:
            try:
                left = list(works)
                while left and i > 0:
                    over = left.pop(collgen.wait_any(left, timeout=60))
                    assert over.peek() and over.test()
                    over.wait()
                for k, w in reversed(list(enumerate(works))):
                    assert (w.wait(60) == k * comm.size).all()
            except BaseException as e:
                failures.append(e)

        for _ in range(100):
            works = [comm.start_allreduce(np.full(1000, k)) for k in range(4)]
            threads = [threading.Thread(target=waits, args=(works, i)) for i in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            assert not failures, failures


def droppers() -> None:
    """Threads drop works without waiting while others start some."""
    sys.setswitchinterval(1e-6)
    failures: list[BaseException] = []
    with collgen.init(timeout=60) as comm:

        def drops() -> None:
            try:
                for _ in range(1000):
                    comm.start_allreduce(1)
            except BaseException as e:
                failures.append(e)

        threads = [threading.Thread(target=drops) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failures, failures[:3]
        assert comm.allreduce(1) == comm.size


def unheeded() -> None:
    """The failure of a call that nobody waits for is in the log: when its work is dropped, and at close."""
    how = os.environ["HOW"]
    told: list[str] = []
    comm = collgen.init(timeout=30, log=(lambda _, text: told.append(text)) if how != "stderr" else None)
    canceled: Any = [comm.start_message_recv(np.ones(1), collgen.ANY, 9) for _ in range(2)]
    assert all(w.cancel() for w in canceled)
    canceled.pop()  # what the program itself has ended is nothing to be told of, neither here nor at close
    work: Any = comm.start_allreduce(np.ones(2 + comm.rank))
    if how == "dropped":
        while not work.peek():
            time.sleep(0.001)
        del work
        with raises(collgen.CollgenError):
            comm.start_allreduce(1).wait()
        own = [text for text in told if "nobody waits for it" in text]
        assert len(own) == 1 and "count is" in own[0] and "CANCELED" not in "".join(told), told
        comm.abort()
    else:
        while not work.peek():
            time.sleep(0.001)
    comm.close()
    if how == "closed":
        own = [text for text in told if "a started call that nobody has waited for failed: MISMATCH" in text]
        assert len(own) == 1 and "CANCELED" not in "".join(told), told


class Answering:
    """A store whose methods return what they like."""

    def __init__(self, store: Any) -> None:
        self.store = store

    def set(self, key: str, value: bytes) -> Any:
        self.store.set(key, value)
        return ["OK"]

    def get(self, key: str, timeout: float) -> Any:
        got = self.store.get(key, timeout)
        return None if got is None else bytearray(got)

    def delete(self, key: str) -> Any:
        self.store.delete(key)
        return True


def stores() -> None:
    """What a store's methods return does not count but for get's; all that they raise fails init."""
    from ranks_groups import Files

    files = Files(os.environ["FOLDER"])
    with collgen.init(store=Answering(files), secret=bytes(range(32))) as comm:
        assert comm.allreduce(1) == comm.size

    class Leaving(Files):
        kind: type[BaseException]

        def get(self, key: str, timeout: float) -> bytes | None:
            raise self.kind("mine")

    for kind in (SystemExit, KeyboardInterrupt, GeneratorExit):
        leaving = Leaving(files.folder)
        leaving.kind = kind
        with raises(collgen.CollgenError, "") as caught:
            collgen.init(store=leaving, secret=bytes([2] * 32), timeout=5)
        assert type(caught[0].__cause__) is kind, caught


def abandons() -> None:
    """Ctrl-C ends the init of rank 0. When the job forms all the same, rank 1 learns that nobody is there."""
    if os.environ["COLL_RANK"] == "0":
        print("waits", flush=True)
        try:
            collgen.init()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        sys.stdin.read()
        assert not [c for c in collgen._raw.open_communicators() if not c.closed]
        return
    sys.stdin.readline()
    with raises(collgen.CollgenError) as caught:
        collgen.init(timeout=60).allreduce(1)
    assert isinstance(caught[0], collgen.PeerError) and caught[0].ranks == (0,), (caught, vars(caught[0]))
    print("learned", flush=True)


def closes() -> None:
    """Ctrl-C ends the close of rank 0, whose data rank 1 has no room for."""
    comm = collgen.init(timeout=30)
    if comm.rank == 1:
        sys.stdin.read()
        comm.abort()
        return
    for _ in range(30):
        comm.start_send(np.ones(100_000), 1)
    print("waits", flush=True)
    try:
        comm.close()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
