"""Runs functions of the tests' modules as the ranks of a job, each in a process of its own."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PATIENCE = 120  # seconds after which a rank is killed, which no test waits for

# What starts the tests may ignore SIGINT, as a shell does for what it has in the background.
HEEDS = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"

_jobs = itertools.count()


class Ended(NamedTuple):
    """How a rank has ended."""

    code: int
    out: str


class Job:
    """Processes that run a function without arguments, such as "ranks_errors:mismatch"."""

    def __init__(self, function: str, size: int, **variables: Any) -> None:
        name = f"python-{os.getpid()}-{next(_jobs)}"
        env = {k: v for k, v in os.environ.items() if not k.startswith("COLL_")}
        paths = [str(HERE), str(variables.pop("package", HERE.parent)), env.get("PYTHONPATH", "")]
        env |= {"PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTHONUNBUFFERED": "1"}
        env |= {"COLL_SIZE": str(size), "COLL_STORE": "local", "COLL_JOB": name, "COLL_TRANSPORT": "shm"}
        python = variables.pop("python", sys.executable)
        env |= {k: str(v) for k, v in variables.items()}
        module, _, call = function.partition(":")
        self.ranks = [
            subprocess.Popen(
                [python, "-c", f"{HEEDS}; import {module}; {module}.{call}()"],
                env=env | {"COLL_RANK": str(rank)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for rank in range(size)
        ]

    def until(self, rank: int, line: str) -> None:
        """Waits until a rank prints a line."""
        out = self.ranks[rank].stdout
        assert out is not None
        before = []
        late = threading.Timer(PATIENCE, self.kill)
        late.start()
        try:
            for text in out:
                if text.strip() == line:
                    return
                before.append(text)
        finally:
            late.cancel()
        raise AssertionError(f"rank {rank} has not printed {line!r}, but {''.join(before)}")

    def kill(self) -> None:
        """Kills all ranks."""
        for rank in self.ranks:
            rank.kill()

    def end(self) -> list[Ended]:
        """Waits for all ranks."""
        ended = []
        for rank in self.ranks:
            try:
                out, _ = rank.communicate(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                rank.kill()
                out = rank.communicate()[0] + "\nkilled: it does not end"
            ended.append(Ended(rank.returncode, out))
        return ended


def run(function: str, size: int, **variables: Any) -> list[Ended]:
    """Runs a job, all of whose ranks have to end without an error."""
    ended = Job(function, size, **variables).end()
    for rank, e in enumerate(ended):
        assert e.code == 0, f"rank {rank} has ended with {e.code}:\n{e.out}"
    return ended


def rank_and_size() -> tuple[int, int]:
    """Returns what the job says of this process."""
    return int(os.environ["COLL_RANK"]), int(os.environ["COLL_SIZE"])
