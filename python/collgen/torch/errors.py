"""The library's errors as those of torch.distributed."""

from __future__ import annotations

import torch.distributed as dist

from .._errors import Kind
from .library import last_error

# Of these, a rank or the way to it is the cause.
_NETWORK = frozenset((Kind.DIED, Kind.FROZEN, Kind.EXHAUSTED))


def failure(kind: int) -> Exception:
    """Returns the exception for the error that the library has just returned in this thread.

    Its attributes kind, field and ranks are those of the library: the ranks are those of the group.
    """
    last = last_error()
    text = str(last)
    if kind == Kind.INVALID_ARGUMENT:
        err: Exception = ValueError(f"collgen: {text}")
    elif kind == Kind.TIMEOUT:
        err = dist.DistBackendError(f"collgen: {text}: the timeout is over, timed out")
    elif kind in _NETWORK:
        err = dist.DistNetworkError(f"collgen: {text}")
    else:
        err = dist.DistBackendError(f"collgen: {text}")
    err.kind, err.field, err.ranks = kind, last.field, last.ranks  # type: ignore[attr-defined]
    return err
