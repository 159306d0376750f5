"""The schedule that fits best what was seen."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt

from .dense import Dense
from .distribution import Distribution
from .duration import INFINITY, real
from .evaluate import Look, figures
from .inspection import Inspection
from .latency import LatencyModel, observed
from .plan import Plan, Writer
from .rules import MAX_DELAY
from .samples import iterable
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .duration import Duration
    from .latency import Latency
    from .schedule import Schedule

# The price of a check that leads to the wanted number of checks is enclosed in steps of ten, of
# which so many lead to prices of nearly nothing, and then searched for to this ratio.
_DECADES = 8
_RATIO = 1.002

# At prices beyond this nothing changes: it is far more than the longest delay.
_HIGHEST_PRICE = 1e3 * MAX_DELAY

# Times below this count as 0: no clock tells them apart, and their squares could underflow.
_SHORTEST = 1e-9

# If that leaves out more than this share of the checks, the plans of both ends are kept to their
# number of looks while the price changes in such steps.
_LEFT_OUT = 0.002
_MOST_MOVED = 100
_STEP = 1.1
_STEPS, _STEPS_BETWEEN = 40, 10

# From so many checks on, schedules that are made of stretches are tried as well, some of them.
_MANY_CHECKS = 30.0
_TURNS = 6
_SAFELY = 1.0002


class Fit(Value):
    """A schedule, and what to expect of it.

    Attributes:
        schedule: the schedule.
        overshoot: the mean number of seconds from ready to noticed.
        checks: the mean number of checks.
    """

    __slots__ = ("schedule", "overshoot", "checks")
    schedule: Schedule
    overshoot: float
    checks: float

    def __init__(self, schedule: Schedule, overshoot: float, checks: float) -> None:
        self._fill(schedule, overshoot, checks)


def fit(
    samples: Latency,
    *,
    max_checks: float | None = None,
    check_cost: float | None = None,
    check_duration: Duration = 0.0,
    sees_at: float = 0.0,
) -> Fit:
    """Return the schedule that notices soonest what becomes ready as the samples did.

    It makes the mean overshoot, the time from ready to noticed, as small as it can be at a mean
    number of checks: either a given number, or the one at which a further check is worth no more
    than it costs. It looks often when much becomes ready and seldom when little does. Beyond what
    was seen it backs off. It goes by the samples as smoothed: on the samples themselves another
    schedule may do better by what is chance in them, and on those to come the fitted one is nearly
    the best as far as they are alike.

    It is the best for waits that each look for themselves. Waits that share calls do better in a
    ``PollGroup`` that is given the same samples as ``latency``.

    Args:
        samples: how long it takes from the start of a wait until ready: times in seconds, or
            intervals ``(not_ready_at, ready_at)`` as a poller sees them, ``(not_ready_at, None)``
            for what was never seen ready; or a ``LatencyModel`` or a ``Distribution``. A
            few hundred are plenty.
        max_checks: how many checks a wait may make on average, >= 1: neither over the samples nor
            with what to expect beyond them. Of few samples much is left for the latter.
        check_cost: how many seconds of overshoot one check is worth, > 0. One of the two is given.
        check_duration: how many seconds a check takes (or a timedelta); checks do not overlap.
        sees_at: at which part of its duration a check looks: 0 for its start, 1 for its end.

    Returns:
        A ``Fit``. Its figures are those that ``evaluate`` gives for its schedule and the samples.
        The delays are rounded to milliseconds, or finer where they are short.

    Raises:
        TypeError: an argument is of another type, or both or none of ``max_checks`` and
            ``check_cost`` are given.
        ValueError: a number is out of range; there are no samples; times are beyond ``MAX_DELAY``;
            or no schedule has so few checks, which is so only where times are near to that.

    Timing:
        Some tenths of a second, however many samples and checks there are, and a few microseconds
        for each sample.

    Source:
        Richard Barlow, Larry Hunter and Frank Proschan, "Optimum Checking Procedures", J. Society
        for Industrial and Applied Mathematics 11(4), 1963.

    Example:
        >>> from pollwait import fit
        >>> fit([1.0, 1.25, 1.5, 1.75, 2.0], max_checks=2).checks <= 2
        True
    """
    if (max_checks is None) == (check_cost is None):
        raise TypeError(
            "give either max_checks or check_cost:"
            f" got max_checks={max_checks!r}, check_cost={check_cost!r}"
        )
    fitter = _fitter(samples, Look(check_duration, sees_at))
    if max_checks is None:
        cost = real(check_cost, "check_cost", "a number")
        if not 0.0 < cost < INFINITY:
            raise ValueError(f"check_cost must be finite and > 0: got check_cost={check_cost!r}")
        return fitter.priced(min(cost, _HIGHEST_PRICE))
    most = real(max_checks, "max_checks", "a number")
    if not 1.0 <= most < INFINITY:
        raise ValueError(f"max_checks must be finite and >= 1: got max_checks={max_checks!r}")
    return fitter.limited(most)


def _fitter(samples: Latency, look: Look) -> _Fitter:
    if isinstance(samples, Distribution):
        _refuse_too_long(max(samples.times[-1], samples.tail))
        return _Fitter(_coarse(samples), INFINITY, samples, look)
    if isinstance(samples, LatencyModel):
        _refuse_too_long(samples.longest)
        expected = observed(samples)
        return _Fitter(expected, samples.longest, expected, look)
    seen = list(iterable(samples))
    model = LatencyModel(seen, memory=None)
    _refuse_too_long(model.longest)
    return _Fitter(model.distribution(), model.longest, observed(seen), look)


def _refuse_too_long(longest: float) -> None:
    if longest > MAX_DELAY:
        raise ValueError(
            f"samples must not be longer than MAX_DELAY ({MAX_DELAY:,.0f} s):"
            f" got {longest!r} among them"
        )


def _coarse(latency: Distribution) -> Distribution:
    """Return a distribution without times that are too short to be told apart."""
    if all(time == 0.0 or time >= _SHORTEST for time in (*latency.times, latency.tail)):
        return latency
    times = [time if time >= _SHORTEST else 0.0 for time in latency.times]
    return Distribution(times, latency.shares, max(latency.tail, _SHORTEST))


class _Choice:
    """A plan, its schedule, and what that costs.

    Attributes:
        plan: the plan.
        seen: the schedule, and its figures by what was seen.
        late: the mean overshoot by what to expect.
        checks: the mean number of checks that counts.
    """

    __slots__ = ("checks", "late", "plan", "seen")

    def __init__(self, plan: Plan, seen: Fit, late: float, checks: float) -> None:
        self.plan = plan
        self.seen = seen
        self.late = late
        self.checks = checks


class _Fitter:
    """Fits schedules to what to expect.

    That is smoother than what was seen, and goes on beyond it. So nothing is gained by a check that
    comes just after some sample, but not after others like it.
    """

    def __init__(
        self, expected: Distribution, known_until: float, seen: Distribution, look: Look
    ) -> None:
        self._expected = expected
        self._known_until = known_until
        self._seen = seen
        self._look = look
        self._inspection = Inspection(expected, look.duration, look.seen_after)
        self._writer = Writer(expected, known_until, look)
        self._dense = Dense(expected, known_until, look, self._inspection.grid)

    def priced(self, price: float) -> Fit:
        """Return the best schedule if a check costs so much."""
        found = self._choice(self._planned(price))
        dense = self._dense.schedule(sqrt(2.0 * price)) if found.checks >= _MANY_CHECKS else None
        if dense is not None:
            other = self._cost(dense, found.plan)
            found = min(found, other, key=lambda choice: choice.late + price * choice.checks)
        return found.seen

    def limited(self, most: float) -> Fit:
        """Return the best schedule of no more than so many checks."""
        best = self._planned_within(most)
        if most < _MANY_CHECKS:
            return best.seen
        return min((best, *self._dense_within(most, best.plan)), key=_late).seen

    def _dense_within(self, most: float, plan: Plan) -> Iterator[_Choice]:
        """Yield schedules of stretches, ever nearer to so many checks, instead of a plan."""
        scale = self._dense.scale(most)
        for _ in range(_TURNS):
            schedule = self._dense.schedule(scale)
            if schedule is None:
                return
            choice = self._cost(schedule, plan)
            if choice.checks <= most:
                yield choice
            scale *= choice.checks / most * _SAFELY

    def _planned_within(self, most: float) -> _Choice:
        """Return the best schedule, of those that are planned look by look."""
        low, high, best = self._enclosed(most)
        if low is None:
            return best
        while high.price > low.price * _RATIO:
            plan = self._planned(sqrt(low.price * high.price))
            choice = self._choice(plan)
            if choice.checks <= most:
                high, best = plan, min(best, choice, key=_late)
            else:
                low = plan
        if best.checks < most * (1.0 - _LEFT_OUT) and len(low.looks) <= _MOST_MOVED:
            tried = [*self._moving(low, _STEP, most), *self._moving(high, 1 / _STEP, most)]
            above = min([choice for choice in tried if choice.checks > most], key=_checks)
            tried += self._delaying(above.plan, most)
            best = min((best, *[choice for choice in tried if choice.checks <= most]), key=_late)
        return best

    def _enclosed(self, most: float) -> tuple[Plan | None, Plan, _Choice]:
        """Return a plan of more checks, one of no more, and the schedule of the latter.

        The first is None if no plan has more.
        """
        plan = self._planned(0.1 * self._expected.mean or 1.0)
        choice = self._choice(plan)
        low = None
        while choice.checks > most:  # at a high price it looks when all is ready
            if plan.price > _HIGHEST_PRICE:
                raise ValueError(
                    f"max_checks must not be so few for such samples, as no delay is longer than"
                    f" MAX_DELAY ({MAX_DELAY:,.0f} s): got max_checks={most!r}"
                )
            low, plan = plan, self._planned(10.0 * plan.price)
            choice = self._choice(plan)
        if low is not None:
            return low, plan, choice
        for _ in range(_DECADES):
            high, best = plan, choice
            plan = self._planned(0.1 * plan.price)
            choice = self._choice(plan)
            if choice.checks > most:
                return plan, high, best
        return None, plan, choice

    def _moving(self, plan: Plan, factor: float, most: float) -> Iterator[_Choice]:
        """Yield what becomes of a plan as the price changes, until a limit is crossed."""
        choice = self._choice(plan)
        yield choice
        was_within = choice.checks <= most
        price = plan.price
        for _ in range(_STEPS):
            price *= factor
            choice = self._moved(plan, price)
            yield choice
            if (choice.checks <= most) != was_within:
                break
            plan = choice.plan
        for _ in range(_STEPS_BETWEEN):
            choice = self._moved(plan, sqrt(plan.price * price))
            yield choice
            if (choice.checks <= most) != was_within:
                price = choice.plan.price
            else:
                plan = choice.plan

    def _moved(self, plan: Plan, price: float) -> _Choice:
        return self._choice(Plan(*self._inspection.moved(plan.looks, price), price))

    def _delaying(self, plan: Plan, most: float) -> Iterator[_Choice]:
        """Yield what becomes of a plan of too many checks as its looks come nearer to the next."""
        looks = [*plan.looks, plan.looks[-1] + plan.interval]
        near, far = 0.0, 1.0
        for _ in range(_STEPS_BETWEEN):
            part = 0.5 * (near + far)
            later = [before + part * (after - before) for before, after in pairwise(looks)]
            choice = self._choice(Plan(later, plan.interval, plan.price))
            yield choice
            if choice.checks <= most:
                far = part
            else:
                near = part

    def _planned(self, price: float) -> Plan:
        """Return the best plan at a price."""
        return Plan(*self._inspection.looks(price), price)

    def _choice(self, plan: Plan) -> _Choice:
        return self._cost(self._writer.schedule(plan), plan)

    def _cost(self, schedule: Schedule, plan: Plan) -> _Choice:
        expected = figures(schedule, self._expected, self._look)
        if self._seen is self._expected:
            seen = expected
        else:
            seen = figures(schedule, self._seen, self._look)
        # If even the first check comes after all that was seen, what is left is for the unseen.
        late_start = plan.looks[0] >= self._known_until
        checks = seen.checks if late_start else max(expected.checks, seen.checks)
        fitted = Fit(schedule, seen.overshoot, seen.checks)
        return _Choice(plan, fitted, expected.overshoot, checks)


def _late(choice: _Choice) -> float:
    return choice.late


def _checks(choice: _Choice) -> float:
    return choice.checks
