"""The plot of a simulation: what each way of waiting gives for its calls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from . import plot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...simulate import Report
    from .plot import Axes

_NAME = 32  # characters of a schedule's name

# Names closer than this, in points, would run into each other.
_WIDE, _HIGH = 100.0, 8.0

# How each kind of way looks, by how its name begins; the longer one first.
_KINDS = {
    "grouped, call cost": ("group that goes by latency", plot.GREEN, "D"),
    "grouped": ("group that goes by schedule", plot.BLUE, "o"),
    "batched": ("batched", plot.PURPLE, "s"),
    "single": ("single", plot.ORANGE, "^"),
}


def draw(path: str, reports: Sequence[Report]) -> None:
    """Draw overshoot against calls into a file.

    Raises:
        UsageError: the file cannot be written.
    """
    shown = [report for report in reports if report.overshoot < math.inf]
    with plot.drawn(path) as figure:
        axes = figure.add_subplot()
        best = _best(shown)
        axes.plot(
            [report.calls for report in best],
            [report.overshoot for report in best],
            color=plot.PALE,
            linewidth=1.2,
            linestyle=(0, (4, 3)),
            label="the best there are",
            zorder=1,
        )
        for kind, (label, colour, marker) in _KINDS.items():
            mine = [report for report in shown if _kind(report) == kind]
            axes.scatter(
                [report.calls for report in mine],
                [report.overshoot for report in mine],
                color=colour,
                marker=marker,
                label=label,
            )
        _scale(axes, logarithmic=bool(shown))
        axes.set_title("How late waits notice, and what that costs")
        _names(axes, shown)
        figure.legend(loc="outside lower center", ncols=3)


def _scale(axes: Axes, *, logarithmic: bool) -> None:
    """Set up the axes: calls by orders of magnitude, if there are any; overshoot from 0."""
    if logarithmic:
        plot.log_axis(axes)
    axes.margins(x=0.15)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("calls in each run")
    axes.set_ylabel("mean overshoot in seconds")


def _names(axes: Axes, reports: Sequence[Report]) -> None:
    """Write the name of each way at its point, higher where that place is taken."""
    points_of_pixel = 72.0 / axes.figure.dpi
    taken: list[tuple[float, float]] = []
    for report in sorted(reports, key=lambda each: each.overshoot):
        x, y = axes.transData.transform((report.calls, report.overshoot)) * points_of_pixel
        up = 4.0
        while any(abs(x - left) < _WIDE and abs(y + up - low) < _HIGH for left, low in taken):
            up += 1.0
        taken.append((x, y + up))
        axes.annotate(
            plot.cut(report.strategy.partition(", ")[2], _NAME),
            (report.calls, report.overshoot),
            xytext=(6.0, up),
            textcoords="offset points",
            fontsize=7.5,
        )


def _kind(report: Report) -> str:
    return next(kind for kind in _KINDS if report.strategy.startswith(kind))


def _best(reports: Sequence[Report]) -> list[Report]:
    """Return those that no other beats in both ways, by their calls."""
    best: list[Report] = []
    for report in sorted(reports, key=lambda each: (each.calls, each.overshoot)):
        if not best or report.overshoot < best[-1].overshoot:
            best.append(report)
    return best
