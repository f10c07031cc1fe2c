"""Every collective, compared with NumPy, between one to four processes."""

from __future__ import annotations

import pytest
from jobs import Job, run


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_everything(size: int) -> None:
    run("ranks_collectives:everything", size)


def test_everything_over_tcp() -> None:
    run("ranks_collectives:everything", 3, COLL_TRANSPORT="tcp")


@pytest.mark.parametrize("mistake", ["op", "count", "root", "copy"])
def test_mistakes_are_found(mistake: str) -> None:
    """The ranks notice a mistake of the package."""
    ended = Job("ranks_collectives:everything", 2, PLANT=mistake).end()
    assert any(e.code == 1 and "Error" in e.out for e in ended), ended
