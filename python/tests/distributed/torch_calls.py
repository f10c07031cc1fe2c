"""What ranks do in test_torch.py: the collectives, against what they should give."""

from __future__ import annotations

import itertools
from functools import reduce
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e4m3fn, torch.float8_e5m2]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64]
MOVED = [*FLOATS, *INTEGERS, torch.bool, torch.float8_e4m3fnuz, torch.complex64, torch.complex128]
COUNTS = [0, 1, 7, 4099]


def values(rank: int, count: int, dtype: torch.dtype) -> torch.Tensor:
    """Returns small numbers that differ from rank to rank."""
    x = (torch.arange(count) * 7 + rank * 3) % 5
    return (x % 2).bool() if dtype == torch.bool else x.to(torch.float32).to(dtype)


def same(got: Any, want: Any) -> None:
    """Fails unless both are the same tensors, bit for bit."""
    if isinstance(got, torch.Tensor):
        if got.dtype.itemsize == 1 and got.dtype.is_floating_point:
            got, want = got.view(torch.uint8), want.view(torch.uint8)
        torch.testing.assert_close(got, want, rtol=0, atol=0)
        return
    assert len(got) == len(want)
    for g, w in zip(got, want):
        same(g, w)


def wait(work: Any, started: bool) -> None:
    """Waits for a call if it was started."""
    assert (work is not None) == started
    if started:
        assert work.wait()
        assert work.is_completed()
        assert work.is_success()


def reductions(rank: int, size: int) -> None:
    """all_reduce, reduce and the two reduce_scatter, with every op and type for which they have a meaning."""
    folds = {
        ReduceOp.SUM: torch.add,
        ReduceOp.PRODUCT: torch.mul,
        ReduceOp.MIN: torch.minimum,
        ReduceOp.MAX: torch.maximum,
        ReduceOp.BAND: torch.bitwise_and,
        ReduceOp.BOR: torch.bitwise_or,
        ReduceOp.BXOR: torch.bitwise_xor,
    }
    for dtype, (op, fold), count, started in itertools.product(
        [*FLOATS[:4], *INTEGERS[:5], torch.bool], folds.items(), COUNTS, (False, True)
    ):
        if dtype.is_floating_point and op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
            continue
        if dtype == torch.bool and fold in (torch.add, torch.mul):
            fold = torch.logical_or if fold is torch.add else torch.logical_and
        all_of = [values(r, count * size, dtype) for r in range(size)]
        want = reduce(fold, all_of)
        x = all_of[rank].clone()
        wait(dist.all_reduce(x, op, async_op=started), started)
        same(x, want)
        x = all_of[rank].clone()
        wait(dist.reduce(x, size - 1, op, async_op=started), started)
        same(x, want if rank == size - 1 else all_of[rank])
        out = torch.empty(count, dtype=dtype)
        wait(dist.reduce_scatter_single(out, all_of[rank], op, async_op=started), started)
        same(out, want[rank * count : (rank + 1) * count])
        out = torch.empty(count, dtype=dtype)
        wait(
            dist.reduce_scatter(
                out,
                list(all_of[rank].split(max(count, 1)))[:size] if count else [out.clone()] * size,
                op,
                async_op=started,
            ),
            started,
        )
        same(out, want[rank * count : (rank + 1) * count])


def averages(rank: int, size: int) -> None:
    """AVG and PREMUL_SUM."""
    for dtype, started in itertools.product(FLOATS[2:4], (False, True)):
        x = torch.full((9,), float(rank), dtype=dtype)
        wait(dist.all_reduce(x, ReduceOp.AVG, async_op=started), started)
        same(x, torch.full((9,), (size - 1) / 2, dtype=dtype))
        for factor in (0.5 * (rank + 1), torch.tensor(0.5 * (rank + 1))):
            op = dist._make_nccl_premul_sum(factor)
            want = torch.full((9,), 0.5 * sum(range(1, size + 1)), dtype=dtype)
            x = torch.ones(9, dtype=dtype)
            wait(dist.all_reduce(x, op, async_op=started), started)
            same(x, want)
            x = torch.ones(9, dtype=dtype)
            wait(dist.reduce(x, 0, op, async_op=started), started)
            same(x, want if rank == 0 else torch.ones(9, dtype=dtype))
            parts = [torch.ones(9, dtype=dtype) for _ in range(size)]
            wait(dist.reduce_scatter(x, parts, op, async_op=started), started)
            same(x, want)


