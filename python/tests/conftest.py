"""What holds for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import ROOT


def _shared() -> set[str]:
    """Returns what is in /dev/shm of this package's library."""
    try:
        return {name for name in os.listdir("/dev/shm") if "coll" in name}
    except OSError:
        return set()


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No test leaves shared memory behind."""
    before = _shared()
    yield
    assert _shared() <= before


@pytest.fixture(scope="session")
def binaries() -> Path:
    """The folder with what make has built."""
    return ROOT / "bin"
