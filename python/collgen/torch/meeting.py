"""How the ranks of a job find each other: by the store of torch."""

from __future__ import annotations

import ctypes
import hashlib
import os
import queue
import secrets
import threading
import time
from datetime import timedelta
from typing import Any

import torch.distributed as dist

from .._lib import Settings, Store, StoreGet, StoreRemove, StoreSet
from .capi import lib
from .engine import nanoseconds
from .errors import failure

# A process of torch may compute in many threads on a busy host. It is taken for dead only if it is silent for so long;
# that its process has ended is found at once all the same.
HEARTBEAT = "20s"

# Of the environment, these are not this job's.
_OTHERS = frozenset(
    (
        "COLL_RANK",
        "COLL_SIZE",
        "COLL_STORE",
        "COLL_JOB",
        "COLL_EPOCH",
        "COLL_SERVICE",
        "COLL_LOCAL_RANK",
        "COLL_LOCAL_SIZE",
    )
)


def meet(store: Any, rank: int, size: int, name: str, timeout: timedelta) -> int:
    """Returns the communicator of a new job, when all ranks are there."""
    attempt = store.add(f"collgen/attempts/{rank}", 1)  # all ranks make as many, also after a group was destroyed
    entries = dist.PrefixStore(f"collgen/{attempt}/", store)
    digest = hashlib.sha256(f"{name} {attempt}".encode()).hexdigest()[:16]
    variables = {k: v for k, v in os.environ.items() if k.startswith("COLL_") and k not in _OTHERS}
    variables.setdefault("COLL_HEARTBEAT_TIMEOUT", HEARTBEAT)
    variables |= {"COLL_RANK": str(rank), "COLL_SIZE": str(size), "COLL_JOB": f"torch-{digest}"}
    texts = [f"{k}={v}".encode() for k, v in variables.items()]
    settings = Settings(size=ctypes.sizeof(Settings))
    settings.variables = (ctypes.c_char_p * (len(texts) + 1))(*texts, None)
    settings.store = ctypes.pointer(_functions(entries))
    if not {"COLL_SECRET_FILE", "COLL_SECRET_FD"} & variables.keys():
        settings.secret = _secret(entries, rank)
    return _init(settings, timeout)


def _init(settings: Settings, timeout: timedelta) -> int:
    """Calls collgen_init in a thread of its own, so that Ctrl-C ends the wait for it."""
    results: queue.SimpleQueue[int | Exception] = queue.SimpleQueue()
    lock, abandoned = threading.Lock(), threading.Event()

    def init() -> None:
        comm = ctypes.c_int64()
        kind = lib.collgen_init(ctypes.addressof(settings), nanoseconds(timeout), ctypes.addressof(comm))
        with lock:
            if kind or not abandoned.is_set():
                results.put(failure(kind) if kind else comm.value)
            else:
                _leave(comm.value)

    threading.Thread(target=init, name="collgen-init", daemon=True).start()
    try:
        result = results.get()
    except BaseException:  # nobody waits for this rank any more: the others must not either
        with lock:
            abandoned.set()
            if not results.empty() and isinstance(made := results.get(), int):
                _leave(made)
        raise
    if isinstance(result, Exception):
        raise result
    return result


def _leave(comm: int) -> None:
    """Gives a communicator up that nobody will use."""
    lib.collgen_abort(comm)
    lib.collgen_close(comm)


def _secret(store: Any, rank: int) -> bytes:
    """Returns the secret of the job, which rank 0 makes."""
    if rank == 0:
        store.set("secret", secrets.token_hex(32))
    return bytes.fromhex(bytes(store.get("secret")).decode())


# The library may call these until the process ends.
_kept: list[Any] = []


def _functions(store: Any) -> Store:
    """Returns a store as the library knows it."""

    def put(_context: Any, key: bytes, value: int, n: int) -> int:
        try:
            store.set(key.decode(), ctypes.string_at(value, n) if n else b"")
            return 0
        except BaseException:  # no exception can get through the library
            return 1

    def get(_context: Any, key: bytes, value: int, n: Any, limit: int) -> int:
        try:
            found = _wait(store, key.decode(), limit / 1e9)
            if found is None:
                return -1
            if len(found) > n[0]:
                return 1
            ctypes.memmove(value, found, len(found))
            n[0] = len(found)
            return 0
        except BaseException:  # no exception can get through the library
            return 1

    def remove(_context: Any, key: bytes) -> int:
        try:
            store.delete_key(key.decode())
        except BaseException:  # some stores cannot
            pass
        return 0

    functions = Store(None, StoreSet(put), StoreGet(get), StoreRemove(remove))
    _kept.append(functions)
    return functions


def _wait(store: Any, key: str, seconds: float) -> bytes | None:
    """Returns an entry, or None if there is none for so long. It asks again and again: a wait blocks all threads."""
    until, pause = time.monotonic() + seconds, 0.0005
    while not store.check([key]):
        if time.monotonic() > until:
            return None
        time.sleep(pause)
        pause = min(2 * pause, 0.02)
    return bytes(store.get(key))
