"""Jobs of torch.distributed: ranks are processes that are forked off from one that has imported torch.

    python torch_jobs.py MODULE FUNCTIONS SIZE

calls functions of MODULE, with commas between their names, as f(rank, size) on each rank, after
init_process_group("collgen").
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Seconds that a job may take on a busy machine.
LIMIT = 400


def run(module: str, functions: str, size: int, **variables: str) -> str:
    """Runs functions on ranks, and returns what they print. Raises AssertionError unless all end with success."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"} | variables
    done = subprocess.run(
        [sys.executable, __file__, module, functions, str(size)],
        env=environment,
        cwd=HERE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT + 30,
        check=False,
    )
    assert done.returncode == 0, f"{done.returncode}: {done.stdout}"
    return done.stdout


def _rank(module: str, functions: list[str], rank: int, size: int, file: str) -> int:
    """Is a rank, and returns how it ends."""
    import torch
    import torch.distributed as dist

    # A shell has what it runs in the background ignore SIGINT, and so do the processes that those start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        torch.set_num_threads(1)
        os.environ["STORE_FILE"] = file
        for name in functions:
            f = getattr(importlib.import_module(module), name)
            if not dist.is_initialized() and not getattr(f, "starts", False):
                dist.init_process_group("collgen", init_method=f"file://{file}", rank=rank, world_size=size)
            if rank == 0:
                print(name)  # what fails is the last one
            f(rank, size)
        if dist.is_initialized():
            dist.destroy_process_group()
        return 0
    except BaseException:
        traceback.print_exc()
        return 1


def _main() -> int:
    module, functions, size = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
    import torch.distributed  # noqa: F401 - once for all ranks

    sys.path.insert(0, str(HERE))
    codes = {}
    with tempfile.TemporaryDirectory() as folder:
        pids = {}
        for rank in range(size):
            pid = os.fork()
            if pid == 0:
                code = _rank(module, functions, rank, size, f"{folder}/store")
                sys.stdout.flush()
                os._exit(code)
            pids[pid] = rank
        until = time.monotonic() + LIMIT
        while pids:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in pids:
                codes[pids.pop(pid)] = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > until:
                print(f"ranks {sorted(pids.values())} have not ended after {LIMIT} s")
                for p in pids:
                    os.kill(p, signal.SIGKILL)
                until += LIMIT
            else:
                time.sleep(0.01)
    expected = getattr(importlib.import_module(module), "EXPECTED", {}).get(functions[0], {})
    wrong = {rank: code for rank, code in codes.items() if code != expected.get(rank, 0)}
    if wrong:
        print(f"ranks have ended with {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(_main())
