"""What is expected of many waits as time goes by, and the best moment to ask for them."""

from __future__ import annotations

from .schedule import MAX_DELAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from .cohorts import Cohort
    from .outlook import Outlook

# The shares of the cost at whose loss a call may be made at the earliest, and is at the latest.
EARLIEST = 0.25
LATEST = 4.0

# At how many times between these the rule is looked at.
_STEPS = 24

# A step back that is shorter than this share of the way is the last one.
_CLOSE = 1e-4

# Each step back is half of the way at least, but for what rounding does, so no search needs more.
_MOST_STEPS = 64


class _Term:
    """What is expected of the waits of one cohort, each.

    Its times are in seconds from an origin among them, since those of a clock have few digits left
    where its numbers are large.
    """

    __slots__ = ("age", "cohort", "count", "lost", "odds", "ready", "seen")

    def __init__(self, cohort: Cohort, count: int, outlook: Outlook) -> None:
        self.cohort = cohort
        self.count = count
        began, self.seen = cohort.times()
        self.age = self.seen - began
        self.lost = outlook.lost(self.age)
        self.ready = outlook.ready(self.age)
        self.odds = 1.0 / (1.0 - self.ready)  # it was not ready when it was last seen


class Expected:
    """The sums over some waits of what is expected of each.

    Args:
        outlook: what is expected of a wait that begins.
        counts: how many waits of which cohorts.
        most: how many of them count: those of which the most is expected.

    Attributes:
        since: when the last of them was seen.
    """

    __slots__ = ("_crowded", "_most", "_outlook", "_terms", "since")

    def __init__(self, outlook: Outlook, counts: Iterable[tuple[Cohort, int]], most: int) -> None:
        self._outlook = outlook
        self._terms = [_Term(cohort, count, outlook) for cohort, count in counts]
        self._most = most
        self._crowded = sum(term.count for term in self._terms) > most
        self.since = max(term.seen for term in self._terms)
        for term in self._terms:
            term.seen -= self.since

    def at(self, time: float) -> tuple[float, float]:
        """Return the seconds that are lost by a time, and how many are ready then."""
        return self.after(time - self.since)

    def after(self, time: float) -> tuple[float, float]:
        """Return the same for a time in seconds from ``since``."""
        if self._crowded:
            return self._crowded_after(time)
        all_lost = all_ready = 0.0
        for term in self._terms:
            lost, ready = self._each(term, time)
            all_lost += term.count * lost
            all_ready += term.count * ready
        return all_lost, all_ready

    def ranked(self, time: float) -> list[Cohort]:
        """Return the cohorts, those first of which each wait has lost the most by a time."""
        after = time - self.since
        terms = sorted(self._terms, key=lambda term: -self._each(term, after)[0])
        return [term.cohort for term in terms]

    def _crowded_after(self, time: float) -> tuple[float, float]:
        each = [(*self._each(term, time), term.count) for term in self._terms]
        all_lost = all_ready = 0.0
        room = self._most
        for lost, ready, count in sorted(each, reverse=True):
            carried = min(count, room)
            all_lost += carried * lost
            all_ready += carried * ready
            room -= carried
        return all_lost, all_ready

    def _each(self, term: _Term, time: float) -> tuple[float, float]:
        since = time - term.seen
        if since <= 0.0:
            return 0.0, 0.0
        age = term.age + since
        lost = self._outlook.lost(age) - term.lost - since * term.ready
        return max(lost, 0.0) * term.odds, (self._outlook.ready(age) - term.ready) * term.odds


def best_moment(expected: Expected, cost: float, stride: float) -> float:
    """Return the time as of which a call should see the waits, if it costs so much."""
    return expected.since + _best_after(expected, cost, stride)


def _best_after(expected: Expected, cost: float, stride: float) -> float:
    """Return that time in seconds from when the last wait was seen."""
    latest = _reached(expected, LATEST * cost, _beyond(expected, LATEST * cost, stride))
    earliest = _reached(expected, EARLIEST * cost, latest)
    step = (latest - earliest) / _STEPS
    if step <= 0.0:
        return earliest  # all of it was lost before the last of them was seen
    ready = expected.after(earliest)[1]
    before = 0.0
    for number in range(_STEPS):
        time = earliest + number * step
        later = expected.after(time + step)[1]
        excess = ready * ready - 2.0 * cost * (later - ready) / step
        if excess >= 0.0:
            return time - step * excess / (excess - before) if before < 0.0 else time
        ready, before = later, excess
    return latest


def _beyond(expected: Expected, lost: float, time: float) -> float:
    """Return a time by which so much is lost, from one on, or the longest delay that there is."""
    while time < MAX_DELAY and expected.after(time)[0] < lost:
        time *= 2.0
    return min(time, MAX_DELAY)


def _reached(expected: Expected, lost: float, time: float) -> float:
    """Return when so much is lost, or when the waits were last seen if that is later.

    What is lost grows ever faster, so each step back from a time at which it is more ends at one
    at which it still is.
    """
    for _ in range(_MOST_STEPS):
        so_far, ready = expected.after(time)
        if so_far <= lost or not ready:
            break
        step = (so_far - lost) / ready
        time -= step
        if time <= 0.0:
            return 0.0
        if step <= _CLOSE * time:
            break
    return time