def moves(rank: int, size: int) -> None:
    """The collectives that move elements of any type."""
    for dtype, count, started in itertools.product(MOVED, COUNTS, (False, True)):
        of = [values(r, count, dtype) for r in range(size)]
        apart = [torch.empty(count, dtype=dtype) for _ in range(size)]
        whole = torch.empty(count * size, dtype=dtype)
        wait(dist.all_gather(apart, of[rank], async_op=started), started)
        same(apart, of)
        wait(dist.all_gather_single(whole, of[rank], async_op=started), started)
        same(list(whole.split(max(count, 1)))[:size] if count else apart, of)
        for root in (0, size - 1):
            x = of[rank].clone()
            wait(dist.broadcast(x, root, async_op=started), started)
            same(x, of[root])
            apart = [torch.empty(count, dtype=dtype) for _ in range(size)]
            wait(dist.gather(of[rank], apart if rank == root else None, root, async_op=started), started)
            if rank == root:
                same(apart, of)
            x = torch.empty(count, dtype=dtype)
            wait(dist.scatter(x, of if rank == root else None, root, async_op=started), started)
            same(x, of[rank])
        apart = [torch.empty(count, dtype=dtype) for _ in range(size)]
        wait(dist.all_to_all(apart, [of[rank]] * size, async_op=started), started)
        same(apart, of)
        wait(dist.all_to_all_single(whole, torch.cat([of[rank]] * size), async_op=started), started)
        same(list(whole.split(max(count, 1)))[:size] if count else apart, of)


def uneven(rank: int, size: int) -> None:
    """Blocks that differ in length, also of lists, and parts along the first dimension."""
    for started in (False, True):
        to = [rank + r + 1 for r in range(size)]
        out = torch.empty(sum(to), 3)
        into = torch.cat([torch.full((n, 3), float(rank * 10 + r)) for r, n in enumerate(to)])
        wait(dist.all_to_all_single(out, into, to, to, async_op=started), started)
        same(out, torch.cat([torch.full((n, 3), float(r * 10 + rank)) for r, n in enumerate(to)]))
        ins = [torch.full((r + 1,), float(rank)) for r in range(size)]
        outs = [torch.empty(rank + 1) for _ in range(size)]
        wait(dist.all_to_all(outs, ins, async_op=started), started)
        same(outs, [torch.full((rank + 1,), float(r)) for r in range(size)])
        outs = [torch.empty(r) for r in range(size)]
        wait(dist.all_gather(outs, torch.full((rank,), float(rank)), async_op=started), started)
        same(outs, [torch.full((r,), float(r)) for r in range(size)])
        out = torch.empty(rank + 2)
        wait(dist.reduce_scatter(out, [torch.ones(r + 2) for r in range(size)], async_op=started), started)
        same(out, torch.full((rank + 2,), float(size)))


def scattered(rank: int, size: int) -> None:
    """Tensors that lie anywhere: between each other, within each other, and in pieces."""
    total = float(sum(range(size)))
    for started in (False, True):
        memory = torch.zeros(4 * size + 4)
        outs = [memory[4 * r : 4 * r + 2] for r in range(size)]
        own = memory[4 * size - 2 : 4 * size].fill_(rank)
        wait(dist.all_gather(outs, own, async_op=started), started)
        same(outs, [torch.full((2,), float(r)) for r in range(size)])
        outs[rank].fill_(rank)
        wait(dist.all_gather(outs, outs[rank], async_op=started), started)  # in place
        same(outs, [torch.full((2,), float(r)) for r in range(size)])
        parts = [torch.full((3,), float(rank)) for _ in range(size)]
        wait(dist.reduce_scatter(parts[rank], parts, async_op=started), started)  # in place
        same(parts[rank], torch.full((3,), total))

        table = torch.full((6, 4), float(rank))
        wait(dist.all_reduce(table.t()[::2], async_op=started), started)
        want = torch.full((6, 4), float(rank))
        want[:, ::2] = total
        same(table, want)
        table = torch.zeros(5, 3)
        wait(dist.broadcast(table[:, 1].fill_(rank), 1, async_op=started), started)
        want = torch.zeros(5, 3)
        want[:, 1] = 1
        same(table, want)
        columns = torch.zeros(4, size)
        wait(dist.all_gather(list(columns.unbind(1)), torch.full((4,), float(rank)), async_op=started), started)
        same(columns, torch.arange(size).float().expand(4, size).clone())
        negative = torch.tensor([complex(0, rank)]).conj().imag
        assert negative.is_neg()
        wait(dist.all_reduce(negative, async_op=started), started)
        same(negative.resolve_neg(), torch.tensor([-total]))


