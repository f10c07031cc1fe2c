"""Ctrl-C ends whatever waits. Other handlers are called, and end nothing."""

from __future__ import annotations

import os
import signal
import time

import pytest
import ranks_signals
from jobs import Job


def send(job: Job, number: int) -> None:
    """Sends a signal to rank 0 when all of its threads are asleep: it has just printed that it waits."""
    pid = job.ranks[0].pid
    while job.ranks[0].poll() is None and any(state(pid, t) != "S" for t in os.listdir(f"/proc/{pid}/task")):
        time.sleep(0.01)
    os.kill(pid, number)


def state(pid: int, thread: str) -> str:
    """Returns whether a thread is asleep, "S", or in another state."""
    try:
        with open(f"/proc/{pid}/task/{thread}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "gone"


@pytest.mark.parametrize("waits", ["init", *ranks_signals.WAITS])
def test_interrupt(waits: str) -> None:
    job = Job("ranks_signals:waits", 1 if waits == "init" else 2, WAITS=waits, COLL_SIZE=2)
    job.until(0, "waits")
    send(job, signal.SIGINT)
    job.until(0, "interrupted")
    first, *_ = job.end()
    assert first.code == 0, first


def test_interrupt_with_threads() -> None:
    job = Job("ranks_signals:threads", 2)
    job.until(0, "waits")
    send(job, signal.SIGINT)
    job.until(0, "interrupted")
    assert job.end()[0].code == 0


@pytest.mark.parametrize("function, number, times", [("handled", signal.SIGUSR1, 2), ("own", signal.SIGINT, 1)])
def test_other_handlers(function: str, number: int, times: int) -> None:
    job = Job(f"ranks_signals:{function}", 2)
    for _ in range(times):
        job.until(0, "waits")
        send(job, number)
        other = job.ranks[1].stdin
        assert other is not None
        other.write("\n")
        other.flush()
    assert [e.code for e in job.end()] == [0, 0]
