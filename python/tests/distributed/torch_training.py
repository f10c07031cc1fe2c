"""What ranks do in test_torch.py: what torch builds on its process groups."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functions
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel


def network() -> nn.Sequential:
    """Returns the network that all train."""
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5))


def batch(number: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns inputs and classes."""
    g = torch.Generator().manual_seed(number)
    return torch.randn(8, 20, generator=g), torch.randint(0, 5, (8,), generator=g)


def train(model: nn.Module, rank: int, steps: int = 5) -> nn.Module:
    """Trains on the batches of a rank."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        optimizer.zero_grad()
        x, y = batch(step * 10 + rank)
        cross_entropy(model(x), y).backward()
        optimizer.step()
    return model


def alone(size: int, steps: int = 5) -> nn.Module:
    """Returns the network that one process has trained on the batches of all ranks."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        optimizer.zero_grad()
        for rank in range(size):
            x, y = batch(step * 10 + rank)
            (cross_entropy(model(x), y) / size).backward()
        optimizer.step()
    return model


def close(got: Iterable[Any], want: Iterable[Any]) -> None:
    """Fails unless all tensors are nearly the same."""
    for g, w in zip(got, want, strict=True):
        torch.testing.assert_close(g, w, rtol=1e-4, atol=1e-5)


def ddp(rank: int, size: int, **options: Any) -> None:
    """DistributedDataParallel."""
    model = train(DistributedDataParallel(network(), **options), rank)
    close(model.parameters(), alone(size).parameters())


def small_buckets(rank: int, size: int) -> None:
    """The same with many buckets, views of them as gradients, and a search for what is not used."""
    ddp(rank, size, bucket_cap_mb=0.001, find_unused_parameters=True, gradient_as_bucket_view=True)


def hooks(rank: int, size: int) -> None:
    """Hooks that reduce the gradients of a bucket."""
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

    for hook in (default_hooks.allreduce_hook, default_hooks.bf16_compress_hook, default_hooks.fp16_compress_hook):
        model = DistributedDataParallel(network())
        model.register_comm_hook(None, hook)
        train(model, rank, 2)
    model = DistributedDataParallel(network())
    model.register_comm_hook(powerSGD_hook.PowerSGDState(None), powerSGD_hook.powerSGD_hook)
    train(model, rank, 2)
    model = DistributedDataParallel(network())  # whose callbacks make calls
    state = powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=2)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    train(model, rank, 6)
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    other = weights.clone()
    dist.broadcast(other, 0)
    assert torch.equal(weights, other)


def join(rank: int, size: int) -> None:
    """Ranks with inputs of different length. DDP drops works then, while memory is used again."""
    from torch.distributed.algorithms.join import Join

    for _ in range(10):
        model = DistributedDataParallel(network())
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with Join([model]):
            for step in range(3 + rank * 2):
                optimizer.zero_grad()
                x, y = batch(step)
                cross_entropy(model(x), y).backward()
                optimizer.step()
                for _ in range(50):
                    torch.randn(100)


def zero(rank: int, size: int) -> None:
    """ZeroRedundancyOptimizer gives what Adam gives."""
    from torch.distributed.optim import ZeroRedundancyOptimizer

    models = [DistributedDataParallel(network()) for _ in range(2)]
    optimizers: list[Any] = [
        ZeroRedundancyOptimizer(models[0].parameters(), optimizer_class=torch.optim.Adam, lr=0.01),
        torch.optim.Adam(models[1].parameters(), lr=0.01),
    ]
    for step in range(3):
        x, y = batch(step * 10 + rank)
        for model, optimizer in zip(models, optimizers, strict=True):
            optimizer.zero_grad()
            cross_entropy(model(x), y).backward()
            optimizer.step()
    close(models[0].parameters(), models[1].parameters())
    optimizers[0].consolidate_state_dict(0)


def fsdp2(rank: int, size: int) -> None:
    """fully_shard."""
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh("cpu", (size,))
    model = network()
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    train(fully_shard(model, mesh=mesh), rank)
    close([p.full_tensor() for p in model.parameters()], alone(size).parameters())


def dtensor(rank: int, size: int) -> None:
    """Products and redistributions of DTensors."""
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (size,))
    torch.manual_seed(0)
    a, b = torch.randn(12, 10), torch.randn(10, 8)
    x, y = distribute_tensor(a, mesh, [Shard(0)]), distribute_tensor(b, mesh, [Replicate()])
    z = distribute_tensor(a, mesh, [Shard(1)]) @ distribute_tensor(b, mesh, [Shard(0)])
    close(
        [
            (x @ y).full_tensor(),
            x.redistribute(mesh, [Shard(1)]).full_tensor(),
            z.full_tensor(),
            z.redistribute(mesh, [Shard(0)]).full_tensor(),
        ],
        [a @ b, a, a @ b, a @ b],
    )


