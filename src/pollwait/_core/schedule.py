"""Schedules: when to look. Immutable values, made by a few functions and composed by methods."""

from __future__ import annotations

from .combined import Joint, Longer, Shorter, Then
from .duration import at_least_one, real, seconds
from .leaves import Decorrelated, Exponential, Fibonacci, Fixed, Linear, Sequence
from .rules import MAX_DELAY, Jitter, Rule, Times, Within, number
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    from .duration import Duration
    from .rules import Rng, State, Step

__all__ = [
    "DEFAULT",
    "MAX_DELAY",
    "Planned",
    "Schedule",
    "decorrelated",
    "exponential",
    "fibonacci",
    "fixed",
    "linear",
    "sequence",
]


class Planned(Value):
    """When a check starts if checks take no time, in seconds from the beginning of the wait.

    Args:
        attempt: the check's number, from 1.
        earliest: the start if chance makes every delay as short as it can be.
        latest: the start if chance makes every delay as long as it can be.
    """

    __slots__ = ("attempt", "earliest", "latest")
    attempt: int
    earliest: float
    latest: float

    def __init__(self, attempt: int, earliest: float, latest: float) -> None:
        self._fill(attempt, earliest, latest)


class _Bound(Value):
    """What a schedule calls at every attempt, bound once (no fields: they follow from the rule)."""

    __slots__ = ("begin", "step")
    begin: Callable[[], State]
    step: Callable[[State, float, float, Rng], Step]


