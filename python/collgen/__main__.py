"""python -m collgen: what there is here."""

from __future__ import annotations

import argparse
import sys

from . import _doctor


def main(args: list[str] | None = None) -> int:
    """Runs a command, and returns its exit status."""
    about = "Collective communication between processes."
    parser = argparse.ArgumentParser(prog="python -m collgen", description=about)
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    commands.add_parser("doctor", help="show what a program would find here, and try calls between two ranks")
    parser.parse_args(args)
    return _doctor.doctor(sys.stdout)


if __name__ == "__main__":
    sys.exit(main())
