"""The arguments that say what is simulated: how many waits, when they begin, what they ask."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .. import _arguments
from . import options

if TYPE_CHECKING:
    from ...simulate import Bucket, Poisson

WAITS = 100
RUNS = 10
OVER = 20.0
CALL_DURATION = 0.1
SEES_AT = 0.5
MAX_SIZE = 500
TIMEOUT = 3600.0

_MOST_WAITS = 100_000
_MOST_RUNS = 10_000
_MOST_IDS = 1_000_000


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument(
        "--waits",
        metavar="N",
        type=options.count(_MOST_WAITS),
        default=WAITS,
        help="how many waits each run has (default: %(default)s)",
    )
    parser.add_argument(
        "--arrivals",
        metavar="PATTERN",
        type=arrivals,
        default=OVER,
        help="when waits begin: 'at-once'; 'over=20', at random over 20 s; or 'rate=5', 5 a second"
        f" at random (default: over={OVER:g})",
    )
    options.add_look(parser, "call", CALL_DURATION, SEES_AT)
    parser.add_argument(
        "--max-size",
        metavar="N",
        type=options.count(_MOST_IDS),
        default=MAX_SIZE,
        help="the most waits that one call asks for (default: %(default)s)",
    )
    parser.add_argument(
        "--bucket",
        metavar="RATE:BURST",
        type=bucket,
        help="the service's limit: so many calls a second, and so many at once; calls beyond it are"
        " throttled (default: no limit)",
    )
    parser.add_argument(
        "--timeout",
        metavar="DURATION",
        type=_arguments.duration,
        default=TIMEOUT,
        help="when a wait gives up (default: %(default)g s)",
    )
    parser.add_argument(
        "--runs",
        metavar="N",
        type=options.count(_MOST_RUNS),
        default=RUNS,
        help="how often all of it is done, with other chances (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="replays the chances (default: 0)")


def arrivals(text: str) -> float | Poisson:
    """Return when waits begin, as ``compare`` takes it: ``at-once``, ``over=20`` or ``rate=5``.

    A ``type`` of argparse's.
    """
    from ...simulate import Poisson

    if text == "at-once":
        return 0.0
    kind, _, value = text.partition("=")
    if kind == "over":
        return _arguments.duration(value)
    if kind == "rate":
        return Poisson(options.number(0.0, above=True)(value))
    raise argparse.ArgumentTypeError(f"must be at-once, over=SECONDS or rate=NUMBER: got {text!r}")


def bucket(text: str) -> Bucket:
    """Return the bucket that a text such as ``20:100`` says: its refill a second, its capacity.

    A ``type`` of argparse's.
    """
    from ...simulate import Bucket

    rate, _, burst = text.partition(":")
    try:
        return Bucket(float(burst), refill=float(rate))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"must be RATE:BURST, a rate from 0 and a burst from 1, such as 20:100: got {text!r}"
        ) from None
