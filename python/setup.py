"""Has the library in the wheel, and tags the wheel by what the library needs of the system's."""

import os
import platform
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

LIBRARY = Path(os.environ.get("COLLGEN_LIBRARY", Path(__file__).resolve().parent.parent / "bin" / "libcollgen.so"))


class BuildWithLibrary(build_py):
    def run(self) -> None:
        super().run()
        if not LIBRARY.exists():
            raise SystemExit(f"{LIBRARY} does not exist: run make capi first")
        shutil.copy(LIBRARY, Path(self.build_lib) / "collgen" / "libcollgen.so")


class PlatformWheel(bdist_wheel):
    def finalize_options(self) -> None:
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self) -> tuple[str, str, str]:
        # The versions of symbols are strings of the library.
        versions = re.findall(rb"\0GLIBC_2\.(\d+)(?:\.\d+)?(?=\0)", LIBRARY.read_bytes())
        newest = max(map(int, versions), default=17)
        return "py3", "none", f"manylinux_2_{max(17, newest)}_{platform.machine()}"


setup(cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
