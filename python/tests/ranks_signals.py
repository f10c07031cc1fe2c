"""Ranks that wait in vain, until there is a signal."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable

import numpy as np

import collgen

WAITS: dict[str, Callable[[collgen.Communicator], object]] = {
    "call": lambda comm: comm.allreduce(np.ones(3)),
    "timeout": lambda comm: comm.allreduce(1, timeout=1000),
    "recv": lambda comm: comm.recv(np.ones(3), 1),
    "barrier": lambda comm: comm.barrier(),
    "wait": lambda comm: comm.start_allreduce(np.ones(3)).wait(),
    "limited": lambda comm: comm.start_allreduce(np.ones(3)).wait(1000),
    "any": lambda comm: collgen.wait_any([comm.start_allreduce(np.ones(3)), comm.start_allreduce(1)]),
    "split": lambda comm: comm.split(0),
    "shrink": lambda comm: comm.shrink(),
    "alloc": lambda comm: comm.alloc(3),
    "object": lambda comm: comm.broadcast_object(root=1),
}


def waits() -> None:
    """Rank 0 waits for rank 1, and ends by KeyboardInterrupt."""
    if os.environ["WAITS"] == "init":
        interrupted(lambda: collgen.init())
    comm = collgen.init(timeout=30)
    if comm.rank == 1:
        sys.stdin.read()
        comm.abort()
        return
    interrupted(lambda: WAITS[os.environ["WAITS"]](comm))


def interrupted(wait: Callable[[], object]) -> None:
    print("waits", flush=True)
    try:
        wait()
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(0)
    raise AssertionError("not interrupted")


def handled() -> None:
    """A handler that raises nothing ends no call: it is called during a wait with a limit, and after a call."""
    got = []
    signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
    comm = collgen.init(timeout=30)
    for in_call in (True, False):
        if comm.rank == 0:
            print("waits", flush=True)
            if in_call:
                assert comm.allreduce(1) == 2
            else:
                assert comm.start_allreduce(1).wait(1000) == 2
            assert got, "the handler was not called"
            got.clear()
        else:
            sys.stdin.readline()
            assert comm.allreduce(1) == 2
    comm.close()


def own() -> None:
    """A handler of the program's for SIGINT ends no call either."""
    got = []
    signal.signal(signal.SIGINT, lambda *_: got.append(1))
    comm = collgen.init(timeout=30)
    if comm.rank == 0:
        print("waits", flush=True)
        assert comm.allreduce(1) == 2 and got
    else:
        sys.stdin.readline()
        assert comm.allreduce(1) == 2
    comm.close()


def threads() -> None:
    """Calls in another thread do not keep the main thread from its signals."""
    comm = collgen.init(timeout=30)
    if comm.rank == 1:
        sys.stdin.read()
        comm.abort()
        return
    thread = threading.Thread(target=lambda: comm.allreduce(1), daemon=True)
    thread.start()
    interrupted(thread.join)