class Schedule(_Bound):
    """An initial delay, then a delay after each check, for ever or until it ends.

    Schedules are made by ``fixed``, ``linear``, ``exponential``, ``fibonacci``, ``decorrelated``
    and ``sequence``, never by calling this class, and every method returns a new one. Equal
    schedules are equal, hash alike and show alike; ``repr`` evaluates back after ``from pollwait
    import *``, and ``Schedule.parse`` reads it without evaluating anything.

    Caps act before jitter, in whatever order they are written. No delay is longer than its cap or
    than ``MAX_DELAY``. The initial delay stands apart from all of this: only ``after`` sets it.

    A schedule can be composed in loops: ``+``, ``&`` and ``|`` join their operands side by side.
    All other nesting (``jitter`` over ``within`` over ``|``...) may go 100 levels deep.
    """

    __slots__ = ("_rule", "initial_delay")
    _rule: Rule
    initial_delay: float

    def __init__(self, rule: Rule, initial_delay: float = 0.0) -> None:
        if not isinstance(rule, Rule):
            raise TypeError(
                "a schedule is made by fixed, linear, exponential, fibonacci, decorrelated or"
                f" sequence, not by calling Schedule: got {rule!r}"
            )
        self._fill(rule, initial_delay)
        object.__setattr__(self, "begin", rule.begin)
        object.__setattr__(self, "step", rule.step)

    def after(self, delay: Duration) -> Schedule:
        """Set the initial delay, which passes before the first check.

        It is exact: neither capped nor jittered, nor counted by ``times`` or ``within``.

        Args:
            delay: seconds (or a timedelta), >= 0; it replaces any earlier one.
        """
        return Schedule(self._rule, _delay(delay, "delay"))

    def cap(self, longest: Duration) -> Schedule:
        """Let no delay be longer than this; of two caps the smaller holds.

        Args:
            longest: seconds (or a timedelta), >= 0. With 0, every delay is 0.
        """
        return self._with(self._rule.capped(_delay(longest, "longest")))

    def jitter(self, amount: Literal["full", "equal"] | float) -> Schedule:
        """Shorten each delay d at random, so that many processes do not check in step.

        Args:
            amount: ``"full"`` for a uniform draw from [0, d], ``"equal"`` for [d/2, d], or a
                fraction f, 0 < f <= 1, for [(1 - f) d, d]. ``"full"`` is 1 and ``"equal"`` 0.5.

        Raises:
            TypeError: the amount is neither a number nor a string.
            ValueError: the amount is another string, or outside (0, 1].

        Source:
            "Full" and "equal" jitter: Marc Brooker, "Exponential Backoff And Jitter", AWS
            Architecture Blog, 2015.
        """
        return self._with(Jitter(self._rule, _fraction(amount)))

    def times(self, n: int) -> Schedule:
        """End after the first ``n`` delays, so after n + 1 checks; of two counts the smaller holds.

        Args:
            n: how many delays, >= 1. The initial delay is not counted.
        """
        return self._with(Times.of(self._rule, at_least_one(n, "n")))

    def within(self, total: Duration) -> Schedule:
        """End when the delays add up to a total; the last one is clipped to reach it exactly.

        Only delays are counted: neither the time that checks take nor the initial delay. For a
        limit on the whole wait use a timeout. Jitter that is written after this shortens delays
        that have been counted in full; written before it, the total is reached in more checks.

        Args:
            total: seconds (or a timedelta), >= 0. With 0 there is one check.
        """
        return self._with(Within.of(self._rule, seconds(total, "total")))

    def then(self, other: Schedule) -> Schedule:
        """Continue with another schedule when this one ends; ``s + t`` is the same.

        If this one never ends, the other never begins. An initial delay of the other is one more
        delay at the joint, which later caps and jitter leave alone.

        Args:
            other: the schedule that follows.
        """
        if type(other) is not Schedule:
            raise TypeError(f"other must be a Schedule: got other={other!r}")
        return self + other

    def from_start(self) -> Schedule:
        """Count delays from the start of the previous check, not from its end: a fixed rate.

        ``fixed`` keeps to a grid from the start of its first check: due times that have passed are
        skipped, never made up for, and count neither for ``times`` nor for ``within``. Other
        delays are shortened by the time since the previous check started, and where that has
        passed the next check comes at once.
        """
        return self._with(self._rule.from_start())

    def __add__(self, other: Schedule) -> Schedule:
        if type(other) is not Schedule:
            return NotImplemented
        joint = (Joint(other.initial_delay),) if other.initial_delay > 0.0 else ()
        return self._with(Then.of(self._rule, *joint, other._rule))

    def __and__(self, other: Schedule) -> Schedule:
        if type(other) is not Schedule:
            return NotImplemented
        initial = max(self.initial_delay, other.initial_delay)
        return Schedule(Longer.of(self._rule, other._rule), initial)

    def __or__(self, other: Schedule) -> Schedule:
        if type(other) is not Schedule:
            return NotImplemented
        initial = min(self.initial_delay, other.initial_delay)
        return Schedule(Shorter.of(self._rule, other._rule), initial)

    @property
    def ends(self) -> bool:
        """True if the delays are certain to end, however long the checks take."""
        return self._rule.ends

    @property
    def ceiling(self) -> float:
        """The longest delay that the caps allow, infinity where there is none.

        Where one of two delays is taken, the caps of both are compared likewise; of schedules that
        follow each other the larger counts. An initial delay has no cap.
        """
        return self._rule.ceiling

    @property
    def counts_from_start(self) -> bool:
        """True if ``from_start`` is at work in some part."""
        return self._rule.counts_from_start

    def delays(self, rng: Rng | None = None) -> Iterator[float]:
        """Iterate over the delays between checks, as if checks took no time.

        The initial delay is not among them. Many schedules never end.

        Args:
            rng: where chance comes from, such as ``random.Random(7)``; the same seed gives the
                same delays. A fresh unseeded generator by default.
        """
        if rng is None:
            from random import Random

            rng = Random()
        return _unroll(self, rng)

    def preview(self, n: int) -> list[Planned]:
        """Return when the first checks start, at the earliest and at the latest.

        The two ends are two runs of the schedule, one in which every draw gives the shortest delay
        and one in which every draw gives the longest. No run leaves these bounds, but for one rare
        kind of schedule: ``&`` or ``|`` over a part in which ``within`` is used up at random. The
        run of the longest delays may have fewer checks, as it uses up ``within`` sooner; then its
        last check's time holds for the later ones.

        Args:
            n: how many checks, >= 1.

        Returns:
            One ``Planned`` for each check, in order; fewer than ``n`` if the schedule ends before.
        """
        from itertools import islice, zip_longest

        earliest = latest = self.initial_delay
        plan = [Planned(1, earliest, latest)]
        soon, late = (_unroll(self, _Draw(drawn)) for drawn in (1.0, 0.0))
        pairs = islice(zip_longest(soon, late, fillvalue=0.0), at_least_one(n, "n") - 1)
        for attempt, (shortest, longest) in enumerate(pairs, start=2):
            earliest += shortest
            latest = max(latest + longest, earliest)
            plan.append(Planned(attempt, earliest, latest))
        return plan

    @staticmethod
    def parse(text: str) -> Schedule:
        """Read a schedule from the text that ``str`` gives, or from such text written by hand.

        Nothing is evaluated. Allowed are the functions that make schedules, their methods (but
        ``delays``, ``preview`` and ``parse``), ``+``, ``&``, ``|``, parentheses and numbers;
        ``full`` and ``equal`` may be written without quotes.

        Raises:
            TypeError: the text is no str.
            ValueError: the text is no schedule, holds a value out of range, or is longer than
                10,000 characters; the message says what is wrong and where.
        """
        from .notation import parse

        return parse(text)

    def __str__(self) -> str:
        if self.initial_delay == 0.0:
            return str(self._rule)
        return f"{self._rule.operand()}.after({number(self.initial_delay)})"

    __repr__ = __str__

    def __reduce__(self) -> tuple[object, ...]:
        return Schedule, self._fields()

    def _with(self, rule: Rule) -> Schedule:
        return Schedule(rule, self.initial_delay)


