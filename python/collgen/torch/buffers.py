"""Where the elements of tensors are."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch

from .elements import moved

_strided = torch.strided


def check(t: torch.Tensor) -> None:
    """Raises ValueError unless t is in the memory of the host."""
    if not t.is_cpu:
        raise ValueError(f"collgen takes tensors on the CPU, and this one is on {t.device}")
    if t.layout is not _strided:
        raise ValueError(f"collgen does not take tensors of layout {t.layout} here")


def direct(t: torch.Tensor) -> bool:
    """Returns whether the elements of t lie one after the other, as they are."""
    return t.is_contiguous() and not t.is_neg() and not t.is_conj()


def source(t: torch.Tensor) -> torch.Tensor:
    """Returns t, or a copy of it whose elements lie one after the other."""
    check(t)
    if direct(t):
        return t
    return t.detach().resolve_conj().resolve_neg().contiguous()


def apart(sources: Sequence[torch.Tensor], targets: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Returns sources, or copies of those that share memory with targets.

    The library would copy a source itself, and with it all that lies between its blocks.
    """
    of, to = [_span(t) for t in sources], [_span(t) for t in targets]
    if min(a for a, _ in of) >= max(b for _, b in to) or min(a for a, _ in to) >= max(b for _, b in of):
        return list(sources)
    return [t.clone() if any(a < d and c < b for c, d in to) else t for t, (a, b) in zip(sources, of)]


def _span(t: torch.Tensor) -> tuple[int, int]:
    """Returns where the elements of t begin and end, which lie one after the other."""
    at = t.data_ptr()
    return at, at + t.numel() * t.element_size()


class Targets:
    """Tensors that a call writes to, and those that it writes in their places."""

    __slots__ = ("copies",)

    def __init__(self) -> None:
        self.copies: list[tuple[torch.Tensor, torch.Tensor]] = []  # to, from

    def of(self, t: torch.Tensor, filled: bool = False) -> torch.Tensor:
        """Returns t, or what stands for it until the call is over; filled: with t's elements."""
        check(t)
        if direct(t):
            return t
        separate(t)
        other = torch.empty(t.shape, dtype=t.dtype)
        if filled:
            other.copy_(t.detach())
        self.copies.append((t, other))
        return other

    def fill(self) -> None:
        """Copies the results to where they belong."""
        with torch.no_grad():
            for t, other in self.copies:
                t.detach().copy_(other)


def separate(t: torch.Tensor) -> None:
    """Raises ValueError if elements of t may share memory: no dimension reaches further than the next one's stride."""
    end = 0  # of what the dimensions so far reach
    for stride, n in sorted((stride, n) for n, stride in zip(t.shape, t.stride()) if n > 1):
        if stride <= end:
            raise ValueError("collgen does not write to a tensor whose elements may share memory, as of expand")
        end += stride * (n - 1)


class Blocks:
    """Tensors anywhere in memory, one for each rank, as one buffer of blocks."""

    __slots__ = ("address", "counts", "displs")

    def __init__(self, tensors: Sequence[torch.Tensor]) -> None:
        n = len(tensors)
        size = moved(tensors[0].dtype)[1]
        counts = [t.numel() for t in tensors]
        addresses = [t.data_ptr() for t in tensors]
        base = min((a for a, count in zip(addresses, counts) if count), default=0)
        array = ctypes.c_int64 * n
        self.address = base
        self.counts = array(*counts)
        self.displs = array(*[(a - base) // size if count else 0 for a, count in zip(addresses, counts)])
        if any(count and (a - base) % size for a, count in zip(addresses, counts)):
            raise ValueError("a tensor is not aligned as its elements are")
