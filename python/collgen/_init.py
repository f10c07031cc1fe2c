"""How a process becomes a rank."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping
from typing import Any

from . import _lib
from ._comm import Communicator
from ._job import VARIABLES, LogFunction, Settings, Store
from ._options import nanoseconds
from ._signals import watch


def init(
    *,
    rank: int | None = None,
    size: int | None = None,
    store: str | Store | None = None,
    secret: bytes | None = None,
    job: str | None = None,
    transport: str | None = None,
    reproducible: bool = False,
    log: LogFunction | None = None,
    variables: Mapping[str, object] | None = None,
    timeout: float = 60,
    **settings: object,
) -> Communicator:
    """Makes this process a rank of its job, and returns the communicator of all when all ranks are there.

    Without arguments, the variables of the launcher count, as os.environ has them: collrun, torchrun, mpirun, mpiexec,
    srun, or an indexed job of Kubernetes. What is given counts in their place.

    rank, size: this rank, and how many there are; None: as the launcher says.
    store: where ranks find each other: an address such as "local" or "tcp://host:port", or a Store.
    secret: 32 bytes that all processes of the job have, and nobody else; on one host none is needed.
    job: the name of the job. Jobs that share a store or a secret need different names.
    transport: "tcp": also on one host; "shm" or "rdma": these alone.
    reproducible: all sums of floats depend on the operands alone.
    log: is called with a level, as package logging numbers it, and a text, by any thread; None: warnings go to the
        standard error.
    settings: local_rank, local_size, epoch, secret_file, interface, rdma, encrypt, heartbeat_timeout, trace, tune,
        slow_call and host, with the values of the variables COLL_LOCAL_RANK and so on.
    variables: other variables.
    timeout: how many seconds to wait for the other ranks.

    Raises InvalidArgumentError if it is not said which rank this is, TimeoutError, and other CollgenErrors.
    """
    if isinstance(store, str):
        settings["store"], store = store, None
    named = {"rank": rank, "size": size, "job": job, "transport": transport, **settings}
    given = _variables(named, variables)
    return Communicator(_made(None, Settings(given, store, secret, reproducible, log), timeout))


def join(
    ticket: str,
    *,
    secret: bytes | None = None,
    transport: str | None = None,
    reproducible: bool = False,
    log: LogFunction | None = None,
    variables: Mapping[str, object] | None = None,
    timeout: float = 60,
    **settings: object,
) -> Communicator:
    """Makes this process a rank of a running job, by a ticket of Communicator.invite.

    The job has been started with a secret, and it is the same here. See init for the arguments.
    """
    given = _variables({"transport": transport, **settings}, variables)
    return Communicator(_made(ticket, Settings(given, None, secret, reproducible, log), timeout))


def _variables(named: Mapping[str, object], more: Mapping[str, object] | None) -> dict[str, object]:
    """Returns the variables that keywords stand for."""
    unknown = [name for name in named if name not in VARIABLES]
    if unknown:
        raise TypeError(f"unknown arguments: {', '.join(unknown)}")
    given: dict[str, object] = {}
    for name, value in named.items():
        if value is not None:
            given[VARIABLES[name]] = int(value) if isinstance(value, bool) else value
    return given | dict(more or {})


def _made(ticket: str | None, settings: Settings, timeout: float) -> int:
    """Forms or joins a job, and returns its communicator."""
    lib, handle = _lib.load(), ctypes.c_int64()
    result: list[BaseException | None] = []

    def make() -> None:
        try:
            args: tuple[Any, ...] = (nanoseconds(timeout), ctypes.byref(handle))
            if ticket is None:
                code = lib.collgen_init(ctypes.byref(settings.raw), *args)
            else:
                code = lib.collgen_join(ctypes.byref(settings.raw), ticket.encode(), *args)
            _lib.check(code)
            result.append(None)
        except BaseException as e:
            result.append(e)

    if threading.get_ident() == watch.main:  # which has to go on when there is a signal
        watch.start()
        thread = threading.Thread(target=make, name="collgen-init", daemon=True)
        thread.start()
        thread.join()
    else:
        make()
    if result[0] is not None:
        raise result[0] from (settings.failures[0] if settings.failures else None)
    return handle.value
