"""The arguments that ``plan``, ``fit`` and ``simulate`` share."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..._core.duration import INFINITY
from .._arguments import duration
from .._errors import UsageError
from .quantiles import quantiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._core.distribution import Distribution
    from .samples import Samples

PLOTS = (".png", ".svg")

FILES = (
    "FILE holds one sample a line: seconds until ready, or, with a comma between, until when it was"
    " not ready and from when it was, the second left out if nobody saw it ready. The columns may"
    " be named (seconds; not_ready_at, ready_at; name). Lines of JSON, as LatencyLog writes them,"
    " do as well. '-' is standard input."
)


def add_latency(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the ways to say how long things take until they are ready, of which one may be used."""
    ways = parser.add_mutually_exclusive_group(required=required)
    ways.add_argument("--latency", metavar="FILE", help="measured times until ready; see below")
    ways.add_argument(
        "--quantiles",
        metavar="PERCENT=SECONDS,...",
        type=quantiles,
        help="how many percent are ready by when, such as 0=1.2,50=1.6,90=1.9,99=4.3; spread"
        " evenly between, and from 0 s to the first; beyond the last, if that is not 100, fewer and"
        " fewer",
    )
    add_name(parser)


def add_name(parser: argparse.ArgumentParser) -> None:
    """Add what picks samples out of a file."""
    parser.add_argument(
        "--name", help="only the samples of waits of this name (default: all in the file)"
    )


def add_look(parser: argparse.ArgumentParser, what: str, length: float, sees_at: float) -> None:
    """Add what one look takes, and when it sees.

    Args:
        parser: takes the arguments.
        what: the name of one look there.
        length: how many seconds it takes by default.
        sees_at: at which part of them it sees by default.
    """
    parser.add_argument(
        f"--{what}-duration",
        metavar="DURATION",
        type=duration,
        default=length,
        help=f"how long a {what} takes (default: %(default)g s)",
    )
    parser.add_argument(
        "--sees-at",
        metavar="PART",
        type=number(0.0, 1.0),
        default=sees_at,
        help=f"at which part of that it sees the state, from 0 to 1; 1 suits times that were"
        f" measured when {what}s ended, as LatencyLog does (default: %(default)g)",
    )


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add what is printed and drawn."""
    parser.add_argument(
        "--plot",
        metavar="PATH",
        type=_plot,
        help='also draw it into a file .png or .svg; needs: pip install "pollwait[plot]"',
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and no more")


def latency(options: argparse.Namespace) -> tuple[Distribution | None, Samples | None]:
    """Return the distribution that was given and, where it is a file's, its samples."""
    if options.latency is None:
        if options.name is not None:
            raise UsageError("--name is for the samples of a file: give --latency too")
        return options.quantiles, None
    from . import samples

    found = samples.read(options.latency, options.name)
    return found.latency, found


def count(most: int) -> Callable[[str], int]:
    """Return a ``type`` of argparse's for numbers of things, from 1 up."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = 0
        if not 1 <= value <= most:
            raise argparse.ArgumentTypeError(
                f"must be a whole number from 1 to {most}: got {text!r}"
            )
        return value

    return read


def number(least: float, most: float = INFINITY, *, above: bool = False) -> Callable[[str], float]:
    """Return a ``type`` of argparse's for finite numbers within bounds.

    Args:
        least: the lower bound.
        most: the upper bound.
        above: whether the lower bound itself is too low.
    """

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -INFINITY
        if not least <= value <= most or value == INFINITY or (above and value == least):
            lower = f"above {least:g}" if above else f"from {least:g}"
            upper = "" if most == INFINITY else f" to {most:g}"
            raise argparse.ArgumentTypeError(f"must be a number {lower}{upper}: got {text!r}")
        return value

    return read


def _plot(text: str) -> str:
    if not text.lower().endswith(PLOTS):
        raise argparse.ArgumentTypeError(f"must end in {' or '.join(PLOTS)}: got {text!r}")
    return text
