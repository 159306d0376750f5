"""The plot of fitted schedules: what they cost, and when they look."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from . import plot
from .tables import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .fit import Candidate
    from .plot import Axes
    from .samples import Samples

_ROW = 0.32  # inches for each schedule
_MOST = 200  # checks of a schedule that are drawn
_NAME = 24  # characters of a schedule's name
_LEFT = 0.01  # the share of the waits for which there is no room


def draw(path: str, read: Samples, found: Sequence[Candidate]) -> None:
    """Draw the schedules over the latency into a file.

    Raises:
        UsageError: the file cannot be written.
    """
    latency = read.latency
    last = 1.05 * latency.quantile(1.0 - _LEFT) or 1.0
    with plot.drawn(path, height=3.4 + _ROW * len(found)) as figure:
        upper, lower = figure.subplots(
            2, 1, sharex=True, height_ratios=(2.2, 0.3 + _ROW * len(found))
        )
        plot.ready_curve(upper, latency, last)
        plot.share_axis(upper, "share of all waits")
        upper.set_title(plot.cut(f"{PurePath(read.source).name}: {read.counts}"))
        upper.legend(loc="lower right")
        _rows(lower, found, last)
        lower.set_xlim(0.0, last)
        lower.set_xlabel("seconds from the start of the wait")


def _rows(axes: Axes, found: Sequence[Candidate], last: float) -> None:
    """Draw a row of checks for each schedule."""
    for row, each in enumerate(found):
        times = [check.latest for check in each.schedule.preview(_MOST)]
        axes.eventplot(
            plot.inside(times, last),
            lineoffsets=row,
            linelengths=0.6,
            linewidths=1.6,
            colors=plot.ORANGE if each.fitted else plot.PALE,
            gid=f"schedule-{row + 1}",
        )
    axes.set_title("When each schedule looks (mean overshoot, mean number of checks)")
    axes.set_yticks(
        range(len(found)),
        [_label(each) for each in found],
    )
    axes.set_ylim(len(found) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")


def _label(each: Candidate) -> str:
    figures = f"{seconds(each.overshoot)} s, {each.checks:.2f} checks"
    return f"{plot.cut(each.name, _NAME)}: {figures}"
