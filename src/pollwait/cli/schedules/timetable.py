"""When a wait looks, by the rules of the wait itself: its machine is told that nothing is ready."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, zip_longest
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..._core.duration import INFINITY
from ..._core.evaluate import Evaluation, Look, evaluate
from ..._core.settings import Settings
from ..._core.wait import Wait

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..._core.distribution import Distribution
    from ..._core.rules import Rng
    from ..._core.schedule import Schedule

Ends: TypeAlias = Literal["timeout", "schedule"]

# Random schedules are averaged over so many runs where there is no formula: as many as this many
# checks make, within bounds.
_STEPS = 200_000
_FEWEST_RUNS, _MOST_RUNS = 4, 400

# So many checks at one time, when checks take none, have no end.
_MOST_STANDING = 10_000

# What is left once less than this share of the waits is not ready makes no difference.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Check:
    """One check of a wait; all times are in seconds.

    Attributes:
        number: its number, from 1.
        earliest: when it starts if chance makes all delays as short as can be.
        latest: when it starts if chance makes them as long as can be.
        shortest: the delay before it in the first case.
        longest: that in the second.
    """

    number: int
    earliest: float
    latest: float
    shortest: float
    longest: float


@dataclass(frozen=True)
class Timetable:
    """The first checks of a wait.

    Attributes:
        checks: the checks.
        ends: what makes the last of them the last one; None if more would follow.
    """

    checks: list[Check]
    ends: Ends | None

    @property
    def random(self) -> bool:
        """Whether chance has a say in the times."""
        return any(check.earliest != check.latest for check in self.checks)


@dataclass(frozen=True)
class Plan:
    """What a wait is to go by.

    Attributes:
        schedule: its schedule.
        timeout: seconds; None for no limit.
        look: what a check takes, and when it sees.
    """

    schedule: Schedule
    timeout: float | None
    look: Look

    def timetable(self, most: int) -> Timetable:
        """Return the first checks, so many at most."""
        soonest, latest = self._wait(_Constant(1.0)), self._wait(_Constant(0.0))
        soon = list(islice(self._starts(soonest), most))
        late = list(islice(self._starts(latest), most))
        held = late[-1][0], 0.0  # the run of the longest delays may be over sooner
        ends: Ends | None = "schedule" if soonest.reason else None
        if soonest.reason == "timeout":
            ends = "timeout"
        checks = [
            Check(number, early[0], max(early[0], late[0]), early[1], max(early[1], late[1]))
            for number, (early, late) in enumerate(zip_longest(soon, late, fillvalue=held), 1)
        ]
        return Timetable(checks, ends)

    def expected(self, latency: Distribution) -> Evaluation:
        """Return the expected figures, with the timeout in force.

        Raises:
            ValueError: no time passes, since delays are 0 and checks take none.
        """
        look = self.look
        if self.timeout is None:
            part = look.seen_after / look.duration if look.duration else 0.0
            return evaluate(self.schedule, latency, check_duration=look.duration, sees_at=part)
        runs = [
            self._sums(latency, rng) for rng in self._chances(latency.quantile(1.0 - _NEGLIGIBLE))
        ]
        late, checks, noticed = (fmean(sums) for sums in zip(*runs, strict=True))
        overshoot = late / noticed + look.duration - look.seen_after if noticed else INFINITY
        return Evaluation(overshoot, checks, noticed)

    def noticed(self, latency: Distribution, times: Sequence[float]) -> list[float]:
        """Return which share of the waits is noticed ready by each of some times, in order."""
        runs = [self._noticed(latency, times, rng) for rng in self._chances(times[-1])]
        return [fmean(shares) for shares in zip(*runs, strict=True)]

    def _noticed(self, latency: Distribution, times: Sequence[float], rng: Rng) -> Iterator[float]:
        share, starts = 0.0, self._starts(self._wait(rng))
        start = next(starts)[0]
        for time in times:
            while start + self.look.duration <= time:
                share = latency.ready(start + self.look.seen_after)
                start = next(starts, (INFINITY, 0.0))[0]
            yield share

    def _chances(self, until: float) -> Sequence[Rng]:
        """Return generators for as many runs, up to a time, as an average over chance needs."""
        chance, steps = _Constant(0.5), 0
        for start, _ in self._starts(self._wait(chance)):
            steps += 1
            if start >= until:
                break
        if not chance.asked:
            return [chance]
        return [Random(run) for run in range(min(max(_STEPS // steps, _FEWEST_RUNS), _MOST_RUNS))]

    def _sums(self, latency: Distribution, rng: Rng) -> tuple[float, float, float]:
        """Return the mean lateness, the mean number of checks and the share that is noticed."""
        late = checks = share = lost = before = 0.0
        for start, _ in self._starts(self._wait(rng)):
            at = start + self.look.seen_after
            checks += 1.0 - share
            lost_by_then = latency.lost(at)
            late += lost_by_then - lost - (at - before) * share
            before, lost, share = at, lost_by_then, latency.ready(at)
            if 1.0 - share < _NEGLIGIBLE:
                break
        return late, checks, share

    def _wait(self, rng: Rng) -> Wait:
        return Wait(Settings(schedule=self.schedule, timeout=self.timeout), "plan", 0.0, rng)

    def _starts(self, wait: Wait) -> Iterator[tuple[float, float]]:
        """Yield when each check starts, and the delay before it."""
        now, standing = 0.0, 0
        while (delay := wait.delay) is not None:
            standing = 0 if delay or self.look.duration else standing + 1
            if standing > _MOST_STANDING:
                raise ValueError("no time passes: the delays are 0, and checks take none")
            now += delay
            wait.check_started = now
            wait.report(None, now + self.look.duration)
            yield now, delay
            now += self.look.duration


class _Constant:
    """A generator that always draws the same number."""

    def __init__(self, drawn: float) -> None:
        self._drawn = drawn
        self.asked = False

    def random(self) -> float:
        self.asked = True
        return self._drawn
