"""The plot of a plan: when a schedule looks, over what is ready by when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import plot
from .picture import end
from .tables import seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._core.distribution import Distribution
    from ..._core.evaluate import Evaluation
    from .plot import Axes
    from .timetable import Check, Plan, Timetable


def draw(
    path: str,
    plan: Plan,
    timetable: Timetable,
    latency: Distribution | None,
    expected: Evaluation | None,
) -> None:
    """Draw a plan into a file.

    Raises:
        UsageError: the file cannot be written.
    """
    checks = timetable.checks
    last = end(checks, latency)
    with plot.drawn(path) as figure:
        axes = figure.add_subplot()
        if latency is None or expected is None:
            _delays(axes, checks)
        else:
            _shares(axes, plan, checks, latency, expected, last)
        axes.set_xlim(0.0, last)
        axes.set_xlabel("seconds from the start of the wait")
        axes.set_title(plot.cut(str(plan.schedule)))
        axes.legend(loc="lower right" if latency else "upper left")


def _delays(axes: Axes, checks: Sequence[Check]) -> None:
    """Draw the delay before each check."""
    _marks(axes, checks)
    for check in checks:
        axes.hlines(check.longest, check.earliest, check.latest, color=plot.SKY)
    axes.plot(
        [check.latest for check in checks],
        [check.longest for check in checks],
        color=plot.BLUE,
        marker="o",
        markersize=4,
        label="delay before it",
    )
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("delay in seconds")


def _shares(
    axes: Axes,
    plan: Plan,
    checks: Sequence[Check],
    latency: Distribution,
    expected: Evaluation,
    last: float,
) -> None:
    """Draw the shares that are ready and noticed; what lies between them is the mean overshoot."""
    shown = [check for check in checks if check.earliest <= last]
    steps = [check.latest + plan.look.duration for check in shown]
    times = plot.curve(latency, last, steps)
    seen = plan.noticed(latency, times)
    ready = [latency.ready(time) for time in times]
    axes.fill_between(
        times,
        seen,
        ready,
        color=plot.ORANGE,
        alpha=0.18,
        linewidth=0,
        label=f"overshoot, {seconds(expected.overshoot)} s on average",
    )
    plot.ready_curve(axes, latency, last)
    axes.plot(times, seen, color=plot.ORANGE, label="noticed")
    _marks(axes, shown)
    for check in shown:
        axes.hlines(1.01, check.earliest, check.latest, color=plot.PALE, linewidth=3.0)
    plot.share_axis(axes, "share of all waits")


def _marks(axes: Axes, checks: Sequence[Check]) -> None:
    """Draw a line for each check, at the latest time at which it may start."""
    for check in checks:
        axes.axvline(
            check.latest,
            color=plot.PALE,
            linewidth=1.0,
            linestyle=(0, (4, 3)),
            zorder=1,
            gid=f"check-{check.number}",
            label="check" if check.number == 1 else None,
        )
