"""Communicators."""

from __future__ import annotations

from ._raw import RawCommunicator


class Communicator(RawCommunicator):
    """Ranks that make calls together."""
