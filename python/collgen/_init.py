"""How a process becomes a rank."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Mapping
from typing import Any

from . import _lib
from ._checks import nanoseconds, text
from ._comm import Communicator
from ._errors import CollgenError
from ._job import VARIABLES, LogFunction, Settings, Store
from ._raw import give_up
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
    return _made(None, Settings(given, store, secret, reproducible, log), timeout)


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
    return _made(ticket, Settings(given, None, secret, reproducible, log), timeout)


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


class _Making:
    """Forms or joins a job. Whoever waits for that may give it up: the communicator is given up then as well."""

    def __init__(self, ticket: str | None, settings: Settings, timeout: float) -> None:
        self.ticket = None if ticket is None else text(ticket, "ticket")
        self.settings = settings
        self.timeout = nanoseconds(timeout)
        self.lock = threading.Lock()
        self.abandoned = False
        self.comm: Communicator | None = None
        self.error: BaseException | None = None

    def make(self) -> None:
        try:
            lib, handle = _lib.load(), ctypes.c_int64()
            args: tuple[Any, ...] = (self.timeout, ctypes.byref(handle))
            if self.ticket is None:
                code = lib.collgen_init(ctypes.byref(self.settings.raw), *args)
            else:
                code = lib.collgen_join(ctypes.byref(self.settings.raw), self.ticket, *args)
            _lib.check(code)
            with self.lock:
                self.comm = Communicator(handle.value, self.settings.log)
                if self.abandoned:
                    give_up(self.comm)
        except BaseException as e:
            self.error = e

    def abandon(self) -> None:
        """Has nobody wait for this rank: not for long if it is one already, and otherwise not once it is."""
        with self.lock:
            self.abandoned = True
            if self.comm is not None:
                give_up(self.comm)


def _made(ticket: str | None, settings: Settings, timeout: float) -> Communicator:
    """Forms or joins a job, and returns its communicator."""
    making = _Making(ticket, settings, timeout)
    try:
        if threading.get_ident() == watch.main:  # which has to go on when there is a signal
            watch.start()
            thread = threading.Thread(target=making.make, name="collgen-init", daemon=True)
            thread.start()
            thread.join()
        else:
            making.make()
    except BaseException:
        making.abandon()
        raise
    if making.comm is not None:
        return making.comm
    cause = settings.failures[0] if settings.failures else None
    raise (making.error or CollgenError("init has made no communicator")) from cause
