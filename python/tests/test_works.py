"""Works that are shared, dropped or cut off by signals, and what Ctrl-C leaves of init and close."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from jobs import Job, run
from test_signals import send


@pytest.mark.parametrize("function", ["cut", "shared", "droppers"])
def test_works(function: str) -> None:
    for e in run(f"ranks_works:{function}", 2):
        assert e.out == ""


@pytest.mark.parametrize("how", ["dropped", "closed", "stderr"])
def test_unheeded(how: str) -> None:
    for e in run("ranks_works:unheeded", 2, HOW=how):
        assert ("collgen: a started call" in e.out) == (how == "stderr"), e


def test_stores(tmp_path: Path) -> None:
    run("ranks_works:stores", 2, FOLDER=tmp_path)


def test_abandoned_init() -> None:
    job = Job("ranks_works:abandons", 2)
    job.until(0, "waits")
    send(job, signal.SIGINT)
    job.until(0, "interrupted")
    other = job.ranks[1].stdin
    assert other is not None
    other.write("\n")
    other.flush()
    job.until(1, "learned")
    assert [e.code for e in job.end()] == [0, 0]


def test_interrupted_close() -> None:
    job = Job("ranks_works:closes", 2, COLL_TRANSPORT="tcp")
    job.until(0, "waits")
    send(job, signal.SIGINT)
    job.until(0, "interrupted")
    assert [e.code for e in job.end()] == [0, 0]
