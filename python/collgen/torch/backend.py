"""The backend of a process group that may have others, for tensors on other devices."""

from __future__ import annotations

import warnings
from datetime import timedelta
from typing import Any

from torch._C._distributed_c10d import Backend

from .coalesced import Coalesced
from .engine import GRACE, Engine
from .messages import Messages
from .monitored import MonitoredBarrier
from .moves import Moves
from .reductions import Reductions


class CollgenBackend(Reductions, Moves, Coalesced, Messages, MonitoredBarrier, Backend):
    """What torch's own ProcessGroup calls."""

    def __init__(self, engine: Engine) -> None:
        Backend.__init__(self, engine.rank, engine.size)
        self._engine = engine
        self._options = Backend.Options("collgen", engine.timeout)

    @property
    def options(self) -> Any:
        """Returns the options: the timeout."""
        return self._options

    # torch asks the class for these, and would ask itself for ever if it had none of them.
    supports_splitting = property(lambda self: True)
    supports_coalescing = property(lambda self: False)
    supports_shrinking = property(lambda self: False)
    supports_reconfigure = property(lambda self: False)
    supports_window = property(lambda self: False)
    _supports_time_estimate = property(lambda self: False)

    def getBackendName(self) -> str:
        """Returns collgen."""
        return "collgen"

    def split(self, _store: Any, ranks: list[int], opts: Any) -> CollgenBackend | None:
        """Returns the backend of a group of some ranks of this one, or None where this rank is not in it."""
        if self._engine.rank not in ranks:
            return None
        return CollgenBackend(
            self._engine.part(list(ranks), opts._timeout if opts is not None else self._engine.timeout)
        )

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets the timeout of calls that have none of their own."""
        self._engine.set_timeout(timeout)
        self._options._timeout = timeout

    def abort(self) -> None:
        """Ends all calls on the group, on all ranks."""
        self._engine.abort()

    def shutdown(self) -> None:
        """Leaves the group."""
        left = self._engine.wait_pending(GRACE)
        if left:
            warnings.warn(f"collgen: the group is destroyed, and ends {left} calls that are not over", stacklevel=2)
        self._engine.close()

    def _get_sequence_number_for_group(self) -> int:
        return self._engine.sequence
