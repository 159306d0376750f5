"""Schedules of very many looks: as dense as they should be, in stretches of equal delays.

If a look costs c, the share of waits that is not ready is G, and what becomes ready in a second is
f, the best gap between looks is near ``sqrt(2 c G / f)``: there what a look costs is what is lost
in the gap before it. This holds for gaps in which f and G hardly change, so where looks are many;
and it is far quicker than to choose each of them, and needs no finer grid as they become more.

Source: Richard Barlow, Larry Hunter and Frank Proschan, "Optimum Checking Procedures", J. Society
for Industrial and Applied Mathematics 11(4), 1963, for the problem.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from math import log10, sqrt

from .duration import INFINITY
from .plan import looks_in_tail, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .distribution import Distribution
    from .evaluate import Look
    from .plan import Run
    from .schedule import Schedule

# How many stretches there are at most: each makes the text some 25 characters longer.
_STRETCHES = 96

# Delays are rounded to so many digits, and no clock tells shorter ones apart.
_DIGITS = 5
_SHORTEST = 1e-9


class Dense:
    """The stretches for one distribution.

    Args:
        latency: how long it takes until ready.
        known_until: the last time at which something like it was seen.
        look: what a check is.
        grid: times in order, from the first knot to the last, fine where much becomes ready.
    """

    def __init__(
        self, latency: Distribution, known_until: float, look: Look, grid: Sequence[float]
    ) -> None:
        self._latency = latency
        self._look = look
        self._start = latency.times[0]
        self._stretches = list(_stretches(latency, [time for time in grid if time <= known_until]))
        self._left = 1.0 - latency.ready(latency.times[-1])
        self._tail = latency.tail if known_until == INFINITY else 0.0

    def scale(self, checks: float) -> float:
        """Return the scale at which about so many checks are made."""
        efforts = [sqrt(share * unready * length) for length, share, unready in self._stretches]
        return (sum(efforts) + self._left * sqrt(self._tail)) / checks

    def schedule(self, scale: float) -> Schedule | None:
        """Return the schedule whose gaps are ``scale * sqrt(G / f)``; None if it has none.

        Args:
            scale: the root of twice the price of a look.
        """
        duration = self._look.duration
        gap, ended = 0.0, -self._look.seen_after
        last = self._start
        runs: list[Run] = []
        for target, count in self._parts(scale):
            gap = (target - last) / count
            if not runs:
                first = _rounded(max(last + gap + ended, 0.0))
                runs.append((first, 1))
                ended, count = first + duration, count - 1
            last = target
            if count:
                due = target - self._look.seen_after + duration
                delay = _rounded(max((due - ended) / count - duration, 0.0))
                runs.append((delay, count))
                ended += count * (delay + duration)
        if self._tail:
            gap = max(scale * sqrt(self._tail), duration, _SHORTEST)
            first = self._start - self._look.seen_after + gap
            runs = runs or [(_rounded(max(first, 0.0)), 1)]
            count = looks_in_tail(self._left, self._tail, gap)
            runs.append((_rounded(max(gap - duration, 0.0)), count))
        return written(runs, _rounded(max(gap - duration, gap / 16, _SHORTEST))) if runs else None

    def _parts(self, scale: float) -> Iterator[tuple[float, int]]:
        """Yield until when there are how many looks, from the end of one part to that of the next.

        What is less than one look goes over to the next part.
        """
        shortest = max(self._look.duration, _SHORTEST)
        due = 0.0
        ends = list(accumulate([length for length, _, _ in self._stretches], initial=self._start))
        for end, (length, share, unready) in zip(ends[1:], self._stretches, strict=True):
            if share:
                due += length / max(scale * sqrt(unready * length / share), shortest)
            if due >= 1.0 or (due and end == ends[-1]):
                yield end, max(round(due), 1)
                due = 0.0


def _stretches(
    latency: Distribution, grid: Sequence[float]
) -> Iterator[tuple[float, float, float]]:
    """Yield how long each stretch is, what becomes ready in it, and what is not, on average.

    They are equal in the looks that are made in them, and not all too long.
    """
    cells: list[tuple[float, float, float]] = []
    for before, after in pairwise(grid):
        early, late = latency.ready(before), latency.ready(after)
        grown = max(late - early, 0.0)  # which rounding may leave below 0
        cells.append((after - before, grown, max(1.0 - 0.5 * (early + late), 0.0)))
    total = sum(length for length, _, _ in cells)
    effort = sum(sqrt(share * unready * length) for length, share, unready in cells)
    length = share = unready = part = 0.0
    for cell, grown, left in cells:
        length, share, unready = length + cell, share + grown, unready + cell * left
        part += 0.75 * sqrt(grown * left * cell) / (effort or 1.0) + 0.25 * cell / (total or 1.0)
        if part >= 1.0 / _STRETCHES:
            yield length, share, unready / length
            length = share = unready = part = 0.0
    if length:
        yield length, share, unready / length


def _rounded(delay: float) -> float:
    """Return a delay without digits that make no difference."""
    if not delay:
        return 0.0
    return round(delay, _DIGITS - 1 - int(log10(delay) // 1.0))
