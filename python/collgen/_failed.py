"""Which started calls fail that nobody waits for."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from . import _lib
from ._errors import Kind, error_of

# Where to note how calls go, by what the library is told to pass.
_notes: dict[int, list[int]] = {}
_keys = itertools.count(1)


def _note(key: int, kind: int) -> None:
    note = _notes.pop(key, None)
    if note is not None and kind not in (0, Kind.CANCELED):  # the program itself has canceled it
        note.append(kind)


_over = _lib.Notify(_note)


def failures_of(numbers: Iterable[int]) -> list[int]:
    """Returns a list to which the kinds of errors are added as the started calls of these numbers fail."""
    failed: list[int] = []
    for number in numbers:
        key = next(_keys)
        _notes[key] = failed
        if _lib.load().collgen_notify(number, _over, key):
            _notes.pop(key, None)  # it is no call any more
    return failed


def about(failed: list[int]) -> str:
    """Returns what to say of calls that have failed."""
    names = sorted({error_of(kind, "").kind for kind in failed})
    kinds = ", ".join(getattr(kind, "name", str(kind)) for kind in names)
    calls = "a started call" if len(failed) == 1 else f"{len(failed)} started calls"
    return f"{calls} that nobody has waited for failed: {kinds}"
