"""A rank for collgen conform that makes calls by the Python package: conform_adapter.py RANK SIZE FOLDER.

PLANT has it make a mistake, for a test of this test.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "verify" / "colltest" / "adapters")]

import collgen_conform  # noqa: E402

import collgen  # noqa: E402

batch: Any = None  # that calls are started in


class Done:
    """A call that is over."""

    def wait(self) -> None:
        pass


def function(name: str) -> Any:
    """Returns what makes calls of a collective."""
    call = collgen._calls.CALLS[name]

    def make(c: Any) -> Any:
        kwargs: dict[str, Any] = {}
        if call.dst.blocks or call.src.blocks:
            kwargs = {"x": c.input and c.input.bytes, "out": c.output and c.output.bytes, "dtype": c.type}
        if "op" in call.params:
            kwargs["op"] = c.op
        if "root" in call.params:
            kwargs["root"] = c.root
        full = name + "v" if c.uneven and not name.endswith("v") else name
        if full.endswith("v"):
            kwargs |= blocks_of(collgen._calls.CALLS[full], c)
            if c.in_place and full == "alltoallv":
                raise collgen_conform.Cannot("alltoallv is never in place")
        if os.environ.get("PLANT") and name == "allreduce" and c.op == "max":
            kwargs["op"] = "min"
        return made(c, full, kwargs)

    return make


def blocks_of(call: Any, c: Any) -> dict[str, Any]:
    """Returns the counts and displacements of a call."""
    first = c.input if call.src.uneven else c.output
    kwargs: dict[str, Any] = {"counts": (), "displs": None}  # where they are not used
    if first is not None:
        kwargs = {"counts": first.counts, "displs": first.starts}
    if call.src.uneven and call.dst.uneven:
        kwargs |= {"out_counts": c.output.counts, "out_displs": c.output.starts}
    return kwargs


def send(c: Any) -> Any:
    comm = c.comm or world
    if comm.rank == c.root:
        return made(c, "send", {"x": c.input.bytes, "dest": c.peer, "dtype": c.type})
    return made(c, "recv", {"out": c.output.bytes, "source": c.root, "dtype": c.type})


def made(c: Any, name: str, kwargs: dict[str, Any]) -> Any:
    """Makes a call, or starts it."""
    global batch
    comm = c.comm or world
    if c.how == "call":
        getattr(comm, name)(**kwargs)
        return Done()
    if c.batch and batch is None:
        batch = comm.batch()
        batch.__enter__()
    work = getattr(comm, "start_" + name)(**kwargs)
    if c.batch == 1:
        batch.__exit__(None, None, None)
        batch = None
    return work


rank, size, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
world = collgen.init(rank=rank, size=size, store="local", job=folder.replace("/", "-")[-60:])
forms = "apart in-place uneven displaced"
functions = {
    f"AllGatherV {forms}": "allgatherv",
    "AllToAllV apart uneven displaced": "alltoallv",
    f"GatherV {forms}": "gatherv",
    f"ReduceScatterV {forms}": "reduce_scatterv",
    f"ScatterV {forms}": "scatterv",
    f"AllGather {forms}": "allgather",
    "AllReduce apart in-place": "allreduce",
    f"AllToAll {forms}": "alltoall",
    "Barrier": "barrier",
    "Broadcast apart in-place": "broadcast",
    "Exscan apart in-place": "exscan",
    f"Gather {forms}": "gather",
    "Reduce apart in-place": "reduce",
    f"ReduceScatter {forms}": "reduce_scatter",
    "Scan apart in-place": "scan",
    f"Scatter {forms}": "scatter",
}
ranks: dict[str, Any] = {key: function(name) for key, name in functions.items()}
collgen_conform.serve(
    ranks | {"Send": send},
    rank=rank,
    size=size,
    name="the Python package",
    types=" ".join(t.name.lower() for t in collgen.Type),
    ops=" ".join(op.name.lower() for op in collgen.Op),
    values="overflow nan minus-zero",
    calls="start batch split",
    split=lambda color, key: world.split(-1 if color == "-" else int(color), key),
    free=lambda comm: comm.close(),
)
world.close()
