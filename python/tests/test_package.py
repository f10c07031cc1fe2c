"""The package itself: what it knows of the header, its wheel, its commands, and its document."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import ROOT, Job, run

from collgen import Kind, Op, Type, _errors, _lib

HEADER = (ROOT / "capi" / "collgen.h").read_text()


def test_functions() -> None:
    """All functions of the header are known, with as many parameters, of the same names but for a few."""
    declared = dict(re.findall(r"^int (collgen_\w+)\(([^;]*)\);", HEADER, re.M))
    known = _lib.functions()
    assert declared.keys() == known.keys()
    for name, params in declared.items():
        names = [re.findall(r"\w+", p)[-1] for p in re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", params).split(",")]
        assert len(names) == len(known[name]), (name, names, known[name])
        if name in {f for f, _ in _lib.PAIRS.values()}:
            assert names == list(known[name]), (name, names, known[name])


def test_slack() -> None:
    """Who loads the library keeps its own timer slack, and one of the library's threads has another one."""
    program = """
import ctypes, os
from collgen import _lib
prctl = ctypes.CDLL(None).prctl
prctl(29, 70000)
_lib.load()
of = lambda task: open(f"/proc/{task}/timerslack_ns").read().strip()
try:
    known = "250000" in map(of, os.listdir("/proc/self/task"))
except OSError:  # the system tells only those who may change it
    known = True
print(prctl(30), known)
"""
    env = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    out = subprocess.run([sys.executable, "-c", program], env=env, check=True, capture_output=True, text=True).stdout
    assert out.split() == ["70000", "True"]


@pytest.mark.parametrize("enum", [Kind, Type, Op])
def test_numbers(enum: type) -> None:
    numbers = {name: int(n) for name, n in re.findall(r"\bCOLLGEN_(\w+) = (-?\d+)", HEADER)}
    members = {m.name: m.value for m in enum}  # type: ignore[attr-defined]
    assert members.items() <= numbers.items()
    assert members.keys() <= numbers.keys() and len(members) > 10
    if enum is Kind:
        kinds = HEADER[HEADER.index("/* The kinds of errors. */") : HEADER.index("/* After errors")]
        assert len(members) == kinds.count(" = ")
        assert set(_errors._CLASSES) == {k for k in Kind} - {Kind.OK, Kind.OTHER}


def test_structures() -> None:
    """Structures have the fields of the header, in its order."""
    known = {"error": _lib.Error, "settings": _lib.Settings, "options": _lib.RawOptions, "status": _lib.Status}
    for name, structure in known.items():
        body = re.search(r"typedef struct \{([^}]*)\} collgen_" + name + ";", HEADER)
        assert body is not None
        text = re.sub(r"/\*.*?\*/", "", body[1], flags=re.S)
        text = re.sub(r"\(\*(\w+)\)\([^)]*\)", r"\1", text)
        fields = re.findall(r"(\w+)\s*[,;]", text)
        assert fields == [f[0] for f in structure._fields_]


def wheel() -> Path:
    """The wheel that make has built."""
    wheels = list((ROOT / "bin").glob("collgen-*.whl"))
    if not wheels:
        pytest.skip("left out, because there is no wheel: make wheel")
    (only,) = wheels
    return only


def test_tag() -> None:
    """The wheel says what the library needs of the system's, which is nothing else."""
    name = re.fullmatch(r"collgen-.*-py3-none-manylinux_2_(\d+)_(\w+)\.whl", wheel().name)
    assert name is not None and name[2] == platform.machine()
    if shutil.which("readelf") is None:
        pytest.skip("left out, because readelf is not installed here")
    library = str(ROOT / "bin" / _lib.FILE)
    symbols = subprocess.run(["readelf", "-V", library], capture_output=True, text=True, check=True).stdout
    assert int(name[1]) == max(17, *map(int, re.findall(r"GLIBC_2\.(\d+)", symbols)))
    needs = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"NEEDED.*\[(.*)\]", needs)) <= {
        "libc.so.6",
        "libpthread.so.0",
        "ld-linux-x86-64.so.2",
        "ld-linux-aarch64.so.1",
    }


PYTHONS = [sys.executable, *(f"python3.{minor}" for minor in range(10, 16))]


@pytest.mark.parametrize("python", PYTHONS, ids=["this", *PYTHONS[1:]])
def test_wheel(python: str, tmp_path: Path) -> None:
    """The wheel works in a fresh environment, without NumPy, and under each Python that is here."""
    found = shutil.which(python)
    works = found and subprocess.run([found, "-c", "import venv"], capture_output=True).returncode == 0
    if found is None or not works:
        pytest.skip(f"left out, because {python} is not installed here")
    if python == "python{}.{}".format(*sys.version_info):
        pytest.skip("it is this one")
    subprocess.run([found, "-m", "venv", "--without-pip", tmp_path], check=True)
    inside = str(tmp_path / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", inside, "install", "-q", "--no-index", "--no-deps", str(wheel())]
    subprocess.run(pip, check=True)
    for e in run("ranks_wheel:fresh", 2, python=inside, package=tmp_path):
        assert e.out.startswith(f"{tmp_path}/"), e.out
    told = subprocess.run([inside, "-m", "collgen", "doctor"], capture_output=True, text=True, cwd=tmp_path)
    assert told.returncode == 0 and told.stdout.count("works between two processes") == 2, told
    assert f"{tmp_path}/lib" in told.stdout and "numpy        not installed" in told.stdout


def test_help() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "collgen", "--help"], capture_output=True, text=True, cwd=ROOT / "python", check=True
    )
    assert "doctor" in told.stdout


def test_no_library(tmp_path: Path) -> None:
    """Without the library, the error says what to do."""
    ended = Job("ranks_wheel:nowhere", 1, COLLGEN_LIBRARY=tmp_path / "none.so").end()
    assert ended[0].code == 0, ended


def test_document(tmp_path: Path) -> None:
    """The first program of the document prints what the document says."""
    text = (ROOT / "docs" / "python.md").read_text()
    program = re.search(r"```python\n(.*?)```", text, re.S)
    printed = re.findall(r"^    (rank .*)$", text, re.M)
    assert program is not None and len(printed) == 2
    (tmp_path / "first.py").write_text(program[1])
    ended = run("ranks_wheel:document", 2, FILE=tmp_path / "first.py")
    assert [e.out.strip() for e in ended] == sorted(printed)


def test_ops() -> None:
    """The document has the types of each op."""
    run("ranks_wheel:ops", 1, DOCUMENT=ROOT / "docs" / "python.md")
