"""A picture in the terminal: when a wait looks, over what becomes ready when."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..._core.distribution import Distribution
    from .timetable import Check

_ROWS = 6  # of the distribution
_WIDEST = 120
_NARROWEST = 20
_MARGIN = 2
_LABEL = 9  # columns from one label of the axis to the next, at least

# The axis ends where no more than this share of the waits is not ready.
_LEFT = 0.01

# A column that holds no more than this share of all waits may look empty.
_FAINT = 0.001


@dataclass(frozen=True)
class Glyphs:
    """What a picture is made of.

    Attributes:
        check: marks a check at the latest time that it may start.
        range: leads there from the earliest.
        line: the axis.
        tick: the axis where it has a label.
        levels: cells filled from not at all to all.
    """

    check: str
    range: str
    line: str
    tick: str
    levels: str


BLOCKS = Glyphs("▼", "─", "─", "┴", " ▁▂▃▄▅▆▇█")
ASCII = Glyphs("v", "-", "-", "+", " ..:::###")


def glyphs() -> Glyphs:
    """Return those that standard output can show."""
    try:
        "".join((BLOCKS.check, BLOCKS.line, BLOCKS.tick, BLOCKS.levels)).encode(
            sys.stdout.encoding or "ascii"
        )
    except (LookupError, UnicodeEncodeError):
        return ASCII
    return BLOCKS


def width() -> int:
    """Return the columns that a picture may fill."""
    return max(min(shutil.get_terminal_size().columns, _WIDEST), _NARROWEST)


def end(checks: Sequence[Check], latency: Distribution | None) -> float:
    """Return where an axis of time ends that shows what matters; above 0."""
    if latency is None:
        last = checks[-1].latest
    else:
        last = max(checks[0].latest, latency.quantile(1.0 - _LEFT))
    return 1.05 * last or 1.0


def draw(
    checks: Sequence[Check], latency: Distribution | None, *, columns: int, using: Glyphs
) -> str:
    """Return the lines of a picture.

    Args:
        checks: at least one.
        latency: what is drawn under them; None for nothing.
        columns: how wide it is.
        using: what it is made of.
    """
    axis = _Axis(end(checks, latency), columns - 2 * _MARGIN, using)
    lines = axis.marks(checks)
    if latency is not None:
        lines += axis.shares(latency)
    lines += axis.scale()
    caption = f"{using.check} checks"
    if latency is not None:
        caption += " over the share of waits that become ready at a time"
    later = sum(check.latest > axis.end for check in checks)
    if later:
        caption += f" ({later} {'check is' if later == 1 else 'checks are'} later)"
    return "\n".join((" " * _MARGIN + line).rstrip() for line in [*lines, caption])


class _Axis:
    """Time from 0 to an end, over so many columns."""

    def __init__(self, end: float, columns: int, using: Glyphs) -> None:
        self.end = end
        self._columns = columns
        self._using = using

    def marks(self, checks: Sequence[Check]) -> list[str]:
        """Return the numbers of the checks, as far as there is room, and marks below them."""
        shown = [check for check in checks if check.earliest <= self.end]
        marks = [" "] * self._columns
        numbers = [" "] * self._columns
        for check in shown:
            first, last = self._column(check.earliest), self._column(check.latest)
            marks[first : last + 1] = self._using.range * (last + 1 - first)
        free = 0
        for check in shown:
            if check.latest > self.end:
                continue
            at, number = self._column(check.latest), str(check.number)
            marks[at] = self._using.check
            if free <= at <= self._columns - len(number):
                numbers[at : at + len(number)] = number
                free = at + len(number) + 1
        return ["".join(numbers), "".join(marks)]

    def shares(self, latency: Distribution) -> list[str]:
        """Return a column for the share of the waits that become ready within its time."""
        each = self.end / self._columns
        by = [latency.ready(column * each) for column in range(1, self._columns + 1)]
        masses = [high - low for low, high in zip([0.0, *by], by, strict=False)]
        cell = len(self._using.levels) - 1
        scale = _ROWS * cell / (max(masses) or 1.0)
        heights = [max(round(mass * scale), mass > _FAINT) for mass in masses]
        return [
            "".join([self._using.levels[min(max(height - below, 0), cell)] for height in heights])
            for below in range((_ROWS - 1) * cell, -1, -cell)
        ]

    def scale(self) -> list[str]:
        """Return the axis and its labels."""
        line = [self._using.line] * self._columns
        labels = [" "] * self._columns
        step = _round_step(self.end * _LABEL / self._columns)
        decimals = max(-floor(log10(step)), 0)
        free = 0
        for count in range(floor(self.end / step) + 1):
            at = self._column(count * step)
            label = f"{count * step:.{decimals}f}" + (" s" if not count else "")
            line[at] = self._using.tick
            if free <= at <= self._columns - len(label):
                labels[at : at + len(label)] = label
                free = at + len(label) + 1
        return ["".join(line), "".join(labels)]

    def _column(self, time: float) -> int:
        return min(floor(time / self.end * self._columns), self._columns - 1)


def _round_step(least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, 20, ... and their tenths that is no less."""
    power = 10.0 ** floor(log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least)
