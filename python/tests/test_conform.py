"""The package under the conformance tests of collgen conform."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import HERE, ROOT

# Types and ops that calls are not made with, except by COLLGEN_CONFORM_PYTHON=all, which takes many minutes.
FEW = "int16,int32,uint8,uint16,uint32,uint64,float16,float64,complex128,float8e4m3,float8e5m2,prod,bor,bxor,lor,land"


def conform(*args: str, **variables: str) -> subprocess.CompletedProcess[str]:
    program = ROOT / "bin" / "collgen"
    if not program.exists():
        pytest.skip("left out, because bin/collgen is not built: make test-python")
    env = {k: v for k, v in os.environ.items() if not k.startswith("COLL_")} | variables
    rank = [sys.executable, str(HERE / "conform_adapter.py"), "{rank}", "{n}", "{dir}"]
    command = [str(program), "conform", *args, "--", *rank]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd=Path(ROOT))


def test_conforms() -> None:
    args = ["-ranks", "2", "-checks", "1", "-without", FEW]
    if os.environ.get("COLLGEN_CONFORM_PYTHON") == "all":
        args = ["-ranks", "1..4"]
    told = conform(*args)
    assert told.returncode == 0, told.stdout + told.stderr


def test_mistake_is_found() -> None:
    told = conform("-ranks", "2", "-checks", "1", "-primitives", "AllReduce", "-shrinking", "1s", PLANT="1")
    assert told.returncode == 1 and "AllReduce" in told.stdout and "max" in told.stdout, told.stdout + told.stderr
