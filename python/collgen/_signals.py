"""Ctrl-C in a call.

A call that is not started runs in its caller's thread, and Python handles signals only when that thread is back. So
a thread of its own learns of a SIGINT (signal.set_wakeup_fd), and aborts the call that the main thread is in. It does
so for Python's own handler alone: what another one does is not known.
"""

from __future__ import annotations

import os
import signal
import threading
import time

from . import _lib

# A call that ends by itself this many seconds after a SIGINT is not aborted.
GRACE = 0.05


class _Watch:
    def __init__(self) -> None:
        self.handle = 0  # the communicator of the call that the main thread is in
        self.serial = 0  # the number of that call
        self.active = False
        self.tried = False
        self.main = threading.main_thread().ident

    def start(self) -> bool:
        """Begins to watch, if nobody else does; to be called by the main thread. Reports whether it watches."""
        if self.tried:
            return self.active
        self.tried = True
        read, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        os.set_blocking(read, True)
        try:
            before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
        except ValueError:  # not in the main thread of the main interpreter
            os.close(read)
            os.close(write)
            return False
        if before != -1:
            signal.set_wakeup_fd(before)
            os.close(read)
            os.close(write)
            return False
        os.register_at_fork(after_in_child=self._stop)
        threading.Thread(target=self._watch, args=(read,), name="collgen-signals", daemon=True).start()
        self.active = True
        return True

    def _stop(self) -> None:
        """Stops in a child that was forked off, whose signals are not those of its parent."""
        self.active, self.tried, self.main = False, True, threading.get_ident()
        signal.set_wakeup_fd(-1)

    def _watch(self, read: int) -> None:
        while True:
            numbers = os.read(read, 64)
            if signal.SIGINT not in numbers or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
                continue
            serial = self.serial
            time.sleep(GRACE)
            handle = self.handle
            if handle and serial == self.serial:
                _lib.load().collgen_abort(handle)


watch = _Watch()
