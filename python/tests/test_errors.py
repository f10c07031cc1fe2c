"""Errors: what they are, which ranks they name, and what can be done after them."""

from __future__ import annotations

import pytest
from jobs import Job, run


@pytest.mark.parametrize(
    "function, size",
    [("refused", 2), ("mismatch", 2), ("fails", 2), ("no_job", 1), ("environ", 2)],
)
def test_errors(function: str, size: int) -> None:
    run(f"ranks_errors:{function}", size)


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_killed(transport: str) -> None:
    *rest, last = Job("ranks_errors:killed", 3, COLL_TRANSPORT=transport).end()
    assert last.code == -9, last
    assert all(e.code == 0 for e in rest), rest


@pytest.mark.parametrize("function", ["timeout", "late"])
def test_late(function: str) -> None:
    """The rank that does not call ends when the other one has seen its error."""
    job = Job(f"ranks_errors:{function}", 2)
    job.until(0, "over")
    assert job.end()[0].code == 0


def test_uncaught() -> None:
    first, second = Job("ranks_errors:uncaught", 2).end()
    assert first.code == 0, first
    assert second.code == 1 and "RuntimeError: mine" in second.out, second


def test_missing() -> None:
    assert Job("ranks_errors:missing", 1, COLL_SIZE=2).end()[0].code == 0
