"""Ranks that send each other messages with tags."""

from __future__ import annotations

import threading

import numpy as np
from ranks_errors import raises

import collgen
from collgen import ANY, Status


def messages() -> None:
    """Tags match, whatever the order; equal tags are in order; any source and any tag are what has come."""
    with collgen.init(timeout=30) as comm:
        after, before = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        for n in (0, 1, 5, 2000, 3000, 1 << 17):
            first, second = np.full(n, comm.rank), np.full(n + 1, -comm.rank)
            works = [comm.start_message_send(first, after, 7), comm.start_message_send(second, after, 8)]
            works += [comm.start_message_send(second, after, 7)]
            out = np.zeros(n + 2, int)
            assert comm.message_recv(out, before, 8) == Status(before, 8, n + 1)
            assert (out[: n + 1] == -before).all() and out[n + 1] == 0, out
            comm.barrier()  # with messages under way
            for count, value in ((n, before), (n + 1, -before)):
                w = comm.start_message_recv(out, ANY, ANY)
                assert w.wait() == Status(before, 7, count), w.wait()
                assert (out[:count] == value).all(), out
                assert not w.cancel()
            for w in works:
                assert w.wait() is None


def threads() -> None:
    """Threads have their own tags, while the main thread is in collectives."""
    with collgen.init(timeout=30) as comm:
        failed: list[BaseException] = []

        def plays(tag: int) -> None:
            try:
                x = np.zeros(3)
                for i in range(20):
                    if comm.rank == 0:
                        comm.message_send(np.full(3, float(i + tag)), 1, tag)
                        comm.message_recv(x, 1, tag)
                    else:
                        assert comm.message_recv(x, 0, tag).count == 3
                        comm.message_send(x, 0, tag)
                    assert (x == i + tag).all(), x
            except BaseException as e:
                failed.append(e)

        players = [threading.Thread(target=plays, args=(tag,)) for tag in range(3)]
        for p in players:
            p.start()
        for _ in range(20):
            assert comm.allreduce(np.ones(2)).tolist() == [2, 2]
        for p in players:
            p.join()
        assert not failed, failed


def refused() -> None:
    """Errors leave the communicator as it was: what cannot be a message, one that is too long, a canceled receive."""
    with collgen.init(timeout=30) as comm:
        x = np.zeros(2)
        for tag in (-1, 1 << 31):
            with raises(collgen.InvalidArgumentError):
                comm.message_send(x, 0, tag)
        with raises(collgen.InvalidArgumentError):
            comm.message_recv(x, comm.size)
        with raises(TypeError):
            comm.message_recv(x, ANY, 1.0)  # type: ignore[arg-type]
        comm.message_send(np.ones(3), comm.rank, 1)
        with raises(collgen.TruncatedError):
            comm.message_recv(x, comm.rank, 1)
        w = comm.start_message_recv(x, ANY, 2)
        assert w.cancel()
        with raises(collgen.CanceledError):
            w.wait()
        with raises(collgen.TimeoutError):
            comm.message_recv(x, ANY, 3, timeout=0.01)
        w = comm.start_allreduce(x)
        assert not w.cancel()
        w.wait()
        assert comm.allreduce(np.ones(1)).tolist() == [comm.size]
