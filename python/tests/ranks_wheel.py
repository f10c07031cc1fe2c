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


def ops() -> None:
    """What the table of the document says of ops and types holds."""
    with open(os.environ["DOCUMENT"]) as f:
        table = f.read().split("<!-- begin: ops -->")[1].split("<!-- end -->")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    rows = [line for line in lines if len(line) == 2]
    kinds = {name: types.split(", ") for name, types in rows if '"' not in name}
    said = {
        op.strip('"`'): {t for kind in types.split(", ") for t in kinds[kind]}
        for names, types in rows
        if '"' in names
        for op in names.split(", ")
    }
    found: dict[str, set[str]] = {op.name.lower(): set() for op in collgen.Op}
    with collgen.init(timeout=30) as comm:
        for op in collgen.Op:
            for t in collgen.Type:
                try:
                    comm.allreduce(bytearray(collgen._calls.BYTES[t]), op, dtype=t)
                except collgen.InvalidArgumentError:
                    continue
                found[op.name.lower()].add(t.name.lower())
    assert said == found, (said, found)
