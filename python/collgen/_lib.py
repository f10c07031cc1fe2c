"""The C library by ctypes: its functions as they are, and its errors as exceptions.

load() returns the library, whose functions have the prototypes of collgen.h. They release the GIL, and return 0 or the
kind of an error: check(code) raises it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from ctypes import CFUNCTYPE, POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path

from ._calls import CALLS
from ._errors import CollgenError, Kind, error_of

FILE = "libcollgen.so"

# What stands for one of the two buffers of a call in place.
IN_PLACE = -1


class Error(ctypes.Structure):
    """collgen_error."""

    _fields_ = [
        ("kind", c_int),
        ("text", c_char_p),
        ("field", c_char_p),
        ("ranks", POINTER(c_int)),
        ("nranks", c_size_t),
    ]


StoreSet = CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p, c_size_t)
StoreGet = CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p, POINTER(c_size_t), c_int64)
StoreRemove = CFUNCTYPE(c_int, c_void_p, c_char_p)
Log = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
Notify = CFUNCTYPE(None, c_void_p, c_int)


class Store(ctypes.Structure):
    """collgen_store. Whoever makes one keeps it, and its functions, until the process ends."""

    _fields_ = [("context", c_void_p), ("set", StoreSet), ("get", StoreGet), ("remove", StoreRemove)]


class Settings(ctypes.Structure):
    """collgen_settings."""

    _fields_ = [
        ("size", c_size_t),
        ("variables", POINTER(c_char_p)),
        ("store", POINTER(Store)),
        ("secret", c_char_p),
        ("reproducible", c_int),
        ("log", Log),
        ("log_context", c_void_p),
    ]


class Status(ctypes.Structure):
    """collgen_status."""

    _fields_ = [("source", c_int), ("tag", c_int), ("count", c_int64)]


class RawOptions(ctypes.Structure):
    """collgen_options."""

    _fields_ = [
        ("size", c_size_t),
        ("timeout", c_int64),
        ("algorithm", c_char_p),
        ("label", c_char_p),
        ("depth", c_int),
        ("reproducible", c_int),
        ("factor", POINTER(c_double)),
    ]


# The parameters of functions, by name. Buffers are addresses.
_PARAMS = {
    "comm": c_int64,
    "dst": c_void_p,
    "dst_counts": c_void_p,
    "dst_displs": c_void_p,
    "src": c_void_p,
    "src_counts": c_void_p,
    "src_displs": c_void_p,
    "buf": c_void_p,
    "out": c_void_p,
    "in": c_void_p,
    "count": c_int64,
    "out_count": c_int64,
    "in_count": c_int64,
    "type": c_int,
    "op": c_int,
    "root": c_int,
    "to": c_int,
    "from": c_int,
    "tag": c_int,
    "status": c_void_p,
    "options": c_void_p,
    "work": c_void_p,
    "works": c_void_p,
    "color": c_int,
    "key": c_int,
    "timeout": c_int64,
    "made": c_void_p,
    "flags": c_uint64,
    "ranks": c_void_p,
    "n": c_size_t,
    "bytes": c_int64,
    "memory": c_void_p,
    "settings": c_void_p,
    "ticket": c_char_p,
    "collective": c_char_p,
    "text": c_void_p,
    "length": c_void_p,
    "number": c_int64,
    "result": c_void_p,
    "notify": Notify,
}

# The parameters of calls between two ranks, as CALLS has those of collectives.
PAIRS = {
    "send": ("collgen_send", ("buf", "count", "type", "to")),
    "recv": ("collgen_recv", ("buf", "count", "type", "from")),
    "message_send": ("collgen_message_send", ("buf", "count", "type", "to", "tag")),
    "message_recv": ("collgen_message_recv", ("buf", "count", "type", "from", "tag", "status")),
    "sendrecv": ("collgen_sendrecv", ("out", "out_count", "to", "in", "in_count", "from", "type")),
}

# The other functions that return the kind of an error. A work that is passed is a number.
_FUNCTIONS = {
    "collgen_init": "settings timeout result",
    "collgen_join": "settings ticket timeout result",
    "collgen_close": "comm",
    "collgen_abort": "comm",
    "collgen_rank": "comm result",
    "collgen_size": "comm result",
    "collgen_topology": "comm text n length",
    "collgen_explain": "comm collective bytes op text n length",
    "collgen_trace": "comm text n length",
    "collgen_invite": "comm timeout text n length",
    "collgen_split": "comm color key timeout made",
    "collgen_group": "comm ranks n timeout made",
    "collgen_shrink": "comm timeout made",
    "collgen_grow": "comm timeout made",
    "collgen_revoke": "comm",
    "collgen_agree": "comm flags timeout result",
    "collgen_monitored_barrier": "comm timeout",
    "collgen_health": "comm timeout text n length",
    "collgen_alloc": "comm bytes timeout result",
    "collgen_free": "comm memory",
    "collgen_wait": "number timeout",
    "collgen_test": "number",
    "collgen_peek": "number result",
    "collgen_notify": "number notify memory",
    "collgen_wait_any": "works n timeout result",
    "collgen_batch_begin": "comm",
    "collgen_cancel": "number result",
    "collgen_batch_end": "comm",
}


def functions() -> dict[str, tuple[str, ...]]:
    """Returns the parameters of all functions that return the kind of an error, by name."""
    all_of = {name: tuple(params.split()) for name, params in _FUNCTIONS.items()}
    calls = [(c.function, c.params) for c in CALLS.values()] + list(PAIRS.values())
    return all_of | {name: ("comm", *params, "options", "work") for name, params in calls}


def find() -> Path:
    """Returns where the library is: what COLLGEN_LIBRARY names, or in this package, or in bin of a checkout."""
    named = os.environ.get("COLLGEN_LIBRARY")
    if named:
        return Path(named)
    here = Path(__file__).resolve().parent
    places = [here / FILE, here.parent.parent / "bin" / FILE]
    for place in places:
        if place.exists():
            return place
    there = " nor at ".join(map(str, places))
    raise CollgenError(f"{FILE} is not at {there}: install the wheel, run make capi, or set COLLGEN_LIBRARY")


_lock = threading.Lock()
_loaded: ctypes.CDLL | None = None


def load() -> ctypes.CDLL:
    """Loads the library, if it is not loaded yet, and returns it.

    The library cannot be used in processes that are forked off later: so importing this package does not load it.
    """
    global _loaded
    if _loaded is not None:
        return _loaded
    with _lock:
        if _loaded is None:
            _loaded = _load(find())
    return _loaded


def is_loaded() -> bool:
    """Reports whether the library is loaded."""
    return _loaded is not None


def _load(path: Path) -> ctypes.CDLL:
    try:
        lib = ctypes.CDLL(str(path))
        for name, params in functions().items():
            function = getattr(lib, name)
            function.argtypes = [_PARAMS[p] for p in params]
            function.restype = c_int
        lib.collgen_last_error.restype = POINTER(Error)
        lib.collgen_last_error.argtypes = []
        lib.collgen_version.restype = c_char_p
        lib.collgen_version.argtypes = []
    except (OSError, AttributeError) as e:
        raise CollgenError(f"the library {path} cannot be used: {e}") from e
    return lib


def last_error() -> CollgenError:
    """Returns the last error of a function in this thread."""
    e = load().collgen_last_error().contents
    return error_of(e.kind, _words(e.text), _words(e.field), e.ranks[: e.nranks] if e.nranks else ())


def check(code: int) -> None:
    """Raises the error of a function that has returned code in this thread, unless that is 0."""
    if code == 0:
        return
    if code == Kind.NOT_OVER:
        raise error_of(code, "the call is not over")
    raise last_error()


def _words(text: bytes | None) -> str:
    return (text or b"").decode(errors="replace")
