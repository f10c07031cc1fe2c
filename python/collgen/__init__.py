"""Collective communication whose schedules are proved: all-reduce, all-gather and the others, between processes.

    import collgen, numpy as np
    with collgen.init() as comm:
        print(comm.allreduce(np.ones(3)))
"""

from ._calls import Op, Type
from ._comm import Communicator
from ._errors import (
    AbortedError,
    ClosedError,
    CollgenError,
    ConcurrentUseError,
    DeadlockError,
    ExhaustedError,
    FencedError,
    ForkedError,
    InvalidArgumentError,
    Kind,
    MismatchError,
    NoQuorumError,
    NotOverError,
    PeerError,
    RankDiedError,
    RankFrozenError,
    RevokedError,
    TicketError,
    TimeoutError,
)
from ._init import init, join
from ._job import Store
from ._lib import IN_PLACE
from ._options import Options
from ._work import Work, wait_any

__all__ = [
    "IN_PLACE",
    "AbortedError",
    "ClosedError",
    "CollgenError",
    "Communicator",
    "ConcurrentUseError",
    "DeadlockError",
    "ExhaustedError",
    "FencedError",
    "ForkedError",
    "InvalidArgumentError",
    "Kind",
    "MismatchError",
    "NoQuorumError",
    "NotOverError",
    "Op",
    "Options",
    "PeerError",
    "RankDiedError",
    "RankFrozenError",
    "RevokedError",
    "Store",
    "TicketError",
    "TimeoutError",
    "Type",
    "Work",
    "init",
    "join",
    "wait_any",
]
