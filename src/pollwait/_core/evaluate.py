"""What a schedule costs: how late it notices, and how often it looks."""

from __future__ import annotations

from bisect import bisect_right
from math import expm1

from .distribution import Distribution
from .duration import INFINITY, real, seconds
from .latency import LatencyModel, observed
from .samples import iterable
from .schedule import Schedule
from .steady import skipped, steady
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .duration import Duration
    from .latency import Latency
    from .rules import State

# What is left once less than this share of the waits is not ready makes no difference.
_NEGLIGIBLE = 1e-9
_NEGLIGIBLE_BY_CHANCE = 1e-6

# So many delays of 0 in a row, when checks take no time either, have no end.
_MOST_STANDING = 10_000

# So many equal delays at least are worth being summed up at once.
_MANY = 100

# Delays that have to be looked at one by one: more than so many would take some ten seconds.
_MOST_WALKED = 5_000_000

# Random delays are averaged over a lattice rule: points that fill the space of all draws evenly,
# so that their mean is far nearer to the true one than that of as many random points. Sizes with
# their multipliers; the largest that keeps the number of steps within reason is taken.
# Source: Pierre L'Ecuyer and Christiane Lemieux, "Variance Reduction via Lattice Rules",
# Management Science 46(9), 2000, table 1.
_LATTICES = ((1021, 76), (251, 33))
_FEWEST = (31, 12)
_MOST_STEPS = 300_000

# A linear congruential generator, for the distances by which the lattice is moved.
# Source: Donald Knuth, "The Art of Computer Programming", volume 2, 3.3.4, table 1, line 26 (MMIX).
_LCG = 6_364_136_223_846_793_005
_FIRST_SHIFT = 2**63 + 1


class Evaluation(Value):
    """What to expect of a schedule.

    Attributes:
        overshoot: the mean number of seconds from ready to noticed, over the waits that are noticed
            ready; infinity if none is.
        checks: the mean number of checks, over all waits.
        noticed: the share of the waits that are noticed ready. It is 1 unless the schedule ends.
    """

    __slots__ = ("overshoot", "checks", "noticed")
    overshoot: float
    checks: float
    noticed: float

    def __init__(self, overshoot: float, checks: float, noticed: float = 1.0) -> None:
        self._fill(overshoot, checks, noticed)


def evaluate(
    schedule: Schedule,
    samples: Latency,
    *,
    check_duration: Duration = 0.0,
    sees_at: float = 0.0,
) -> Evaluation:
    """Tell how late a schedule notices what is ready, and how many checks that takes.

    It is computed, not simulated, and so for a single wait that has its calls to itself: for waits
    that share calls, queue or are throttled use ``simulate``. Nothing limits the wait but the
    schedule itself.

    The first check starts after the initial delay, and each delay starts when the check before has
    ended. A check sees what is ready by the moment at which it looks, and is noticed when it ends.

    Args:
        schedule: the schedule.
        samples: how long it takes from the start of a wait until ready: times in seconds, each as
            likely as any other; or some of them intervals ``(not_ready_at, ready_at)`` or
            ``(not_ready_at, None)``, for the distribution that fits all of them best; or a
            ``LatencyModel`` or a ``Distribution``.
        check_duration: how many seconds a check takes (or a timedelta).
        sees_at: at which part of its duration a check looks: 0 for its start, 1 for its end.

    Returns:
        The two figures as an ``Evaluation``, exact but for rounding. Those of a schedule with
        chance in it are means over an even choice of what chance may do, true to some tenths of a
        percent.

    Raises:
        TypeError: an argument is of another type.
        ValueError: a number is out of range; there are no samples; no time passes because the
            delays are 0 and the checks take none; or the waits take millions of checks at delays
            that differ.

    Timing:
        About a microsecond for each check that may take place, and for one sample. Long runs of
        equal delays are summed up, and cost no more than a few of them. Chance in a schedule makes
        that up to a thousand times as long, but no longer than some tenths of a second unless a
        wait takes very many checks. Beyond some ten seconds there is an error.

    Example:
        >>> from pollwait import evaluate, fixed
        >>> evaluate(fixed(0.5).after(1.0), [1.25, 1.75])
        Evaluation(overshoot=0.25, checks=2.5, noticed=1.0)
    """
    if not isinstance(schedule, Schedule):
        raise TypeError(f"schedule must be a Schedule: got schedule={schedule!r}")
    look = Look(check_duration, sees_at)
    return figures(schedule, _distribution(samples), look)


