"""Times steps of training over Gloo and over collgen, in one run: by DDP, and by an all-reduce for each gradient.

    python torch_steps.py [-ranks 2,4] [-rounds 20] [-threads 1]

A step computes: forward, backward, and the optimizer. The groups take turns. A table has the medians in milliseconds,
and the median over the rounds of Gloo's time through ours: above 1, collgen is faster.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch_calls import GROUPS, groups

# The width of four layers, by about how many parameters they have.
WIDTHS = {"4 K": 32, "1 M": 512, "6 M": 1250}


def network(width: int) -> nn.Sequential:
    """Returns four layers."""
    torch.manual_seed(0)
    return nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(width, width), nn.ReLU())))


def by_ddp(width: int, group: dist.ProcessGroup) -> Callable[[], None]:
    """Returns a step by DistributedDataParallel."""
    model = DistributedDataParallel(network(width), process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(16, width)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def by_gradient(width: int, group: dist.ProcessGroup) -> Callable[[], None]:
    """Returns a step that makes an all-reduce for each gradient."""
    model = network(width)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, size = torch.randn(16, width), dist.get_world_size(group)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        for p in model.parameters():
            dist.all_reduce(p.grad, group=group)
            p.grad /= size
        optimizer.step()

    return step


def measure(rank: int, size: int, file: str, args: argparse.Namespace) -> None:
    """Measures all steps among size ranks. Rank 0 prints."""
    torch.set_num_threads(args.threads)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=size)
    all_groups = groups()
    head = f"{size} ranks, {args.threads} threads each"
    for name, make in (("DDP", by_ddp), ("all-reduce for each gradient", by_gradient)):
        if rank == 0:
            print(f"\n{name}, {head}\n{'parameters':>10} {'gloo':>9} {'shm':>9} {'tcp':>9}  gloo/shm  gloo/tcp")
        for label, width in WIDTHS.items():
            steps = [make(width, g) for g in all_groups]
            took: list[list[float]] = [[] for _ in GROUPS]
            times = max(1, 20000 // width // 10)
            for round in range(args.rounds + 1):
                for group, step, list_of in zip(all_groups, steps, took, strict=True):
                    dist.barrier(group=group)
                    start = time.perf_counter()
                    for _ in range(times):
                        step()
                    if round > 0:  # the first one builds buckets
                        list_of.append((time.perf_counter() - start) / times * 1e3)
            if rank == 0:
                ratios = [statistics.median(a / b for a, b in zip(took[0], t, strict=True)) for t in took[1:]]
                medians = "".join(f" {statistics.median(t):9.2f}" for t in took)
                print(f"{label:>10}{medians}" + "".join(f" {r:9.2f}" for r in ratios), flush=True)
    dist.destroy_process_group()


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-ranks", default="2,4")
    parser.add_argument("-rounds", type=int, default=20)
    parser.add_argument("-threads", type=int, default=1)
    args = parser.parse_args()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    for size in map(int, args.ranks.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(measure, args=(size, f"{folder}/meet", args), nprocs=size)


if __name__ == "__main__":
    main()
