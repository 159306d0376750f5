"""What the words after ``pollwait aws`` ask for: a service, a waiter, options and parameters.

The options here are known before it is; the parameters are those of the waiter's operation, so they
are read apart, when that is known.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._core.settings import UNSET
from .. import _arguments
from .._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .parameters import Parameter

# By their names, for argparse.
OPTIONS: dict[tuple[str, ...], dict[str, Any]] = {
    ("--timeout",): {
        "type": _arguments.timeout,
        "default": UNSET,
        "metavar": "DURATION",
        "help": "when to give up: seconds, or such as 90s, 5m and 1h30m; 'none' for never"
        " (default: the waiter's delay times its attempts)",
    },
    ("--schedule",): {
        "type": _arguments.schedule,
        "metavar": "SCHEDULE",
        "help": "when to look, such as 'exponential(0.5, factor=1.5).cap(15)' (default: at once,"
        " then ever more slowly, down to the waiter's delay)",
    },
    ("--until-stable",): {
        "type": int,
        "default": 1,
        "metavar": "N",
        "help": "how many good answers in a row it takes (default: 1)",
    },
    ("--missing-grace",): {
        "type": _arguments.duration,
        "metavar": "DURATION",
        "help": "for how long a thing that is to be there may be missing (default: 15 s)",
    },
    ("--model",): {
        "metavar": "FILE",
        "help": "waiters of your own, in botocore's format; they come before botocore's",
    },
    ("--cli-input-json",): {
        "metavar": "JSON",
        "help": "all parameters as one JSON object, or file://PATH",
    },
    ("--region",): {"metavar": "NAME", "help": "instead of the configured one"},
    ("--profile",): {"metavar": "NAME", "help": "of the AWS configuration"},
    ("--endpoint-url",): {"metavar": "URL", "help": "instead of the service's own"},
    ("--no-sign-request",): {"action": "store_true", "help": "use no credentials"},
    ("--json",): {
        "action": "store_true",
        "help": "print one JSON object in the end: service, waiter, outcome, elapsed, attempts,"
        " response and error; with --list, an array",
    },
    ("-q", "--quiet"): {"action": "store_true", "help": "say nothing: the exit code tells"},
    ("--list",): {
        "action": "store_true",
        "help": "list the waiters, of the service if one is named",
    },
    ("-h", "--help"): {"action": "store_true", "help": "show help, for the waiter if one is named"},
}
NAMES = [name for names in OPTIONS for name in names]


class Parser(argparse.ArgumentParser):
    """A parser that raises its errors, for the command line to print as one line."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            add_help=False,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **settings,
        )

    def error(self, message: str) -> Any:
        """Raise a UsageError."""
        raise UsageError(message)


@dataclass(frozen=True, slots=True)
class Invocation:
    """What was asked for.

    Attributes:
        options: those of ``OPTIONS``.
        service: the service's name as it was given; None if none was.
        waiter: the waiter's.
        rest: the words with the parameters.
    """

    options: argparse.Namespace
    service: str | None
    waiter: str | None
    rest: list[str]


def read(words: Sequence[str]) -> Invocation:
    """Find the options, the service and the waiter; ``wait`` may stand between the last two.

    Raises:
        UsageError: an option has a wrong value, or is unknown and comes before the waiter.
    """
    parser = Parser()
    add_options(parser)
    options, rest = parser.parse_known_args(words)
    service = _name(rest)
    if service is not None and rest[:1] == ["wait"]:
        rest.pop(0)
    waiter = _name(rest)
    if rest and waiter is None:
        raise _arguments.unknown("option", rest[0].partition("=")[0], NAMES)
    return Invocation(options, service, waiter, rest)


def parameters(words: Sequence[str], known: Sequence[Parameter]) -> dict[str, Any]:
    """Return the words of each parameter, by its name in the service's API.

    Raises:
        UsageError: a parameter is unknown, lacks its value, or is given twice.
    """
    parser = Parser()
    add_parameters(parser, known)
    found, rest = parser.parse_known_args(words)
    if rest:
        if not rest[0].startswith("-"):
            raise UsageError(f"what is {rest[0]!r}? It follows no parameter that takes it")
        names = [name for each in known for name in each.options]
        there_are = f"there are {', '.join(names)}" if names else "the operation takes none"
        raise _arguments.unknown(
            "parameter", rest[0].partition("=")[0], [*names, *NAMES], there_are
        )
    return vars(found)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that every waiter has."""
    group = parser.add_argument_group("options")
    for names, kind in OPTIONS.items():
        group.add_argument(*names, **kind)


def add_parameters(
    parser: argparse.ArgumentParser, known: Sequence[Parameter], title: str = "parameters"
) -> None:
    """Add the parameters of an operation, save such as have the name of an option."""
    group = parser.add_argument_group(title)
    for each in known:
        if each.option not in NAMES:
            each.add_by(group.add_argument)


def _name(rest: list[str]) -> str | None:
    """Take a name from the front of some words; None if an option stands there, or nothing."""
    return rest.pop(0) if rest and not rest[0].startswith("-") else None