def _distribution(samples: Latency) -> Distribution:
    if isinstance(samples, (Distribution, LatencyModel)):
        return observed(samples)
    return observed(iterable(samples))


class Look(Value):
    """What a check is: how long it takes, and after how much of that it looks.

    Attributes:
        duration: seconds from its start to its end.
        seen_after: seconds from its start to the moment that it sees.
    """

    __slots__ = ("duration", "seen_after")
    duration: float
    seen_after: float

    def __init__(self, duration: Duration, sees_at: float) -> None:
        length = seconds(duration, "check_duration")
        part = real(sees_at, "sees_at", "a number from 0 to 1")
        if not 0.0 <= part <= 1.0:
            raise ValueError(f"sees_at must be from 0 to 1: got sees_at={sees_at!r}")
        self._fill(length, part * length)


def figures(schedule: Schedule, latency: Distribution, look: Look) -> Evaluation:
    """Return the expected figures of a schedule."""
    chance = _Lattice(0, *_LATTICES[0])
    walk = _Walk(schedule, latency, look, chance)
    if not chance.draws:
        return walk.result(look)
    if walk.steps * _FEWEST[0] > _MOST_WALKED:
        return walk.result(look)  # so many draws even out by themselves
    size, multiplier = next(
        (lattice for lattice in _LATTICES if walk.steps * lattice[0] <= _MOST_STEPS), _FEWEST
    )
    late = checks = noticed = 0.0
    for point in range(size):
        walk = _Walk(schedule, latency, look, _Lattice(point, size, multiplier))
        late += walk.late
        checks += walk.checks
        noticed += walk.noticed
    walk.late, walk.checks, walk.noticed = late / size, checks / size, noticed / size
    return walk.result(look)


