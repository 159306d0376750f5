"""Reads the arguments, runs the command, and turns what it raises into an exit code."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING

from . import completion
from ._arguments import unknown
from ._errors import UsageError
from ._exit_codes import BROKEN_PIPE, INTERRUPTED, USAGE
from .aws import command as aws
from .demo import command as demo
from .schedules import fit, plan, simulate
from .until import command as until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Args:
        arguments: those of the command line by default.

    Returns:
        0 on success, 1 for a wait that failed, 124 for one that was not ready in time, 2 for a call
        that cannot be carried out, 130 when interrupted, 141 when nobody reads the output to its
        end.
    """
    try:
        return _run(arguments)
    except BrokenPipeError:
        _close_output()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (ImportError, UsageError) as error:  # an extra that is missing: the text says which
        print(f"pollwait: {error}", file=sys.stderr)  # noqa: T201 - a command line talks
        return USAGE


def _run(arguments: Sequence[str] | None) -> int:
    _replace_unprintable()
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser, commands = _parser()
    try:
        if words[:1] == [completion.ASK]:
            return completion.answer(commands, words[1:])
        options = _parsed(parser, commands, words)
        return int(options.run(options))
    finally:
        # What is left in the buffer meets a broken pipe here, where that is handled, and not when
        # the interpreter ends.
        print(end="", flush=True)  # noqa: T201


def _parsed(
    parser: argparse.ArgumentParser,
    commands: Mapping[str, argparse.ArgumentParser],
    words: Sequence[str],
) -> argparse.Namespace:
    """Return what the words say.

    Raises:
        UsageError: there is no such command, or it takes no such word; with those that are near.
    """
    name = next(iter(words), "-")
    if not name.startswith("-") and name not in commands:
        raise unknown("command", name, commands, f"there are {', '.join(commands)}")
    options, left = parser.parse_known_args(words)
    if left:
        kind = "option" if left[0].startswith("-") else "argument"
        known = completion.options_of(commands[name]) if name in commands else []
        raise unknown(kind, left[0], known, f"`pollwait {name} --help` lists what it takes")
    return options


def _replace_unprintable() -> None:
    """Let output that cannot be encoded, as under ``PYTHONIOENCODING=ascii``, show as "?"."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None and sys.stdout.errors == "strict":
        reconfigure(errors="replace")


def _close_output() -> None:
    """Send what is still to be written nowhere: the interpreter flushes it when it ends."""
    with suppress(OSError):  # an output that is no file
        output = sys.stdout.fileno()
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, output)
        os.close(nowhere)


def _parser() -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return the parser, and that of each command."""
    parser = argparse.ArgumentParser(
        prog="pollwait", description="Wait for things, and see what waiting costs."
    )
    parser.add_argument("--version", action="version", version=f"pollwait {version('pollwait')}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (aws, until, plan, fit, simulate, demo, completion):
        command.add_to(commands)
    return parser, commands.choices
