"""The errors of the library as exceptions."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from enum import IntEnum


class Kind(IntEnum):
    """The kind of an error, as collgen.h numbers it."""

    OK = 0
    INVALID_ARGUMENT = 1
    CONCURRENT_USE = 2
    MISMATCH = 3
    DEADLOCK = 4
    TIMEOUT = 5
    DIED = 6
    FROZEN = 7
    EXHAUSTED = 8
    REVOKED = 9
    FENCED = 10
    CLOSED = 11
    ABORTED = 12
    FORKED = 13
    NO_QUORUM = 14
    TICKET = 15
    OTHER = 16
    TRUNCATED = 17
    CANCELED = 18
    NOT_OVER = -1


class CollgenError(Exception):
    """An error of the library.

    kind says which, and is a number if the library is newer than this package. field is in what calls of ranks differ,
    such as "count"; "" unless it is a MismatchError. ranks are the ranks at fault, or those that a call waited for when
    its time was over.

    After most errors a communicator is given up: later calls on it fail, on all ranks. It is as before after an
    InvalidArgumentError, a ConcurrentUseError, a ForkedError, a NotOverError, a TruncatedError and a CanceledError.
    """

    def __init__(self, text: str, kind: int = Kind.OTHER, field: str = "", ranks: Sequence[int] = ()) -> None:
        super().__init__(text)
        self.kind = kind
        self.field = field
        self.ranks = tuple(ranks)
        self.flags = 0  # what ranks agreed on all the same: see Communicator.agree

    def __reduce__(self) -> tuple[type[CollgenError], tuple[str, int, str, tuple[int, ...]]]:
        return type(self), (str(self), self.kind, self.field, self.ranks)


class InvalidArgumentError(CollgenError, ValueError):
    """The call was refused. Nothing was sent."""


class ConcurrentUseError(CollgenError):
    """Another thread is in a call on the communicator."""


class MismatchError(CollgenError):
    """Another rank made a different call. field says in what."""


class DeadlockError(CollgenError):
    """Ranks wait for each other in sends and receives."""


class TimeoutError(CollgenError, builtins.TimeoutError):
    """The time of the call is over. ranks are those that it waited for."""


class PeerError(CollgenError):
    """A rank has failed, or gave the communicator up: see the classes made of this one. The others can shrink it."""


class RankDiedError(PeerError):
    """The process of a rank has ended."""


class RankFrozenError(PeerError):
    """A rank does not answer."""


class AbortedError(PeerError):
    """The communicator was given up before: here, by a rank, or because one failed. ranks has that one."""


class ExhaustedError(CollgenError):
    """There are no descriptors, or there is no memory: for a connection, or for alloc."""


class RevokedError(CollgenError):
    """A rank has revoked the communicator."""


class FencedError(CollgenError):
    """The others took this rank for dead."""


class ClosedError(CollgenError):
    """The communicator was closed: here, or by the rank in ranks."""


class ForkedError(CollgenError):
    """This process was forked off from one that had loaded the library. It cannot be a rank."""


class NoQuorumError(CollgenError):
    """Too few ranks are left."""


class TicketError(CollgenError):
    """It is no ticket, or one that was used."""


class TruncatedError(CollgenError):
    """A message was longer than the array of its receive. It is lost; the communicator is as before."""


class CanceledError(CollgenError):
    """The receive was canceled."""


class NotOverError(CollgenError, builtins.TimeoutError):
    """The call that was waited for goes on."""


_CLASSES: dict[int, type[CollgenError]] = {
    Kind.INVALID_ARGUMENT: InvalidArgumentError,
    Kind.CONCURRENT_USE: ConcurrentUseError,
    Kind.MISMATCH: MismatchError,
    Kind.DEADLOCK: DeadlockError,
    Kind.TIMEOUT: TimeoutError,
    Kind.DIED: RankDiedError,
    Kind.FROZEN: RankFrozenError,
    Kind.EXHAUSTED: ExhaustedError,
    Kind.REVOKED: RevokedError,
    Kind.FENCED: FencedError,
    Kind.CLOSED: ClosedError,
    Kind.ABORTED: AbortedError,
    Kind.FORKED: ForkedError,
    Kind.NO_QUORUM: NoQuorumError,
    Kind.TICKET: TicketError,
    Kind.TRUNCATED: TruncatedError,
    Kind.CANCELED: CanceledError,
    Kind.NOT_OVER: NotOverError,
}


def error_of(kind: int, text: str, field: str = "", ranks: Sequence[int] = ()) -> CollgenError:
    """Returns the exception for an error of that kind."""
    known: int = Kind(kind) if kind in _CLASSES or kind == Kind.OTHER else kind
    return _CLASSES.get(kind, CollgenError)(text, known, field, ranks)
