"""Runs PyTorch's own tests of torch.distributed on the CPU, with Gloo and with collgen, and compares.

    python suite.py [-source DIR_OR_URL] [-write FILE] [-backends gloo,collgen] [method ...]

Two sources of tests: distributed_test, which is in torch's wheel, and the tests that all backends of torch have to
pass, which are in its repository alone: test/distributed/test_c10d_collectives.py and others. -source says where those
are, a folder or an address; without it they are left out.

Each method runs in processes of its own, which are forked. A method passes if all ranks have ended with success.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import json
import logging
import os
import re
import signal
import socket
import sys
import tempfile
import time
import unittest
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

LIMIT = 180.0  # seconds for a method

# How many ranks the tests have with the decorators of a backend.
SIZES = {"gloo": 3, "mpi": 4}

FOR_GPUS = r"gpu|cuda|nccl|GPU"

BEGIN, END = "<!-- begin: python/tests/distributed/suite.py -->", "<!-- end -->"

# Why methods do not pass, by name.
REASONS = {
    r"SyncBatchNorm": "needs torchvision",
    r"mixed_backend_err": "makes a group of NCCL",
    r"batch_isend_irecv_op_err": "needs a GPU",
    r"new_subgroups_with_group_param": "needs more ranks",
    r"test_all_to_all(_complex|_full_group|_group)?$": "Gloo takes lists of tensors of one length alone",
    r"p2p.test_async_work_lifetime": "Gloo does not keep the tensors of a work that is dropped",
    r"gather_into_tensor_deprecated": "is of a later torch, which warns",
}

SHARED = "c10d_backend_common"
MODULES = ["test_c10d_collectives", "test_c10d_p2p", "test_c10d_process_group"]


@dataclasses.dataclass
class Result:
    """How a method went."""

    passed: bool
    skipped: str = ""  # why
    error: str = ""

    def word(self) -> str:
        """Returns it in a word."""
        return "skip" if self.skipped else "pass" if self.passed else "FAIL"


Test = tuple[type, str, int]  # the class, the method, the number of ranks


def child(test: Test, rank: int, file: str, out: Path) -> None:
    """Is a rank of a method. It does not return."""
    cls, method, _ = test
    code = 1
    try:
        to = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(to, 1)
        os.dup2(to, 2)
        sys.stdout = os.fdopen(1, "w", buffering=1)
        sys.stderr = os.fdopen(2, "w", buffering=1)
        log = logging.getLogger("torch.testing._internal.common_distributed")
        log.setLevel(logging.INFO)
        log.handlers = [logging.StreamHandler(sys.stderr)]
        import torch

        torch.set_num_threads(1)
        _, pipe = torch.multiprocessing.Pipe()
        cls._run(rank, method, file, pipe)
        code = 0
    except SystemExit as e:
        code = e.code if isinstance(e.code, int) else 1
    except unittest.SkipTest as e:
        print(f"for following reason: {e}")
        code = 75
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            engine = sys.modules.get("collgen.torch.engine")
            if engine is not None:
                engine._close_all()  # at exit; others of the parent's are not the child's
        finally:
            os._exit(code)


def run(test: Test) -> Result:
    """Runs a method."""
    from torch.testing._internal.common_distributed import TEST_SKIPS

    skips = {s.exit_code: s.message for s in TEST_SKIPS.values()}
    cls, _, size = test
    with tempfile.TemporaryDirectory() as folder:
        outs = [Path(folder, f"out{rank}") for rank in range(size)]
        pids = []
        prepare = getattr(cls, "prepare", None)
        if prepare is not None:
            prepare()
        for rank in range(size):
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                child(test, rank, f"{folder}/store", outs[rank])
            pids.append(pid)
        codes = join(pids)
        texts = [o.read_text(errors="replace") if o.exists() else "" for o in outs]
    if all(c in skips or c == 75 for c in codes):
        reasons = re.findall(r"for following reason: (.*)", "\n".join(texts))
        return Result(False, reasons[0].strip() if reasons else skips.get(codes[0], "?"))
    if any(codes) and not all(c == 0 or c in skips for c in codes):
        return Result(False, error=f"{codes} " + cause(texts, codes))
    return Result(True)


def join(pids: list[int]) -> list[int]:
    """Waits for processes, and returns how they ended. When one has failed, the others have 30 s left."""
    codes: dict[int, int] = {}
    until = time.monotonic() + LIMIT
    while len(codes) < len(pids):
        for pid in pids:
            if pid not in codes:
                got, status = os.waitpid(pid, os.WNOHANG)
                if got:
                    codes[pid] = os.waitstatus_to_exitcode(status)
                    if codes[pid] not in (0, *range(70, 100)):
                        until = min(until, time.monotonic() + 30)
        if time.monotonic() > until:
            for pid in pids:
                if pid not in codes:
                    os.killpg(pid, signal.SIGKILL)
        time.sleep(0.01)
    return [codes[pid] for pid in pids]


def cause(texts: list[str], codes: list[int]) -> str:
    """Returns the last errors of the ranks that have failed."""
    found = []
    for rank, (text, code) in enumerate(zip(texts, codes)):
        if code:
            lines = [s for s in text.splitlines() if re.match(r"\S*(Error|Exception|Interrupt)\b", s)]
            found.append(f"rank {rank}: {lines[-1] if lines else text.strip()[-200:]}")
    return " | ".join(found)[:600]


def shipped(backend: str, as_backend: str) -> list[Test]:
    """Returns the tests of distributed_test with the decorators of another backend."""
    size = SIZES[as_backend]
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.update(BACKEND=as_backend, WORLD_SIZE=str(size), TEMP_DIR=tempfile.mkdtemp())
    name = "torch.testing._internal.distributed.distributed_test"
    dt = importlib.import_module(name)
    dt.BACKEND = backend
    base = dt.DistributedTest._DistTestBase

    def prepare() -> None:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            os.environ["MASTER_PORT"] = str(s.getsockname()[1])
        dt.initialize_temp_directories()
        dt.Barrier.init()

    def accumulate(self: Any, *args: Any, **options: Any) -> None:
        dt.BACKEND = as_backend  # the group is there; the test knows by names for which ones tensors are on the CPU
        base._test_accumulate_gradients_no_sync(self, *args, **options)

    cls = type(
        "Distributed",
        (dt.TestDistBackend, base),
        {"prepare": staticmethod(prepare), "_test_accumulate_gradients_no_sync": accumulate},
    )
    cls.__module__ = name
    return [(cls, method, size) for method in sorted(m for m in dir(base) if m.startswith("test_"))]


def fetched(source: str, backend: str) -> list[Test]:
    """Returns the tests that all backends have to pass."""
    folder = tempfile.mkdtemp()
    for module in [SHARED, *MODULES]:
        if "://" in source:
            data = urllib.request.urlopen(f"{source}/{module}.py").read()
        else:
            data = Path(source, f"{module}.py").read_bytes()
        Path(folder, f"{module}.py").write_bytes(data)
    sys.path.insert(0, folder)
    common = importlib.import_module(SHARED)
    (gloo,) = [b for b in common.C10D_BACKENDS if b.name == "gloo"]
    changes: dict[str, Any] = {"name": backend}
    if backend == "collgen":
        changes |= {"supports_dropped_p2p_work": True, "supports_gather_single": True}
    common.C10D_BACKENDS = (dataclasses.replace(gloo, **changes),)
    tests: list[Test] = []
    for module in MODULES:
        m = importlib.import_module(module)
        for cls in [c for _, c in inspect.getmembers(m, inspect.isclass) if hasattr(c, "backend_name")]:
            for flag, value in (("supports_sequence_numbers", True), ("supports_work_result", False)):
                if not hasattr(cls, flag):
                    setattr(cls, flag, value)
            for method in sorted(x for x in dir(cls) if x.startswith("test_")):
                tests.append((cls, method, 2))
    return tests


def all_of(tests: list[Test], label: str, methods: list[str]) -> dict[str, Result]:
    """Runs tests, and returns their results by name."""
    results: dict[str, Result] = {}
    for test in tests:
        cls, method, _ = test
        key = f"{'distributed_test' if cls.__name__ == 'Distributed' else cls.__module__}.{method}"
        body = inspect.getsource(getattr(cls, method))
        if (
            (methods and not any(re.search(m, key) for m in methods))
            or re.search(FOR_GPUS, method)
            or any(d in body for d in ("skip_if_no_gpu", "skip_if_lt_x_gpu"))
        ):
            continue
        r = results[key] = run(test)
        print(f"{label:16} {r.word():5} {key} {r.skipped or r.error}", flush=True)
    return results


def of_backend(backend: str, args: argparse.Namespace) -> dict[str, Result]:
    """Returns the results of a backend. Each pass has a process of its own: modules are imported once."""

    def ready() -> None:
        import torch.distributed as dist

        dist.Backend._ensure_backend_registered(backend)

    def with_decorators(as_backend: str) -> dict[str, Result]:
        ready()
        return all_of(shipped(backend, as_backend), f"{backend} as {as_backend}", args.methods)

    def everybodys() -> dict[str, Result]:
        ready()
        return all_of(fetched(args.source, backend), backend, args.methods)

    passes: list[Callable[[], dict[str, Result]]] = [lambda a=a: with_decorators(a) for a in SIZES]
    if args.source:
        passes.append(everybodys)
    results: dict[str, Result] = {}
    for one in passes:
        for key, r in apart(one).items():
            before = results.get(key)
            if before is None or before.skipped or (before.passed and not r.passed and not r.skipped):
                results[key] = r
    return results


def table(both: dict[str, dict[str, Result]]) -> str:
    """Returns the table for docs/torch.md: how many methods there are, and those that do not pass."""
    ours, theirs = both["collgen"], both["gloo"]
    lines = []
    for word in ("pass", "FAIL", "skip"):
        lines.append(
            f"| {word.lower()} | {sum(r.word() == word for r in theirs.values())} "
            f"| {sum(r.word() == word for r in ours.values())} |"
        )
    text = "| methods | Gloo | collgen |\n|---|---|---|\n" + "\n".join(lines) + "\n\n"
    text += "| method | Gloo | collgen | why |\n|---|---|---|---|\n"
    for key in sorted(ours):
        r, g = ours[key], theirs.get(key, Result(False, "?"))
        if r.word() == "FAIL" or g.word() == "FAIL" or r.word() != g.word():
            why = next((reason for pattern, reason in REASONS.items() if re.search(pattern, key)), r.error or g.error)
            text += f"| `{key}` | {g.word().lower()} | {r.word().lower()} | {why[:160]} |\n"
    return text


def main() -> None:
    """Runs the tests. Each backend has a process of its own, because tests are bound to it when they are imported."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-source")
    parser.add_argument("-write", type=Path)
    parser.add_argument("-backends", default="gloo,collgen")
    parser.add_argument("-json", type=Path, help="also write all results there")
    parser.add_argument("methods", nargs="*")
    args = parser.parse_args()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    both: dict[str, dict[str, Result]] = {}
    for backend in args.backends.split(","):
        both[backend] = apart(lambda backend=backend: of_backend(backend, args))
    if args.write and set(both) >= {"gloo", "collgen"}:
        before, _, rest = args.write.read_text().partition(BEGIN)
        args.write.write_text(before + BEGIN + "\n\n" + table(both) + "\n" + END + rest.partition(END)[2])
    if args.json:
        args.json.write_text(json.dumps({b: {k: dataclasses.asdict(r) for k, r in x.items()} for b, x in both.items()}))


def apart(f: Callable[[], dict[str, Result]]) -> dict[str, Result]:
    """Returns what f returns in a process of its own."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        results = f()
        with os.fdopen(write, "w") as out:
            json.dump({k: dataclasses.asdict(r) for k, r in results.items()}, out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as into:
        text = into.read()
    os.waitpid(pid, 0)
    return {k: Result(**r) for k, r in json.loads(text or "{}").items()}


if __name__ == "__main__":
    main()
