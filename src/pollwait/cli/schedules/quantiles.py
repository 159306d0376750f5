"""A distribution as people write it down: how many percent are ready by when."""

from __future__ import annotations

import argparse
from itertools import pairwise
from math import log

from ..._core.distribution import Distribution
from .._arguments import duration


def quantiles(text: str) -> Distribution:
    """Return the distribution that a text such as ``50=1.6,90=1.9,99=4.3`` says.

    A ``type`` of argparse's.
    """
    points = [_point(part) for part in text.split(",")]
    if points[0][0] > 0.0:
        points.insert(0, (0.0, 0.0))
    if len(points) < 2:
        raise argparse.ArgumentTypeError(f"one percent above 0 must be given: got {text!r}")
    for (share, time), (next_share, next_time) in pairwise(points):
        if next_share <= share or next_time < time:
            raise argparse.ArgumentTypeError(
                f"percents and seconds must rise: got {100 * next_share:g}={next_time:g} after"
                f" {100 * share:g}={time:g}"
            )
    return Distribution(
        [time for _, time in points], [share for share, _ in points], _tail(points, text)
    )


def _point(text: str) -> tuple[float, float]:
    """Return the share and the seconds of one ``PERCENT=SECONDS``."""
    percent, equals, seconds = text.partition("=")
    try:
        share = float(percent) / 100
        time = duration(seconds.strip())
    except (ValueError, argparse.ArgumentTypeError):
        share, time = -1.0, 0.0
    if not equals or not 0.0 <= share <= 1.0:
        raise argparse.ArgumentTypeError(
            f"must be PERCENT=SECONDS, such as 50=1.6,90=1.9: got {text!r}"
        )
    return share, time


def _tail(points: list[tuple[float, float]], text: str) -> float:
    """Return the mean of an exponential tail that goes on as between the last two points."""
    (share, time), (last_share, last_time) = points[-2:]
    if last_share == 1.0:
        return 0.0
    if last_time == time:
        raise argparse.ArgumentTypeError(
            f"seconds must rise at the end, unless that is 100 percent: got {text!r}"
        )
    return (last_time - time) / log((1.0 - share) / (1.0 - last_share))
