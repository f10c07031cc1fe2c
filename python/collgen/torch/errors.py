"""The library's errors as those of torch.distributed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch.distributed as dist

from .._errors import Kind, error_of
from .capi import last_error

# Of these, a rank or the way to it is the cause.
_NETWORK = frozenset((Kind.DIED, Kind.FROZEN, Kind.EXHAUSTED))

# What the library says of calls on a communicator that was given up before because a rank failed, or by a rank whose
# program has failed.
_GIVEN_UP = re.compile(
    r"given up: (?:.*: )?rank \d+: rank (?:died|does not answer)(?::|$)|rank \d+: communicator was given up by Abort"
)


def known(err: Exception, kind: int, ranks: Sequence[int] = (), field: str = "") -> Exception:
    """Returns err with the attributes that errors of calls have."""
    err.kind, err.ranks, err.field = kind, tuple(ranks), field  # type: ignore[attr-defined]
    return err


def is_network(kind: int, text: str, ranks: Sequence[int]) -> bool:
    """Returns whether the cause is that another rank is gone, or cannot be reached."""
    return (
        kind in _NETWORK
        or kind == Kind.CLOSED
        and len(ranks) > 0
        or kind == Kind.ABORTED
        and _GIVEN_UP.search(text) is not None
    )


def failure(kind: int, ranks: Sequence[int] = ()) -> Exception:
    """Returns the exception for the error that the library has just returned in this thread.

    Its attributes kind, field and ranks are those of the library, but ranks are those of the job. In its text, they are
    numbered as in the group, whose ranks of the job are given.
    """
    last = last_error()
    if last.kind != kind:  # after a wait that a signal's handler has cut off: this thread has no more of the error
        last = error_of(kind, f"the call has failed, with the kind of error {kind}")
    text = str(last)
    of = [ranks[rank] if 0 <= rank < len(ranks) else rank for rank in last.ranks]
    if list(ranks) != list(range(len(ranks))) and of:
        text += f" (ranks of the job: {', '.join(map(str, of))})"
    if kind == Kind.INVALID_ARGUMENT:
        err: Exception = ValueError(f"collgen: {text}")
    elif kind == Kind.TIMEOUT:
        err = dist.DistBackendError(f"collgen: {text}: the timeout is over, timed out")
    elif is_network(kind, str(last), last.ranks):
        err = dist.DistNetworkError(f"collgen: {text}")
    else:
        err = dist.DistBackendError(f"collgen: {text}")
    return known(err, kind, of, last.field)