class _Walk:
    """All that a schedule does, for one outcome of chance.

    Attributes:
        late: the mean over all waits of the time from ready to the moment at which a check sees it;
            0 for those that are never seen ready.
        checks: the mean number of checks.
        noticed: the share of the waits that are seen ready.
        steps: how many delays were looked at.
    """

    def __init__(
        self, schedule: Schedule, latency: Distribution, look: Look, chance: _Lattice
    ) -> None:
        self._schedule = schedule
        self._rule = schedule._rule  # pyright: ignore[reportPrivateUsage]  # of one package
        self._latency = latency
        self._chance = chance
        self.checks = 1.0
        self.steps = 0
        self._walk(schedule.initial_delay, look)

    def result(self, look: Look) -> Evaluation:
        late = max(self.late, 0.0) / self.noticed if self.noticed else INFINITY
        return Evaluation(late + (look.duration - look.seen_after), self.checks, self.noticed)

    def _walk(self, started: float, look: Look) -> None:
        schedule, latency, chance = self._schedule, self._latency, self._chance
        duration, seen_after = look.duration, look.seen_after
        state, standing, ended = schedule.begin(), 0, False
        share = latency.ready(started + seen_after)
        lost = latency.lost(started + seen_after)
        self.late = lost
        while 1.0 - share > (_NEGLIGIBLE_BY_CHANCE if chance.draws else _NEGLIGIBLE):
            drawn = chance.draws
            step = schedule.step(state, started + duration, started, chance)
            if step is None:
                ended = True
                break
            self.steps += 1
            if self.steps > _MOST_WALKED:
                raise ValueError(
                    f"schedule must not make more than {_MOST_WALKED:,} checks at delays that"
                    f" differ: got schedule={schedule!r}"
                )
            following = started + duration + step[0]
            since = following - started
            standing = standing + 1 if since <= 0.0 else 0
            if standing == _MOST_STANDING:
                raise ValueError(
                    "no time passes: the delays are 0 and checks take none"
                    f" (check_duration={duration!r}): got schedule={schedule!r}"
                )
            if step[1] == state and since > 0.0 and started + seen_after >= latency.times[-1]:
                self._go_on(1.0 - share, state, started, duration)
                break
            before, state, started = state, step[1], following
            self.checks += 1.0 - share
            next_lost = latency.lost(started + seen_after)
            self.late += next_lost - lost - since * share
            share, lost = latency.ready(started + seen_after), next_lost
            if chance.draws == drawn and since > 0.0:
                gap = duration + step[0]  # the difference of two late times is less exact
                count = self._alike(before, state, started + seen_after, gap)
                if count:
                    self._sum_up(count, share, started + seen_after, gap)
                    state = skipped(self._rule, state, count)
                    started += count * gap
                    share = latency.ready(started + seen_after)
                    lost = latency.lost(started + seen_after)
        self.noticed = share if ended else 1.0

    def _alike(self, before: State, state: State, seen: float, since: float) -> int:
        """Return how many delays go on like the last until the next knot, or 0 if that is few."""
        times = self._latency.times
        after = bisect_right(times, seen)
        if after == len(times) and not self._latency.tail:
            return 0  # all is ready
        within = (times[after] - seen) / since if after < len(times) else INFINITY
        if within < _MANY:
            return 0
        count = min(within, steady(self._rule, before, state))
        return int(count) if _MANY <= count < INFINITY else 0

    def _sum_up(self, count: int, share: float, seen: float, since: float) -> None:
        """Add what many equal delays cost, between two knots or in the tail."""
        latency = self._latency
        if seen < latency.times[-1]:
            last = latency.ready(seen + (count - 1) * since)
            unready = count * (1.0 - 0.5 * (share + last))
        else:
            decay = since / latency.tail
            unready = (1.0 - share) * expm1(-count * decay) / expm1(-decay)
        self.checks += unready
        lost = latency.lost(seen + count * since) - latency.lost(seen)
        self.late += lost - since * (count - unready)

    def _go_on(self, unready: float, state: State, started: float, duration: float) -> None:
        """Go on for ever in the tail, from a state that does not change any more.

        Then each check leaves the same share unready, on average over what chance may do.
        """
        tail, ended = self._latency.tail, started + duration
        size, multiplier = _FEWEST if self._chance.draws else (1, 1)
        interval = found = 0.0
        for point in range(size):
            step = self._schedule.step(state, ended, started, _Lattice(point, size, multiplier))
            assert step is not None  # or its state would have changed
            interval += (duration + step[0]) / size
            found -= expm1(-(duration + step[0]) / tail) / size
        self.checks += unready / found
        self.late += unready * (interval / found - tail)


class _Lattice:
    """One point of a lattice rule, whose coordinates are the draws.

    In each coordinate the lattice is moved by a distance of its own, or else its points would
    repeat themselves in long runs.
    """

    __slots__ = ("_at", "_multiplier", "_shift", "_size", "draws")

    def __init__(self, point: int, size: int, multiplier: int) -> None:
        self._at = point
        self._size = size
        self._multiplier = multiplier
        self._shift = _FIRST_SHIFT
        self.draws = 0

    def random(self) -> float:
        self.draws += 1
        drawn = self._at / self._size + self._shift / 2.0**64
        self._at = self._at * self._multiplier % self._size
        self._shift = (self._shift * _LCG + 1) % 2**64
        return drawn % 1.0
