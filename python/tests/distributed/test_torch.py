"""The backend of torch.distributed, over shared memory and TCP. The rest is in torch_calls.py and the others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("collgen.torch")

from torch_jobs import run  # noqa: E402

CALLS = ["reductions", "averages", "moves", "uneven", "scattered", "refused", "sparse", "coalesced", "futures"]
LIFE = [
    "messages",
    "many_tags",
    "groups",
    "again",
    "dropped",
    "outstanding",
    "many",
    "threads",
    "timeout",
    "mismatch",
    "monitored",
    "aborted",
    "killed",
    "raises",
    "leaves",
    "waits_briefly",
    "interrupted",
    "forks",
    "secret",
    "killed_later",
    "killed_in_group",
    "destroyed",
    "callbacks",
    "cut",
]
TRAINING = [
    "ddp",
    "small_buckets",
    "hooks",
    "join",
    "zero",
    "fsdp2",
    "dtensor",
    "mesh",
    "functional",
    "checkpoint",
    "objects",
    "averager",
]


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_calls(transport: str) -> None:
    """Collectives give what they should."""
    run("torch_calls", ",".join(CALLS), 3, COLL_TRANSPORT=transport)


@pytest.mark.parametrize("function", LIFE)
def test_life(function: str) -> None:
    """Groups, messages, lifetimes and errors."""
    run("torch_life", function, 3)


def test_stopped() -> None:
    """A rank that is stopped, and found sooner than it is by default."""
    run("torch_life", "stopped_later", 3, COLL_HEARTBEAT_TIMEOUT="2s")


def test_training() -> None:
    """What torch builds on its process groups."""
    run("torch_training", ",".join(TRAINING), 4)


EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "torch"


@pytest.mark.parametrize(
    ("name", "last"),
    [
        (
            "all_gather",
            ["after all_gather: [tensor([1., 1.]), tensor([2., 2.]), tensor([3., 3.]), tensor([4., 4.])]"] * 4,
        ),
        ("all_reduce", ["after all_reduce: tensor([10., 10., 10., 10., 10., 10., 10., 10.])"] * 4),
        (
            "reduce",
            [
                "after reduce: tensor([10., 10., 10., 10., 10., 10., 10., 10.])",
                *[
                    f"Rank {r} remains unchanged after reduce: tensor({[float(r + 1)] * 8})".replace(".0", ".")
                    for r in range(1, 4)
                ],
            ],
        ),
        ("reduce_scatter", ["after reduce_scatter: tensor([10., 10.])"] * 4),
        ("average_gradients", ["epoch  9"] * 4),
    ],
)
def test_program(name: str, last: list[str]) -> None:
    """The programs of the tutorials print what they should."""
    out = _output([sys.executable, f"{name}.py"])
    for line in set(last):
        assert out.count(line) == last.count(line), out


@pytest.mark.parametrize("name", ["ddp", "fsdp2"])
def test_trains(name: str) -> None:
    """torchrun starts the programs that train, which fail unless they learn."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "4"]
    assert "epoch 9" in _output([*torchrun, f"{name}.py"])


def _output(command: list[str]) -> str:
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    variables = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    variables["PYTHONUNBUFFERED"] = ""  # or ranks write parts of lines in turn
    done = subprocess.run(
        command, cwd=EXAMPLES, env=os.environ | variables, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
