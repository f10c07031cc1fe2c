"""Collective communication whose schedules are proved: all-reduce, all-gather and the others, between processes.

    import collgen, numpy as np
    with collgen.init() as comm:
        print(comm.allreduce(np.ones(3)))
"""

from ._calls import Op, Type
from ._comm import Communicator
from ._errors import (
    AbortedError,
    CanceledError,
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
    TruncatedError,
)
from ._init import init, join
from ._job import Store
from ._lib import IN_PLACE
from ._messages import ANY, Status
from ._options import Options
from ._work import Work, wait_any

__all__ = [
    "ANY",
    "IN_PLACE",
    "AbortedError",
    "CanceledError",
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
    "Status",
    "Store",
    "TicketError",
    "TimeoutError",
    "TruncatedError",
    "Type",
    "Work",
    "init",
    "join",
    "wait_any",
]