def refused(rank: int, size: int) -> None:
    """What is refused is refused before anything is sent: the group goes on."""
    wrong = [
        lambda: dist.all_reduce(torch.ones(1).expand(3)),
        lambda: dist.all_reduce(torch.ones(2), ReduceOp.BAND),
        lambda: dist.all_reduce(torch.ones(2, dtype=torch.bool), ReduceOp.AVG),
        lambda: dist.all_reduce(torch.ones(2, device="meta")),
        lambda: dist.all_gather([torch.ones(2)] * (size + 1), torch.ones(2)),
        lambda: dist.all_gather_single(torch.ones(2 * size + 1), torch.ones(2)),
        lambda: dist.all_gather_single(torch.ones(2 * size), torch.ones(2, dtype=torch.float64)),
        lambda: dist.reduce_scatter_single(torch.ones(2), torch.ones(2 * size - 1)),
        lambda: dist.all_to_all_single(torch.ones(size), torch.ones(size), [1] * (size + 1)),
        lambda: dist.all_to_all_single(torch.ones(size, 2), torch.ones(2, size).t()),
        lambda: dist.broadcast(torch.ones(2).to_sparse(), 0),
        lambda: dist.broadcast(torch.ones(1).expand(3), 0),
        lambda: dist.reduce(torch.ones(1).expand(3), 0),
        lambda: dist.all_reduce(torch.arange(6.0).as_strided((3, 2), (1, 1))),
        lambda: dist.broadcast(torch.arange(6.0).as_strided((3, 2), (1, 1)), 1),
        lambda: dist.scatter(torch.arange(6.0).as_strided((3, 2), (1, 1)), None, size - 1),
        lambda: dist.isend(torch.ones(1), (rank + 1) % size, tag=2**32 + 7),
        lambda: dist.irecv(torch.ones(1), (rank + 1) % size, tag=2**32 + 7),
    ]
    for call in wrong:
        try:
            call()
        except (ValueError, RuntimeError, TypeError):
            pass
        else:
            raise AssertionError("it was not refused")
    x = torch.ones(2)
    dist.all_reduce(x)
    same(x, torch.full((2,), float(size)))


def sparse(rank: int, size: int) -> None:
    """The sum of sparse tensors."""
    for started in (False, True):
        x = torch.sparse_coo_tensor([[rank, size]], [1.0, float(rank)], (size + 1,))
        wait(dist.all_reduce(x, async_op=started), started)
        same(x.to_dense(), torch.tensor([1.0] * size + [float(sum(range(size)))]))


def coalesced(rank: int, size: int) -> None:
    """Several collectives in one call."""
    for started in (False, True):
        xs = [torch.full((n,), float(rank)) for n in (1, 5, 0, 3)]
        with dist._coalescing_manager(async_ops=started) as calls:
            for x in xs:
                dist.all_reduce(x)
        calls.wait()
        same(xs, [torch.full((n,), float(sum(range(size)))) for n in (1, 5, 0, 3)])
        outs = [torch.empty(2 * size), torch.empty(size)]
        with dist._coalescing_manager(async_ops=started) as calls:
            for out in outs:
                dist.all_gather_single(out, torch.full((out.numel() // size,), float(rank)))
        calls.wait()
        same(outs, [torch.arange(size).float().repeat_interleave(n) for n in (2, 1)])


def futures(rank: int, size: int) -> None:
    """Futures have the tensors, and call what follows."""
    x = torch.ones(3)
    follows = dist.all_reduce(x, async_op=True).get_future().then(lambda f: f.value()[0] * 2)
    same(follows.wait(), torch.full((3,), 2.0 * size))
    group = dist.group.WORLD
    assert group is not None
    work = group.allreduce(torch.ones(1), ReduceOp.MAX)
    assert work.wait()
    same(work.result(), [torch.ones(1)])
    work = group.broadcast(torch.tensor([rank]), 1)
    assert work.wait()
    assert work.exception() is None
    same(work.result(), [torch.tensor([1])])