def fixed(interval: Duration) -> Schedule:
    """Make delays that are all the same: 3, 3, 3, ...

    Args:
        interval: seconds (or a timedelta), >= 0; 0 looks again at once, for ever. As with every
            delay that is given, what exceeds ``MAX_DELAY`` counts as ``MAX_DELAY``.
    """
    return Schedule(Fixed(_delay(interval, "interval")))


def linear(start: Duration, *, step: Duration) -> Schedule:
    """Make delays that grow by the same amount: start, start + step, start + 2 step, ...

    Args:
        start: the first delay in seconds (or a timedelta), >= 0.
        step: what each later delay is longer by, in seconds (or a timedelta), >= 0.
    """
    return Schedule(Linear(_delay(start, "start"), _delay(step, "step")))


def exponential(start: Duration, *, factor: float = 2.0) -> Schedule:
    """Make delays that grow by the same factor: start, start * factor, start * factor², ...

    Growth without a cap ends only at ``MAX_DELAY``, so a cap is nearly always wanted.

    Args:
        start: the first delay in seconds (or a timedelta), > 0.
        factor: what each later delay is multiplied by, >= 1. The default doubles, as is usual;
            1.5 notices sooner and checks more often.
    """
    return Schedule(Exponential(_above_zero(start, "start"), _factor(factor)))


def fibonacci(start: Duration) -> Schedule:
    """Make delays that are each the sum of the two before: 1, 1, 2, 3, 5, ... times the start.

    Growth is slower than doubling (it nears a factor of 1.618) and starts with a repeated delay.

    Args:
        start: the first delay in seconds (or a timedelta), >= 0.
    """
    return Schedule(Fibonacci(_delay(start, "start")))


def decorrelated(base: Duration, *, cap: Duration) -> Schedule:
    """Make random delays that grow: uniform in [base, min(cap, 3 * previous)], from base on.

    The cap bounds the range that is drawn from, so the delays stay random at the cap. A later
    ``cap`` lowers it, and below the base every delay is the cap.

    Args:
        base: the shortest delay in seconds (or a timedelta), > 0.
        cap: the longest delay in seconds (or a timedelta), >= base.

    Source:
        After "decorrelated jitter" in Marc Brooker, "Exponential Backoff And Jitter", AWS
        Architecture Blog, 2015. There, min(cap, uniform(base, 3 * previous)) leaves more and more
        of the delays exactly at the cap.
    """
    shortest, longest = _above_zero(base, "base"), _delay(cap, "cap")
    if longest < shortest:
        raise ValueError(f"cap must be >= base: got cap={cap!r}, base={base!r}")
    return Schedule(Decorrelated(shortest, longest))


def sequence(*delays: Duration) -> Schedule:
    """Make exactly these delays, then end.

    Args:
        *delays: one or more delays in seconds (or timedeltas), each >= 0.
    """
    if not delays:
        raise ValueError("sequence needs at least one delay: got none")
    return Schedule(Sequence(tuple([_delay(delay, "delay") for delay in delays])))


class _Draw:
    """A generator that always draws the same number."""

    def __init__(self, drawn: float) -> None:
        self._drawn = drawn

    def random(self) -> float:
        return self._drawn


def _unroll(schedule: Schedule, rng: Rng) -> Iterator[float]:
    now, state = 0.0, schedule.begin()
    while (found := schedule.step(state, now, now, rng)) is not None:
        delay, state = found
        yield delay
        now += delay


def _delay(value: Duration, what: str) -> float:
    return min(seconds(value, what), MAX_DELAY)


def _above_zero(value: Duration, what: str) -> float:
    delay = _delay(value, what)
    if delay > 0.0:
        return delay
    raise ValueError(f"{what} must be > 0 seconds: got {what}={value!r}")


def _factor(value: float) -> float:
    factor = real(value, "factor", "a number")
    if 1.0 <= factor < float("inf"):
        return factor
    raise ValueError(f"factor must be finite and >= 1: got factor={value!r}")


def _fraction(amount: str | float) -> float:
    allowed = "'full', 'equal' or a fraction above 0, at most 1"
    if isinstance(amount, str):
        named = {"full": 1.0, "equal": 0.5}.get(amount, 0.0)
    else:
        named = real(amount, "amount", allowed)
    if 0.0 < named <= 1.0:
        return named
    raise ValueError(f"amount must be {allowed}: got amount={amount!r}")


DEFAULT = exponential(0.1, factor=1.5).cap(10).jitter(0.1)
"""The schedule of a wait that names none: at once, soon after, then backing off to 10 s.

With a factor of 1.5 a delay is about half of the time waited before it, so an answer is noticed
late by about a third of the whole wait at worst. From some 20 s on the cap holds that below 10 s,
at 6 checks a minute. The little jitter lets processes that started together drift apart.
"""
