"""The backend "collgen" of torch.distributed, for tensors in the memory of the host.

    torch.distributed.init_process_group("collgen")

finds it by itself where this package is installed. docs/torch.md says what it does.
"""

from __future__ import annotations

from typing import Any

import torch.distributed as dist

__all__ = ["register"]


def register() -> None:
    """Makes torch.distributed know the backend. torch calls it when a process group names the backend."""
    if not dist.is_available():
        raise RuntimeError("this torch was built without torch.distributed")
    if "COLLGEN" not in dist.Backend._plugins:
        dist.Backend.register_backend("collgen", _create, extended_api=True, devices=["cpu"])


def _create(opts: Any, backend_options: Any = None) -> Any:
    from .create import create  # it loads the library, which no process may do that forks ranks later

    return create(opts, backend_options)


register()
