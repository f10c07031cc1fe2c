"""Ranks that need nothing but the package."""

from __future__ import annotations

import os
import runpy
import sys

import collgen


def fresh() -> None:
    assert "numpy" not in sys.modules
    with collgen.init(timeout=30) as comm:
        assert comm.allreduce(comm.rank) == 1
        memory = comm.alloc(3, "int16")
        assert bytes(memory) == bytes(6)
        assert bytes(comm.broadcast(bytearray([comm.rank]), 1)) == b"\1"
        assert comm.broadcast_object("text" if comm.rank == 0 else None) == "text"
        assert comm.start_allgather(1.5 * comm.rank).wait() == [0, 1.5]
    print(collgen._lib.find())


def nowhere() -> None:
    try:
        collgen.init()
    except collgen.CollgenError as e:
        assert "none.so cannot be used" in str(e), e
    else:
        raise AssertionError("it was found")


def document() -> None:
    runpy.run_path(os.environ["FILE"], run_name="__main__")
