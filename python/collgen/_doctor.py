"""What a program would find here: python -m collgen doctor."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from typing import TextIO

from . import _lib
from ._errors import CollgenError

# What begins the names of variables by which launchers tell a process its rank.
_LAUNCHERS = ("COLL_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_", "OMPI_COMM_WORLD_", "PMI_", "SLURM_PROCID")

# A rank of the test.
_RANK = """
import collgen
with collgen.init(timeout=20) as comm:
    got = comm.allreduce(comm.rank + 1, timeout=20)
    assert got == 3, got
    print(comm.topology()["transport"])
"""


def doctor(out: TextIO) -> int:
    """Prints what there is, and returns 0 if calls work."""
    failed = False
    for name, value in _facts():
        print(f"{name:<12} {value}", file=out)
    for transport in ("shm", "tcp"):
        told, ok = _try(transport)
        failed |= not ok
        print(f"{transport:<12} {told}", file=out)
    return 1 if failed else 0


def _facts() -> Iterator[tuple[str, str]]:
    yield "python", f"{platform.python_version()}, {sys.executable}"
    yield "system", f"{platform.system()} {platform.release()}, {platform.machine()}, {' '.join(platform.libc_ver())}"
    yield "package", f"{_version('collgen')}, {os.path.dirname(__file__)}"
    try:
        path = _lib.find()
        yield "library", f"{_lib.load().collgen_version().decode()}, {path}"
    except CollgenError as e:
        yield "library", f"none: {e}"
    for name in ("numpy", "ml_dtypes", "torch"):
        yield name, _version(name)
    yield "processors", f"{len(os.sched_getaffinity(0))} of {os.cpu_count()}, {_processor()}"
    try:
        total, _, free = shutil.disk_usage("/dev/shm")
        yield "/dev/shm", f"{free >> 20} MiB free of {total >> 20}"
    except OSError as e:
        yield "/dev/shm", f"none: {e}"
    found = sorted(name for name in os.environ if name.startswith(_LAUNCHERS))
    yield "variables", " ".join(f"{name}={os.environ[name]}" for name in found) or "none of a launcher"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "of a checkout" if importlib.util.find_spec(name) else "not installed"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    except OSError:
        return "unknown"


def _try(transport: str) -> tuple[str, bool]:
    """Makes a call between two processes, and returns what came of it."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(_LAUNCHERS)}
    job = {"COLL_SIZE": "2", "COLL_STORE": "local", "COLL_JOB": f"doctor-{uuid.uuid4()}", "COLL_TRANSPORT": transport}
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    job["PYTHONPATH"] = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH", "")]))
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", _RANK],
            env={**inherited, **job, "COLL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    told = []
    for rank in ranks:
        try:
            told.append(rank.communicate(timeout=60)[0])
        except subprocess.TimeoutExpired:
            rank.kill()
            told.append(rank.communicate()[0] + "it does not end")
    for rank, text in zip(ranks, told):
        if rank.returncode != 0:
            return f"does not work: {text.strip().splitlines()[-1] if text.strip() else rank.returncode}", False
    return "works between two processes", True
