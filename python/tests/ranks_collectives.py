"""Ranks that compare every collective with NumPy."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from reference import cuts, fold

import collgen

SHAPES = [(1,), (3,), (2, 3), (0,), (257,), ()]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]


def data(rank: int, shape: Any, dtype: Any) -> Any:
    """Returns what a rank passes: small numbers, whose sums and products are exact."""
    n = int(np.prod(shape, dtype=int))
    return ((np.arange(n) * 7 + rank * 3) % 5 + 1).astype(dtype).reshape(shape)


def same(got: Any, want: Any) -> None:
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, got.shape, want.dtype, want.shape)
    assert got.tobytes() == want.tobytes(), (got, want)


def both(comm: collgen.Communicator, name: str, *args: Any, **options: Any) -> Any:
    """Makes a call, and starts the same: results are the same."""
    got = getattr(comm, name)(*args, **options)
    started = getattr(comm, "start_" + name)(*args, **options).wait()
    if got is not None:
        same(started, got)
    else:
        assert started is None
    return got


def plant() -> None:
    """Has the package make a mistake, so that the test that has to find it can be tested."""
    from collgen import _make, _quick

    mistake = os.environ.get("PLANT")
    if mistake == "op":
        _make._OPS["sum"] = collgen.Op.MAX
    elif mistake == "count":
        _quick._PLANS.clear()
        before = _make._count
        _make._count = lambda *args: max(0, before(*args) - 1)
    elif mistake == "root":
        before_passes = _make.passes
        _make.passes = lambda shape, rank, root: before_passes(shape, rank, 0 if shape.on == "root" else root)
    elif mistake == "copy":
        from collgen import _buffers

        _buffers.Buffer.result = lambda self: self.value.copy(order="F").T.copy()  # type: ignore[method-assign]


def everything() -> None:
    plant()
    with collgen.init(timeout=30) as comm:
        for shape in SHAPES:
            for dtype in ("float64", "int32"):
                reductions(comm, shape, dtype, "sum")
                moves(comm, shape, dtype)
        types(comm)
        for uneven in ([*range(comm.size)], [2] * comm.size, [0] * comm.size):
            blocks(comm, uneven)
        forms(comm)
        pairs(comm)
        comm.barrier()
        assert comm.start_barrier().wait() is None


def types(comm: collgen.Communicator) -> None:
    """All types with all ops that they have."""
    for dtype in INTEGERS + FLOATS + COMPLEX + ["bool"]:
        ops = {"land", "lor"} if dtype not in FLOATS + COMPLEX else set()
        if dtype in INTEGERS:
            ops |= {"band", "bor", "bxor"}
        if dtype != "bool":
            ops |= {"sum", "prod"}
        if dtype in INTEGERS + FLOATS:
            ops |= {"min", "max"}
        if dtype in FLOATS:
            ops.add("avg")
        for op in sorted(ops):
            xs = [data(q, (5,), dtype) for q in range(comm.size)]
            same(comm.allreduce(xs[comm.rank], op), fold(xs, op))
        moves(comm, (3,), dtype)
    moves(comm, (3,), "longlong")
    of_ml_dtypes(comm)


def of_ml_dtypes(comm: collgen.Communicator) -> None:
    try:
        import ml_dtypes
    except ImportError:
        return
    for dtype in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        xs = [data(q, (4,), dtype) for q in range(comm.size)]
        want = fold(xs, "max")
        same(both(comm, "allreduce", xs[comm.rank], "max"), want)
        same(comm.allreduce(xs[comm.rank], "sum", xs[comm.rank].copy()), fold(xs, "sum"))
        name = {"float8_e4m3fn": "float8e4m3", "float8_e5m2": "float8e5m2"}.get(np.dtype(dtype).name, "bfloat16")
        raw = xs[comm.rank].view(f"u{np.dtype(dtype).itemsize}")
        same(comm.allreduce(raw, "max", dtype=name), want.view(raw.dtype))


def reductions(comm: collgen.Communicator, shape: Any, dtype: str, op: str) -> None:
    rank, size = comm.rank, comm.size
    xs = [data(q, shape, dtype) for q in range(size)]
    mine, want = xs[rank], fold(xs, op)
    same(both(comm, "allreduce", mine, op), want)
    out = np.empty(shape, dtype)
    assert comm.allreduce(mine, op, out) is out
    same(out, want)
    for place in (True, False):
        out = mine.copy()
        same(comm.allreduce(out if place else None, op, out), want)
    same(both(comm, "scan", mine, op), fold(xs[: rank + 1], op))
    got = both(comm, "exscan", mine, op)
    if rank > 0:
        same(got, fold(xs[:rank], op))
    else:
        assert got is None
    for root in range(size):
        got = both(comm, "reduce", mine, op, root)
        if rank == root:
            same(got, want)
            out = mine.copy()
            same(comm.reduce(out, op, root, out), want)
        else:
            assert got is None and comm.reduce(mine, op, root) is None
    wholes = [data(q, (size, *shape), dtype) for q in range(size)]
    want = fold(wholes, op)[rank]
    same(both(comm, "reduce_scatter", wholes[rank], op), want)
    whole = wholes[rank].copy()
    if whole.size:
        comm.reduce_scatter(whole, op, whole.reshape(size, -1)[rank])
        same(whole[rank], want)


def moves(comm: collgen.Communicator, shape: Any, dtype: str) -> None:
    rank, size = comm.rank, comm.size
    xs = [data(q, shape, dtype) for q in range(size)]
    wholes = [data(q, (size, *shape), dtype) for q in range(size)]
    same(both(comm, "allgather", xs[rank]), np.stack(xs))
    out = np.zeros((size, *shape), dtype)
    out[rank] = xs[rank]
    same(comm.allgather(None, out), np.stack(xs))
    got = both(comm, "alltoall", wholes[rank])
    same(got, np.stack([w[rank] for w in wholes]))
    own = wholes[rank].copy()
    same(comm.alltoall(own, own), got)
    for root in range(size):
        own = xs[rank].copy()
        assert comm.broadcast(own, root) is own
        same(own, xs[root])
        own = xs[rank].copy()
        assert comm.start_broadcast(own, root).wait() is own
        same(own, xs[root])
        same(comm.broadcast(xs[rank] if rank == root else None, root, np.empty(shape, dtype)), xs[root])
        got = both(comm, "gather", xs[rank], root)
        if rank == root:
            same(got, np.stack(xs))
            out[...] = 0
            out[rank] = xs[rank]
        else:
            assert got is None
        comm.gather(None if rank == root else xs[rank], root, out if rank == root else None)
        if rank == root:
            same(out, np.stack(xs))
        got = comm.scatter(wholes[rank] if rank == root else None, root, np.empty(shape, dtype))
        same(got, wholes[root][rank])
        if rank == root:
            same(comm.scatter(wholes[rank], root), wholes[root][rank])
        else:
            comm.start_scatter(None, root, got).wait()
            same(got, wholes[root][rank])


def blocks(comm: collgen.Communicator, counts: list[int]) -> None:
    """Collectives of blocks that differ in length, by rank: counts."""
    rank, size, total = comm.rank, comm.size, sum(counts)
    xs = [data(q, (counts[q],), "int64") for q in range(size)]
    wholes = [data(q, (total,), "int64") for q in range(size)]
    flat = np.concatenate(xs)
    same(comm.allgatherv(xs[rank]), flat)
    same(both(comm, "allgatherv", xs[rank], counts), flat)
    starts = [1 + sum(counts[q + 1 :]) for q in range(size)]  # the other way round, behind a gap
    out = np.full(total + 2, -1)
    comm.allgatherv(xs[rank], counts, out, displs=starts)
    want = np.full(total + 2, -1)
    for q in range(size):
        want[starts[q] : starts[q] + counts[q]] = xs[q]
    same(out, want)
    same(both(comm, "reduce_scatterv", wholes[rank], counts), cuts(fold(wholes, "sum"), counts)[rank])
    for root in range(size):
        for got in (comm.gatherv(xs[rank], root=root), both(comm, "gatherv", xs[rank], counts, root)):
            if rank == root:
                same(got, flat)
            else:
                assert got is None
        room = np.empty(counts[rank], "int64")
        x, of = (wholes[rank], counts) if rank == root else (None, None)
        same(comm.scatterv(x, of, root, room), cuts(wholes[root], counts)[rank])
    sends = [[(counts[q] + p) % 4 for p in range(size)] for q in range(size)]  # from q to p
    inputs = [data(q, (sum(sends[q]),), "int64") for q in range(size)]
    want = np.concatenate([cuts(inputs[q], sends[q])[rank] for q in range(size)])
    same(comm.alltoallv(inputs[rank], sends[rank]), want)
    same(both(comm, "alltoallv", inputs[rank], sends[rank], out_counts=[sends[q][rank] for q in range(size)]), want)


def forms(comm: collgen.Communicator) -> None:
    """Arrays that are not contiguous, not writable or not aligned are copied, where they are read alone."""
    rank, size = comm.rank, comm.size
    xs = [data(q, (4, 6), "float32") for q in range(size)]
    want = fold(xs, "sum")
    same(both(comm, "allreduce", xs[rank][::2, ::3]), want[::2, ::3].copy())
    same(both(comm, "allreduce", xs[rank].T), want.T.copy())
    same(both(comm, "allreduce", np.asfortranarray(xs[rank])), want)
    fixed = xs[rank].copy()
    fixed.flags.writeable = False
    same(both(comm, "allreduce", fixed), want)
    odd = np.zeros(4 * 24 + 1, "uint8")[1:].view("float32").reshape(4, 6)
    odd[...] = xs[rank]
    same(both(comm, "allreduce", odd), want)
    same(both(comm, "allgather", np.float32(rank)), np.arange(size, dtype="float32"))


def pairs(comm: collgen.Communicator) -> None:
    rank, size = comm.rank, comm.size
    after, before = (rank + 1) % size, (rank - 1) % size
    mine, theirs = data(rank, (3, 2), "int32"), data(before, (3, 2), "int32")
    same(both(comm, "sendrecv", mine, after, before), theirs)
    own = mine.copy()
    assert comm.sendrecv(own, after, before, own) is own
    same(own, theirs)
    if size > 1:
        out = np.empty_like(mine)
        works = [comm.start_send(mine, after), comm.start_recv(out, before)]
        assert [w.wait() for w in works] == [None, out] or works[1].wait() is out
        same(out, theirs)
    if size > 1 and rank == 0:
        comm.send(mine, 1)
    if rank == 1:
        out = np.empty_like(mine)
        assert comm.recv(out, 0) is out
        same(out, data(0, (3, 2), "int32"))
