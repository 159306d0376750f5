"""When to look for what becomes ready unseen: the optimal inspection problem, as a pure machine.

Theory of operation
-------------------
A wait is looked at again and again until it is seen ready. If G is the share of waits that are not
ready by a time, the expected cost of looking at x1 < x2 < ... is::

    x1 + G(x1) (x2 - x1 + cost) + G(x2) (x3 - x2 + cost) + ...

but for a constant. So what it costs to go on after a look at x in vain is the least, over the time
y of the next look, of ``G(x) (y - x + cost)`` and what it costs to go on after y. For each y this
is a line in G(x), and the least of many lines is found on their lower envelope: from late to early
times, lines come in the order of their slopes and are asked for in the order of G, so each is added
and dropped once, and all of it takes as many steps as there are times.

Times come from a grid that is fine where much becomes ready. Around the looks that it gives, the
grid is made finer, and again. Beyond the last knot of a distribution what is left decays
exponentially: there looks at one interval are the best, and what they cost is known.

As the cost of a look falls, the best number of looks rises in jumps. To get between them, the looks
on one side of a jump are kept to their number and moved as the cost changes.

Source: Richard Barlow, Larry Hunter and Frank Proschan, "Optimum Checking Procedures", J. Society
for Industrial and Applied Mathematics 11(4), 1963.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from math import ceil, expm1, log1p, sqrt

from .duration import INFINITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .distribution import Distribution

# Newton's method has found the best interval of the tail to the last digit long before.
_NEWTON = 60

# The cost and the interval, in means of the tail, up to which exp is no overflow.
_MOST_RELATIVE, _MOST_MEANS = 1e300, 700.0

# How many times the grid has: most where much becomes ready in a short time, some everywhere.
_GRID = 600
_EVEN_GRID = 150
_MOST_KNOTS = 1000
_TAIL_GRID = 48

# How often the grid is made finer around the looks, and into how many parts each gap is cut, unless
# the looks are so many that the grid is fine enough anyway.
_ROUNDS = 2
_PARTS = 8
_MOST_REFINED = 200

# Sums and differences of times are off by some parts in 10^16.
_ROUNDING = 1e-12

# How looks are moved: each by up to so many steps to either side at once, the steps a fraction of
# the mean gap at first, and shorter from round to round.
_REACH = 3
_FIRST_STEP = 1 / 4
_SHORTER = (1.0, 1.0, 0.4, 0.4, 0.16, 0.16, 0.06, 0.025, 0.01)

# The tail that is assumed for the time after all is ready, if a distribution has none: its mean as
# a share of the last time.
_TAIL = 1 / 16


class Inspection:
    """The problem for one distribution.

    Args:
        latency: how long it takes until ready.
        spacing: the least time between two looks.
        earliest: the earliest time of the first look.

    Attributes:
        grid: times from the first knot to the last, in order, more where more becomes ready.
    """

    def __init__(self, latency: Distribution, spacing: float, earliest: float) -> None:
        self._latency = latency
        self._spacing = spacing
        self._earliest = earliest
        self._end = latency.times[-1]
        self._tail = latency.tail or self._end * _TAIL
        self.grid = sorted(_grid(latency))

    def looks(self, cost: float) -> tuple[list[float], float]:
        """Return the best times to look at, and the interval at which to go on after the last.

        The last time is the first one beyond the last knot, or the one at which all is ready.

        Args:
            cost: how many seconds of being late one look is worth, > 0.
        """
        interval, going_on = self._in_tail(cost)
        times = self._times(self.grid, interval)
        looks = self._best(times, cost, going_on)
        for _ in range(_ROUNDS):
            if len(looks) > _MOST_REFINED:
                break
            times = self._times(_finer(times, looks), interval)
            looks = self._best(times, cost, going_on)
        return looks, interval

    def moved(self, looks: Sequence[float], cost: float) -> tuple[list[float], float]:
        """Return the best times near some looks, as many as they are, and the interval after them.

        Args:
            looks: what was best at another cost, in order.
            cost: how many seconds of being late one look is worth, > 0.
        """
        interval, going_on = self._in_tail(cost)
        step = _FIRST_STEP * (looks[-1] - looks[0]) / len(looks)
        for part in _SHORTER:
            looks = self._nearby(looks, step * part, cost, going_on)
        return list(looks), interval

    def _nearby(
        self, looks: Sequence[float], step: float, cost: float, going_on: float
    ) -> list[float]:
        """Return the best looks that are no more than a few steps away from others."""
        offsets = [step * number for number in range(-_REACH, _REACH + 1)]
        # For the looks from the last to the first: what it costs to go on from where it may be,
        # and all looks from there.
        onwards: list[tuple[float, float, list[float]]] = []
        for look in reversed(looks):
            places = [max(look + offset, self._earliest) for offset in offsets]
            onwards = [self._onward(place, onwards, cost, going_on) for place in places]
        _, _, best = min([(place + costs, place, further) for place, costs, further in onwards])
        return best

    def _onward(
        self,
        place: float,
        onwards: Sequence[tuple[float, float, list[float]]],
        cost: float,
        going_on: float,
    ) -> tuple[float, float, list[float]]:
        """Return a place, what it costs to go on from there, and it and all further looks."""
        left = 1.0 - self._latency.ready(place)
        if not onwards:
            possible = place >= self._end or not left
            return place, left * going_on if possible else INFINITY, [place]
        nearest = place + self._spacing - _ROUNDING * place
        least, further = INFINITY, onwards[-1][2]
        for following, costs, looks in onwards:
            if following >= nearest:
                on = left * (following - place + cost) + costs
                if on < least:
                    least, further = on, looks
        return place, least, [place, *further]

    def _in_tail(self, cost: float) -> tuple[float, float]:
        """Return the best interval beyond the last knot, and what a wait costs that gets there.

        The interval x solves ``exp(x / m) - x / m = 1 + cost / m``, m being the mean of the tail,
        unless the least spacing is longer.
        """
        mean = self._tail
        if not mean:  # all is ready at once
            return max(cost, self._spacing), cost
        relative = min(cost / mean, _MOST_RELATIVE)
        root = min(sqrt(2.0 * relative), 2.0 * log1p(relative), _MOST_MEANS)
        for _ in range(_NEWTON):
            before, root = root, root - (expm1(root) - root - relative) / expm1(root)
            if abs(root - before) <= 1e-12 * root:
                break
        interval = max(root * mean, self._spacing)
        return interval, (interval + cost) / -expm1(-interval / mean)

    def _times(self, grid: Sequence[float], interval: float) -> list[float]:
        """Return the times that a look may be at: a grid, and some in the tail."""
        first = max(self._earliest, self._latency.times[0])
        beyond = max(self._end, first)
        farthest = beyond + max(interval, self._spacing)
        tail = [beyond + part / _TAIL_GRID * (farthest - beyond) for part in range(_TAIL_GRID + 1)]
        return sorted({first, *[time for time in grid if time > first], *tail})

    def _best(self, times: Sequence[float], cost: float, going_on: float) -> list[float]:
        """Return the best looks among some times, up to the first beyond the last knot."""
        unready = [1.0 - self._latency.ready(time) for time in times]
        costs = [0.0] * len(times)
        following = [-1] * len(times)
        envelope = _Envelope()
        added = len(times)
        for at in range(len(times) - 1, -1, -1):
            time, left = times[at], unready[at]
            while times[added - 1] >= time + self._spacing and added - 1 > at:
                added -= 1
                envelope.add(times[added], costs[added], added)
            if time >= self._end:
                costs[at] = left * going_on
            else:
                least, following[at] = envelope.least(left)
                costs[at] = least + (cost - time) * left
        at = min(range(len(times)), key=lambda at: times[at] + costs[at])
        looks = [times[at]]
        while (at := following[at]) >= 0:
            looks.append(times[at])
        return looks


class _Envelope:
    """The least of many lines, which are added with falling slopes and asked at rising places."""

    def __init__(self) -> None:
        self._lines: list[tuple[float, float, int]] = []
        self._at = 0

    def add(self, slope: float, height: float, name: int) -> None:
        """Add a line, and drop those that are nowhere the least any more."""
        lines = self._lines
        while len(lines) > 1:
            (slope1, height1, _), (slope2, height2, _) = lines[-2], lines[-1]
            if (height - height1) * (slope1 - slope2) > (height2 - height1) * (slope1 - slope):
                break
            lines.pop()
        lines.append((slope, height, name))

    def least(self, place: float) -> tuple[float, int]:
        """Return the least value at a place, and the name of the line that has it."""
        lines = self._lines
        at = min(self._at, len(lines) - 1)
        slope, height, name = lines[at]
        least = slope * place + height
        while at + 1 < len(lines):
            slope, height, next_name = lines[at + 1]
            value = slope * place + height
            if value > least:
                break
            at, least, name = at + 1, value, next_name
        self._at = at
        return least, name


def _grid(latency: Distribution) -> Iterator[float]:
    """Yield the knots, and times between them.

    The best looks are as dense as the square root of what becomes ready in a second, or nearly so.
    """
    knots = list(zip(latency.times, latency.shares, strict=True))
    knots = [*knots[: -1 : ceil(len(knots) / _MOST_KNOTS)], knots[-1]]
    roots = [sqrt((share2 - share1) * (t2 - t1)) for (t1, share1), (t2, share2) in pairwise(knots)]
    fine, even = sum(roots) or 1.0, (latency.times[-1] - latency.times[0]) or 1.0
    yield latency.times[0]
    for ((before, _), (after, _)), root in zip(pairwise(knots), roots, strict=True):
        parts = ceil(_GRID * root / fine + _EVEN_GRID * (after - before) / even)
        for part in range(1, parts):
            yield before + part / parts * (after - before)
        yield after


def _finer(times: Sequence[float], looks: Sequence[float]) -> list[float]:
    """Return the looks, and times between each and its neighbours."""
    finer = set(looks)
    for look in looks:
        at = bisect_left(times, look)
        around = times[max(at - 1, 0) : at + 2]
        for before, after in pairwise(around):
            finer.update([before + part / _PARTS * (after - before) for part in range(_PARTS + 1)])
    return sorted(finer)
