"""Messages with tags."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _lib
from ._buffers import buffer_of
from ._checks import integer, rank_of
from ._options import CallOptions, options_of
from ._raw import RawCommunicator
from ._work import Work

if TYPE_CHECKING:
    from typing_extensions import Unpack

# A source or a tag of a receive that takes messages of any.
ANY = -1

# The least and the largest tag.
TAGS = (0, 2**31 - 1)


@dataclass(frozen=True)
class Status:
    """Which message a receive has got."""

    source: int
    tag: int
    count: int  # elements


class Messages(RawCommunicator):
    """Sends and receives with tags, which match by them alone, whatever other calls the ranks make.

    Between two ranks, messages with equal tags are received in the order in which they were sent. Any number of threads
    may send and receive, also while another one is in a collective. Of the options, timeout and label are for messages.
    """

    def message_send(
        self, x: Any, dest: int, tag: int = 0, *, dtype: Any = None, **options: Unpack[CallOptions]
    ) -> None:
        """Sends x to a rank, which may be this one. A short message may return before it is received."""
        args, _ = self._outgoing(x, dest, tag, dtype)
        self.call("message_send", *args, options=options_of(options, "message_send"))

    def start_message_send(
        self, x: Any, dest: int, tag: int = 0, *, dtype: Any = None, **options: Unpack[CallOptions]
    ) -> Work:
        """Starts message_send."""
        args, b = self._outgoing(x, dest, tag, dtype)
        return self.start("message_send", *args, options=options_of(options, "start_message_send"), keep=b)

    def message_recv(
        self, out: Any, source: int = ANY, tag: int = ANY, *, dtype: Any = None, **options: Unpack[CallOptions]
    ) -> Status:
        """Receives a message of at most as many elements as out has, and returns which one it was.

        source, tag: of the message, or ANY.

        A message that is longer raises TruncatedError.
        """
        args, _, status = self._incoming(out, source, tag, dtype)
        self.call("message_recv", *args, options=options_of(options, "message_recv"))
        return _status(status)

    def start_message_recv(
        self, out: Any, source: int = ANY, tag: int = ANY, *, dtype: Any = None, **options: Unpack[CallOptions]
    ) -> Work:
        """Starts message_recv. Work.cancel ends it, if no message has matched it yet."""
        args, b, status = self._incoming(out, source, tag, dtype)
        chosen = options_of(options, "start_message_recv")
        return self.start("message_recv", *args, options=chosen, keep=(b, status), result=lambda: _status(status))

    def _outgoing(self, x: Any, dest: int, tag: int, dtype: Any) -> tuple[tuple[Any, ...], Any]:
        b, to = buffer_of(x, "x", dtype), rank_of(dest, "dest", self.size)
        return (b.address, b.count, b.type, to, integer(tag, "tag", TAGS)), b

    def _incoming(self, out: Any, source: int, tag: int, dtype: Any) -> tuple[tuple[Any, ...], Any, _lib.Status]:
        b, status = buffer_of(out, "out", dtype, True), _lib.Status()
        of = integer(source, "source", (ANY, self.size - 1))
        which = integer(tag, "tag", (ANY, TAGS[1]))
        return (b.address, b.count, b.type, of, which, ctypes.addressof(status)), b, status


def _status(s: _lib.Status) -> Status:
    return Status(s.source, s.tag, s.count)
