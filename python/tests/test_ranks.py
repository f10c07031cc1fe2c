"""Lifetimes, forks and threads; communicators, batches, objects, buffers, tickets and stores."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from jobs import Job, run


@pytest.mark.parametrize("function", ["dropped", "kept", "closed", "unclosed", "forks_after", "threads"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_life(function: str, size: int) -> None:
    for e in run(f"ranks_life:{function}", size):
        assert e.out == ""


def test_dropped_is_noticed() -> None:
    """The ranks notice if memory is not kept."""
    assert any(e.code != 0 for e in Job("ranks_life:dropped", 2, PLANT=1).end())


def test_forks_before() -> None:
    run("ranks_life:forks_before", 1)


@pytest.mark.parametrize("function", ["groups", "batches", "objects", "buffers"])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_groups(function: str, size: int) -> None:
    for e in run(f"ranks_groups:{function}", size):
        assert e.out == ""


@pytest.mark.parametrize("function", ["messages", "refused"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_messages(function: str, size: int) -> None:
    for e in run(f"ranks_messages:{function}", size):
        assert e.out == ""


def test_message_threads() -> None:
    run("ranks_messages:threads", 2)


def test_grows(tmp_path: Path) -> None:
    job = Job("ranks_groups:grows", 2, FOLDER=tmp_path)
    while job.ranks[0].poll() is None and not (tmp_path / "ticket").exists():
        time.sleep(0.01)
    joins = job.ranks[1].stdin
    assert joins is not None
    joins.write((tmp_path / "ticket").read_text() + "\n")
    joins.flush()
    ended = job.end()
    assert [e.code for e in ended] == [0, 0], ended


@pytest.mark.parametrize("size", [1, 3])
def test_stores(size: int, tmp_path: Path) -> None:
    run("ranks_groups:stores", size, FOLDER=tmp_path)
