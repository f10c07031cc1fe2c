"""What a job is started with: variables, store, secret and log."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping
from typing import Protocol

from . import _lib
from ._checks import invalid, text


class Store(Protocol):
    """A store by which ranks find each other. Its entries are seen by all processes of the job.

    Threads of the library call the methods, several at once. What they raise fails init. What set and delete return
    does not count.
    """

    def set(self, key: str, value: bytes) -> None:
        """Sets or replaces an entry."""

    def get(self, key: str, timeout: float) -> bytes | None:
        """Waits at most timeout seconds until there is an entry, and returns its value; None if there is none yet."""

    def delete(self, key: str) -> None:
        """Removes an entry."""


LogFunction = Callable[[int, str], None]

# What the library may call, and it may do so until the process ends.
_callbacks: list[object] = []

# The names of the variables for keywords of init.
VARIABLES = {
    "rank": "COLL_RANK",
    "size": "COLL_SIZE",
    "local_rank": "COLL_LOCAL_RANK",
    "local_size": "COLL_LOCAL_SIZE",
    "job": "COLL_JOB",
    "epoch": "COLL_EPOCH",
    "store": "COLL_STORE",
    "secret_file": "COLL_SECRET_FILE",
    "transport": "COLL_TRANSPORT",
    "interface": "COLL_INTERFACE",
    "rdma": "COLL_RDMA",
    "encrypt": "COLL_ENCRYPT",
    "heartbeat_timeout": "COLL_HEARTBEAT_TIMEOUT",
    "trace": "COLL_TRACE",
    "tune": "COLL_TUNE",
    "slow_call": "COLL_SLOW_CALL",
    "host": "COLL_HOST",
}


class Settings:
    """The settings of a job, as the library takes them. failures are what functions of the store have raised."""

    def __init__(
        self,
        given: Mapping[str, object],
        store: Store | None,
        secret: bytes | None,
        reproducible: bool,
        log: LogFunction | None,
    ) -> None:
        if secret is not None and len(secret) != 32:
            raise invalid(f"the secret has {len(secret)} bytes, want 32")
        self.failures: list[BaseException] = []
        self.log = log
        words = [text(f"{k}={v}", f"the variable {k}") for k, v in given.items()]
        names = set(given)
        words += [k + b"=" + v for k, v in os.environb.items() if k.decode(errors="replace") not in names]
        self._variables = (ctypes.c_char_p * (len(words) + 1))(*words, None)
        self.raw = _lib.Settings(
            size=ctypes.sizeof(_lib.Settings),
            variables=ctypes.cast(self._variables, ctypes.POINTER(ctypes.c_char_p)),
            secret=secret,
            reproducible=reproducible,
        )
        if store is not None:
            functions = self._functions(store)
            _callbacks.append(functions)
            self.raw.store = ctypes.pointer(functions)
        if log is not None:
            called = _log(log)
            _callbacks.append(called)
            self.raw.log = called

    def _functions(self, store: Store) -> _lib.Store:
        def safely(f: Callable[[], int]) -> int:
            try:
                return f()
            except BaseException as e:  # no exception can get through the library
                self.failures.append(e)
                return 1

        def set_entry(_: object, key: bytes, value: int | None, n: int) -> int:
            def put() -> int:
                store.set(key.decode(), ctypes.string_at(value, n) if value else b"")
                return 0

            return safely(put)

        def get_entry(_: object, key: bytes, into: int, n: ctypes._Pointer[ctypes.c_size_t], timeout: int) -> int:
            def get() -> int:
                value = store.get(key.decode(), timeout / 1e9)
                if value is None:
                    return -1
                got = bytes(memoryview(value))
                if len(got) > n[0]:
                    raise ValueError(f"the value of {key.decode()} has {len(got)} bytes")
                ctypes.memmove(into, got, len(got))
                n[0] = len(got)
                return 0

            return safely(get)

        def remove_entry(_: object, key: bytes) -> int:
            def remove() -> int:
                store.delete(key.decode())
                return 0

            return safely(remove)

        return _lib.Store(None, _lib.StoreSet(set_entry), _lib.StoreGet(get_entry), _lib.StoreRemove(remove_entry))


def _log(log: LogFunction) -> object:
    def called(_: object, level: int, text: bytes) -> None:
        try:
            log(level, text.decode(errors="replace"))
        except BaseException as e:  # no exception can get through the library
            print(f"collgen: log: {e!r}", file=sys.stderr)

    return _lib.Log(called)
