"""Times calls of torch.distributed over Gloo and over collgen, in one run.

    python torch_calls.py [-ranks 2,4] [-max 64M] [-rounds 20] [call ...]

The groups take turns, so that what else the machine does hits all of them. A table has the medians in microseconds,
and the median over the rounds of Gloo's time through ours: above 1, collgen is faster.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

SIZES = [8, 64, 512, 4 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20]
GROUPS = ["gloo", "shm", "tcp"]


def calls(n: int, size: int) -> dict[str, Callable[[dist.ProcessGroup], None]]:
    """Returns the calls, with buffers of so many bytes: what a rank passes, or gets if that is more."""
    count = max(n // 4, 2)
    part = max(count // size, 1)
    x, whole = torch.ones(count), torch.ones(part * size)
    parts, mine, out = list(whole.clone().chunk(size)), torch.ones(part), torch.ones(part * size)
    apart = [torch.ones(part) for _ in range(size)]
    del parts
    many = [torch.ones(count) for _ in range(max(1, min(64, (4 << 20) // n)))]
    return {
        "all_reduce": lambda g: dist.all_reduce(x, group=g, op=dist.ReduceOp.MAX),
        "all_reduce_async": lambda g: dist.all_reduce(x, group=g, op=dist.ReduceOp.MAX, async_op=True).wait(),
        "all_gather": lambda g: dist.all_gather(apart, mine, group=g),
        "all_gather_into_tensor": lambda g: dist.all_gather_single(out, mine, group=g),
        "reduce_scatter": lambda g: dist.reduce_scatter(mine, apart, group=g, op=dist.ReduceOp.MAX),
        "reduce_scatter_tensor": lambda g: dist.reduce_scatter_single(mine, whole, group=g, op=dist.ReduceOp.MAX),
        "all_to_all_single": lambda g: dist.all_to_all_single(out, whole, group=g),
        "broadcast": lambda g: dist.broadcast(x, src=0, group=g),
        "send_recv": lambda g: there_and_back(x, g),
        "isend_irecv": lambda g: at_once(x, many, g),
        "barrier": lambda g: dist.barrier(group=g),
    }


def there_and_back(x: torch.Tensor, g: dist.ProcessGroup) -> None:
    """Each rank sends x to its neighbor, and receives as much. Of two neighbors, the even one sends first."""
    other = dist.get_rank() ^ 1
    for sends in (other % 2 == 1, other % 2 == 0):
        if sends:
            dist.send(x, other, group=g)
        else:
            dist.recv(x, other, group=g)


def at_once(x: torch.Tensor, many: list[torch.Tensor], g: dist.ProcessGroup) -> None:
    """Each rank sends its neighbor x as often as there are tensors to receive, with tags, and then waits for all."""
    other = dist.get_rank() ^ 1
    works = [dist.isend(x, other, group=g, tag=tag) for tag in range(len(many))]
    works += [dist.irecv(got, other, group=g, tag=tag) for tag, got in enumerate(many)]
    for work in works:
        work.wait()


def groups() -> list[dist.ProcessGroup]:
    """Returns Gloo's group, and one of ours for each transport."""
    made = [dist.new_group(backend="gloo")]
    for transport in GROUPS[1:]:
        os.environ["COLL_TRANSPORT"] = transport
        made.append(dist.new_group(backend="collgen"))
    return made


def once(f: Callable[[dist.ProcessGroup], None], g: dist.ProcessGroup, times: int) -> float:
    """Returns how many microseconds a call takes."""
    dist.barrier(group=g)
    start = time.perf_counter()
    for _ in range(times):
        f(g)
    return (time.perf_counter() - start) / times * 1e6


def measure(rank: int, size: int, file: str, args: argparse.Namespace) -> None:
    """Measures all calls among size ranks. Rank 0 prints."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=size)
    all_groups = groups()
    for name in args.calls or calls(8, size):
        if rank == 0:
            print(f"\n{name}, {size} ranks\n{'bytes':>10} {'gloo':>10} {'shm':>10} {'tcp':>10}  gloo/shm  gloo/tcp")
        for n in [s for s in SIZES if s <= args.max] if name != "barrier" else [8]:
            f = calls(n, size)[name]
            times = max(1, min(100, (1 << 20) // max(n, 1)))
            took: list[list[float]] = [[] for _ in all_groups]
            for _ in range(max(3, args.rounds if n <= 1 << 20 else args.rounds // 2)):
                for g, list_of in zip(all_groups, took, strict=True):
                    list_of.append(once(f, g, times))
            if rank == 0:
                ratios = [statistics.median(a / b for a, b in zip(took[0], t, strict=True)) for t in took[1:]]
                print(
                    f"{n:10}"
                    + "".join(f" {statistics.median(t):10.1f}" for t in took)
                    + "".join(f" {r:9.2f}" for r in ratios),
                    flush=True,
                )
    dist.destroy_process_group()


def number(text: str) -> int:
    """Returns a number of bytes, such as 64M."""
    return int(text[:-1]) << {"K": 10, "M": 20, "G": 30}[text[-1]] if text[-1] in "KMG" else int(text)


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-ranks", default="2,4")
    parser.add_argument("-max", type=number, default=64 << 20)
    parser.add_argument("-rounds", type=int, default=20)
    parser.add_argument("calls", nargs="*")
    args = parser.parse_args()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    for size in map(int, args.ranks.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(measure, args=(size, f"{folder}/meet", args), nprocs=size)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
