"""The process group that dist.* calls."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from .backend import CollgenBackend
from .coalesced import Coalesced
from .engine import Engine
from .messages import Messages
from .monitored import MonitoredBarrier
from .moves import Moves
from .reductions import Reductions


class CollgenGroup(Reductions, Moves, Coalesced, Messages, MonitoredBarrier, dist.ProcessGroup):
    """A process group whose backend is collgen alone. Its calls need not go through torch's dispatcher."""

    def __init__(self, store: dist.Store, engine: Engine) -> None:
        dist.ProcessGroup.__init__(self, store, engine.rank, engine.size)
        self._engine = engine
        custom = dist.ProcessGroup.BackendType.CUSTOM
        self._set_default_backend(custom)
        self._backend = CollgenBackend(engine)
        self._register_backend(torch.device("cpu"), custom, self._backend)

    # Older torch calls some collectives by these names.
    _allgather_base = Moves.all_gather_single
    allgather_into_tensor_coalesced = Coalesced.all_gather_single_coalesced
    _reduce_scatter_base = Reductions.reduce_scatter_single
    reduce_scatter_tensor_coalesced = Coalesced.reduce_scatter_single_coalesced
    alltoall_base = Moves.all_to_all_single

    def getBackendName(self) -> str:
        """Returns collgen."""
        return "collgen"

    def split_group(
        self,
        new_ranks: list[int],
        timeout: timedelta | None = None,
        opts: Any = None,
        group_name: str | None = None,
        group_desc: str | None = None,
        device_types: Any = None,
    ) -> Any:
        """Returns a group of some ranks of this one, or None where this rank is not in it."""
        if self._engine.rank not in new_ranks:
            return None
        name = group_name or f"{self.group_name}:split:{','.join(map(str, new_ranks))}"
        store = dist.PrefixStore(f"{name}/", self.get_group_store())
        made = CollgenGroup(store, self._engine.part(list(new_ranks), timeout or self._engine.timeout))
        made._set_group_name(name)
        made._set_group_desc(group_desc or f"{self.group_desc}:split")
        return made

    def set_timeout(self, timeout: timedelta) -> None:
        """Sets the timeout of calls that have none of their own."""
        self._engine.set_timeout(timeout)

    def abort(self) -> None:
        """Ends all calls on the group, on all ranks."""
        self._engine.abort()

    def shutdown(self) -> None:
        """Leaves the group."""
        self._backend.shutdown()

    def _get_sequence_number_for_group(self) -> int:
        return self._engine.sequence