def mesh(rank: int, size: int) -> None:
    """Tensor parallelism in one dimension of a mesh, and FSDP2 in the other."""
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    both = init_device_mesh("cpu", (size // 2, 2), mesh_dim_names=("data", "tensor"))
    model = network()
    parallelize_module(model, both["tensor"], {"0": ColwiseParallel(), "2": RowwiseParallel()})
    x, y = batch(rank // 2)
    close([model(x)], [network()(x)])
    fully_shard(model, mesh=both["data"])
    cross_entropy(model(x), y).backward()


def functional(rank: int, size: int) -> None:
    """The collectives that return new tensors."""
    everybody = list(range(size))
    x = torch.ones(4) * (rank + 1)
    close(
        [
            functions.all_reduce(x, "sum", everybody),
            functions.all_gather_tensor(x, 0, everybody),
            functions.reduce_scatter_tensor(torch.ones(size * 2), "sum", 0, everybody),
            functions.all_to_all_single(torch.full((size,), float(rank)), None, None, everybody),
            functions.broadcast(x, 1, everybody),
        ],
        [
            torch.full((4,), float(sum(range(1, size + 1)))),
            torch.arange(1.0, size + 1).repeat_interleave(4),
            torch.full((2,), float(size)),
            torch.arange(float(size)),
            torch.full((4,), 2.0),
        ],
    )
    close(functions.all_reduce_coalesced([x, x], "avg", everybody), [torch.full((4,), (size + 1) / 2)] * 2)
    close(
        functions.all_gather_into_tensor_coalesced([x, x], everybody),
        [torch.arange(1.0, size + 1).repeat_interleave(4)] * 2,
    )
    close(
        functions.reduce_scatter_tensor_coalesced([torch.ones(size)] * 2, "sum", [0, 0], everybody),
        [torch.full((1,), float(size))] * 2,
    )


def checkpoint(rank: int, size: int) -> None:
    """A checkpoint of a DTensor is written and read."""
    import torch.distributed.checkpoint as dcp
    from torch.distributed.tensor import Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (size,))
    with tempfile.TemporaryDirectory() as folder:
        where = [folder if rank == 0 else None]
        dist.broadcast_object_list(where)
        a = torch.arange(24.0).reshape(12, 2)
        dcp.save({"a": distribute_tensor(a, mesh, [Shard(0)]), "x": 5}, checkpoint_id=where[0])
        state: dict[str, Any] = {"a": distribute_tensor(torch.zeros(12, 2), mesh, [Shard(0)]), "x": 0}
        dcp.load(state, checkpoint_id=where[0])
        close([state["a"].full_tensor()], [a])
        assert state["x"] == 5
        dist.barrier()


def objects(rank: int, size: int) -> None:
    """Objects are collected, distributed and sent."""
    got: list[Any] = [None] * size
    dist.all_gather_object(got, ("x" * rank, rank))
    assert got == [("x" * r, r) for r in range(size)]
    got = [{"a": 1}, 2, 3] if rank == 1 else [None] * 3
    dist.broadcast_object_list(got, src=1)
    assert got == [{"a": 1}, 2, 3]
    got = [None]
    dist.scatter_object_list(got, [f"r{i}" * i for i in range(size)] if rank == 0 else None, src=0)
    assert got == [f"r{rank}" * rank]
    got = [None] * size
    dist.gather_object(rank * 2, got if rank == 0 else None, dst=0)
    assert rank > 0 or got == [2 * i for i in range(size)]
    if rank == 0:
        dist.send_object_list([{"x": 1}, "y"], 1)
    if rank == 1:
        got = [None, None]
        dist.recv_object_list(got, 0)
        assert got == [{"x": 1}, "y"]


def averager(rank: int, size: int) -> None:
    """Models are averaged now and then."""
    from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager

    model = network()
    with torch.no_grad():
        for p in model.parameters():
            p.fill_(rank)
            p.grad = torch.zeros_like(p)  # parameters without gradients are left as they are
    PeriodicModelAverager(period=1, warmup_steps=0).average_parameters(list(model.parameters()))
    close(model.parameters(), [torch.full_like(p, (size - 1) / 2) for p in model.parameters()])
