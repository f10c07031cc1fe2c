"""How process groups are made."""

from __future__ import annotations

import threading
from typing import Any

import torch
import torch.distributed as dist

from .._signals import watch
from .backend import CollgenBackend
from .engine import Engine
from .group import CollgenGroup
from .meeting import meet


def create(opts: Any, _backend_options: Any = None) -> CollgenGroup | CollgenBackend:
    """Returns a new process group, or the backend of one that has other backends, too. torch calls it."""
    if threading.current_thread() is threading.main_thread():
        watch.start()  # Ctrl-C ends a call
    engine = _engine(opts)
    group = opts.process_group
    if group is not None and group._get_backend_name() != "custom":  # the group has other backends
        return CollgenBackend(engine)
    return CollgenGroup(opts.store, engine)


def _engine(opts: Any) -> Engine:
    world = _world()
    ranks = list(opts.global_ranks_in_group)
    if world is not None and ranks:
        return world.part(ranks, opts.timeout)
    comm = meet(opts.store, opts.group_rank, opts.group_size, opts.group_id, opts.timeout)
    return Engine(comm, opts.group_rank, ranks or list(range(opts.group_size)), opts.timeout)


def _world() -> Engine | None:
    """Returns the engine of the default group, if that has one."""
    if not dist.is_initialized():
        return None
    group = dist.group.WORLD
    if not isinstance(group, CollgenGroup):
        try:
            group = group._get_backend(torch.device("cpu"))
        except RuntimeError:
            return None
    engine = getattr(group, "_engine", None)
    return engine if isinstance(engine, Engine) and not engine.closed else None
