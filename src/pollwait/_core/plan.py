"""Times to look at, and the schedule that looks then."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, floor, log, log10

from .duration import INFINITY
from .schedule import exponential, fixed, sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from .distribution import Distribution
    from .evaluate import Look
    from .schedule import Schedule

    # A delay, and how often it comes in a row.
    Run: TypeAlias = tuple[float, int]

# The planned delays end where nothing of the kind was seen, or where no more than this share of all
# waits is not ready; in the tail of a given distribution they end sooner. There looks at short
# intervals go on for longer, or what the backoff loses would be more than what they gain: up to
# this share of the interval, by its ratio to the mean of the tail.
_LEFT = 1e-4
_LEFT_IN_TAIL = 1e-3
_LEFT_PER_INTERVAL = 1 / 64

# By what the delays grow from there. The true tail may be heavier than it seems, and a backoff
# finds what is late all the same, without very many checks.
_FACTOR = 1.5

# The backoff starts at no less than this share of the time that has passed, unless the delays in
# the tail are shorter; these count as this share of a check's duration at least.
_BACKOFF = 1 / 16

# Delays are rounded to so many decimals, or to two digits of a usual one if that is more.
_DECIMALS = 3
_MOST_DECIMALS = 12

# So many equal delays in a row are written as one.
_RUN = 4


class Plan:
    """Times to look at, and what they were chosen by.

    Attributes:
        looks: the best times, as far as they were chosen.
        interval: how they go on.
        price: how many seconds of being late a check is worth.
    """

    __slots__ = ("interval", "looks", "price")

    def __init__(self, looks: Sequence[float], interval: float, price: float) -> None:
        self.looks = looks
        self.interval = interval
        self.price = price


class Writer:
    """Turns plans into schedules.

    Args:
        latency: how long it takes until ready.
        known_until: the last time at which something like it was seen.
        look: what a check is.
    """

    def __init__(self, latency: Distribution, known_until: float, look: Look) -> None:
        self._latency = latency
        self._known_until = known_until
        self._look = look

    def schedule(self, plan: Plan) -> Schedule:
        """Return the schedule that looks at the planned times, nearly, and then backs off."""
        looks, repeats = self._part(plan)
        times = [*plan.looks, plan.looks[-1] + plan.interval][: len(looks) + 1]
        decimals = _decimals(times)
        delays: list[float] = []
        ended, ready = 0.0, 0.0
        for time, following in pairwise(times):
            delay = self._rounded(time, following + plan.price, ended, ready, decimals)
            delays.append(delay)
            ready = self._latency.ready(ended + delay + self._look.seen_after)
            ended += delay + self._look.duration
        at_last = round(max(plan.interval - self._look.duration, 10.0**-decimals), decimals)
        due = times[-1] - self._look.seen_after - ended
        backoff = max(due, min(max(at_last, _BACKOFF * self._look.duration), _BACKOFF * ended))
        runs = [*[(delay, 1) for delay in delays], (at_last, repeats)]
        return written(runs, round(backoff, decimals) or at_last)

    def _part(self, plan: Plan) -> tuple[Sequence[float], int]:
        """Return the looks until few waits are left, and how many more come at the interval."""
        left = 1.0
        for count, time in enumerate(plan.looks, start=1):
            left = 1.0 - self._latency.ready(time)
            if left <= _LEFT or time >= self._known_until:
                return plan.looks[:count], 0
        return plan.looks, looks_in_tail(left, self._latency.tail, plan.interval)

    def _rounded(
        self, time: float, following: float, ended: float, ready: float, decimals: int
    ) -> float:
        """Return the best round delay for a look at a time.

        Shorter or longer makes no difference as a rule, but all that becomes ready at one moment is
        missed just before it.
        """
        scale, seen_after = 10.0**decimals, self._look.seen_after
        least, chosen = INFINITY, 0.0
        first = max(floor((time - seen_after - ended) * scale), 0)
        for number in (first, first + 1, first + 2):
            delay = round(number / scale, decimals)
            at = ended + delay + seen_after
            cost = (1.0 - ready) * at + (1.0 - self._latency.ready(at)) * (following - at)
            if cost < least:
                least, chosen = cost, delay
        return chosen


def _decimals(times: Sequence[float]) -> int:
    """Return to how many decimals the delays between some times are rounded."""
    gaps = sorted([after - before for before, after in pairwise([0.0, *times]) if after > before])
    usual = gaps[len(gaps) // 2]
    return min(max(_DECIMALS, 1 - floor(log10(usual))), _MOST_DECIMALS)


def looks_in_tail(left: float, tail: float, interval: float) -> int:
    """Return how many looks there are in a tail before they back off.

    Args:
        left: the share of all waits that is not ready where the tail begins.
        tail: its mean.
        interval: the time between two looks.
    """
    until = min(_LEFT_IN_TAIL, _LEFT_PER_INTERVAL * interval / tail)
    return ceil(max(log(left / until), 0.0) * tail / interval)


def written(runs: Iterable[Run], start: float) -> Schedule:
    """Return the schedule of an initial delay, further delays, and a backoff.

    Args:
        runs: the delays; the first is the initial one.
        start: the first delay of the backoff.
    """
    parts: list[Schedule] = []
    few: list[float] = []
    (initial, again), *further = _joined(runs)
    for delay, count in [(initial, again - 1), *further]:
        if count < _RUN:
            few += [delay] * count
            continue
        if few:
            parts.append(sequence(*few))
            few = []
        parts.append(fixed(delay).times(count))
    if few:
        parts.append(sequence(*few))
    parts.append(exponential(start, factor=_FACTOR))
    schedule = parts[0]
    for part in parts[1:]:
        schedule += part
    return schedule.after(initial)


def _joined(runs: Iterable[Run]) -> list[Run]:
    """Return runs of which no two neighbours have the same delay, and none is empty."""
    joined: list[Run] = []
    for delay, count in runs:
        if joined and joined[-1][0] == delay:
            count += joined.pop()[1]
        if count:
            joined.append((delay, count))
    return joined
