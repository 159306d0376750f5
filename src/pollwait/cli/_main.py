"""Reads the arguments, runs the command, and turns what it raises into an exit code."""

from __future__ import annotations

import argparse
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

from . import demo

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130  # 128 + SIGINT, as shells report it
USAGE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Args:
        arguments: those of the command line by default.

    Returns:
        0 on success, 2 for a call that cannot be carried out, 130 when interrupted.
    """
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        return INTERRUPTED
    except ImportError as missing:  # an extra that is not installed; its text says which
        print(f"pollwait: {missing}", file=sys.stderr)  # noqa: T201 - a command line talks
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pollwait", description="Wait for things, and see what waiting costs."
    )
    parser.add_argument("--version", action="version", version=f"pollwait {version('pollwait')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    demo.add_to(commands)
    return parser
