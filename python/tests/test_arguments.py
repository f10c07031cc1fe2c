"""Arguments: what is refused, by which error, and what other ranks learn of objects that cannot be pickled."""

from __future__ import annotations

import pytest
from jobs import run


@pytest.mark.parametrize("function", ["elements", "integers", "texts", "same_class"])
def test_arguments(function: str) -> None:
    run(f"ranks_arguments:{function}", 2)


@pytest.mark.parametrize("broken", [0, 2])
def test_objects(broken: int) -> None:
    run("ranks_arguments:objects", 3, BROKEN=broken)
