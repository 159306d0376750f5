"""The picture of a comparison: how late waits notice against the calls that they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pollwait.cli.schedules import plot

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pollwait.simulate import Report

# Kinds of ways: how their names begin, how they look, and whether they are one way with a knob,
# whose values are then joined by a line.
KINDS = {
    "group, model": ("group that goes by a latency model", plot.GREEN, "D", True),
    "group, learning": ("group that begins with nothing and learns", plot.SKY, "v", True),
    "group": ("group that follows the schedule 1.25;exp.5", plot.BLUE, "o", True),
    "fitted": ("fitted schedules, batched", plot.PURPLE, "P", False),
    "1.25;exp.5, alone": ("a call for each check", plot.PALE, "X", False),
    "": ("the published schedules, batched", plot.ORANGE, "s", False),
}

# Those whose first and last point say how the knob stands.
ENDS_NAMED = ("group, model", "group")

# Where names stand that would run into others: points to the right and up of their place.
RIGHT, LEFT, BELOW = (7, 1, "left"), (-7, 1, "right"), (0, -14, "center")
PLACES = {"1.5;1": LEFT}


def draw(path: Path, published: Mapping[str, Report], others: Mapping[str, Report]) -> None:
    """Draw all ways into a file.

    Args:
        path: the file, .svg or .png.
        published: the schedules that were published, by name.
        others: the other ways, by names that begin as ``KINDS`` has them.
    """
    path.parent.mkdir(exist_ok=True)
    with plot.drawn(str(path), height=5.4) as figure:
        axes = figure.add_subplot()
        _scale(axes)
        ways = {**others, **published}
        for begin, (label, colour, marker, joined) in KINDS.items():
            mine = {name: report for name, report in ways.items() if _kind(name) == begin}
            axes.plot(
                [report.calls for report in mine.values()],
                [report.overshoot for report in mine.values()],
                color=colour,
                marker=marker,
                markersize=6,
                linewidth=1.6 if joined else 0,
                label=label,
                zorder=3 if joined else 2,
            )
            if begin in ENDS_NAMED:
                *_, last = first, *_ = mine  # the knob's smallest and largest values
                _name(axes, f"{first.rpartition(', ')[2]} s", mine[first], BELOW)
                _name(axes, f"{last.rpartition(', ')[2]} s", mine[last], LEFT)
        for name, report in published.items():
            _name(axes, name, report, PLACES.get(name, RIGHT))
        figure.legend(loc="outside lower center", ncols=2)


def _kind(name: str) -> str:
    return next(begin for begin in KINDS if name.startswith(begin))


def _scale(axes: Any) -> None:
    """Set up the axes: both by orders of magnitude, so that a halving is as wide everywhere."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter("{x:g}")
    axes.margins(0.09)
    axes.set_xlabel("DescribeVolumes calls for 100 volumes")
    axes.set_ylabel("mean overshoot in seconds: from ready to noticed")
    axes.set_title("Fewer calls, or sooner: what 100 waits over 20 s can choose from")


def _name(axes: Any, name: str, report: Report, place: tuple[int, int, str]) -> None:
    aside, up, side = place
    axes.annotate(
        name,
        (report.calls, report.overshoot),
        xytext=(aside, up),
        textcoords="offset points",
        fontsize=8,
        ha=side,
    )
