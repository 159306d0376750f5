"""How fast a group may call, and whether its clock moves at all."""

from __future__ import annotations

from .duration import INFINITY
from .wait import STALLED_SECONDS, STALLED_SLEEPS

# Seconds. What a throttle doubles where the gap is smaller or none.
LEAST_SLOWED = 0.125

# Seconds. Throttles slow a group down no further than to one call in this time.
MOST_SLOWED = 30.0

# A call that is not throttled raises the rate by this share of the rate at which it was throttled.
# Half of the rate is lost with each throttle, so it takes ten good calls to win that back.
STEP = 0.05

# A share of the full rate: no step is smaller, or a rate that is very low would stay so for hours.
LEAST_STEP = 0.005


class Pace:
    """The least time between two calls: the gap, wider after throttles.

    The rate of calls is halved by a throttle and grows by the same small amount with every call
    that is not throttled. Of several clients that do this, each comes to its share of what the
    service allows. Above the rate at which it was throttled each step is twice the one before:
    the service allows more than it did, and who knows how much.

    Args:
        least: seconds; the gap at full rate.

    Attributes:
        gap: seconds between the starts of two calls, at present.

    Source:
        Additive increase, multiplicative decrease: Dah-Ming Chiu and Raj Jain, "Analysis of the
        Increase and Decrease Algorithms for Congestion Avoidance in Computer Networks", Computer
        Networks and ISDN Systems 17, 1989. That steps grow beyond the last limit is as in the slow
        start of TCP.
    """

    __slots__ = ("_limit", "_slowed_at", "_step", "gap", "least")

    def __init__(self, least: float) -> None:
        self.least = least
        self.gap = least
        self._slowed_at: float | None = None
        self._limit = INFINITY  # calls a second at which it was throttled
        self._step = 0.0  # calls a second that the next good call adds

    def throttled(self, started: float, now: float) -> None:
        """Slow down: a call was throttled.

        Calls that had started before the last slowing say nothing new.
        """
        if self._slowed_at is not None and started < self._slowed_at:
            return
        self._slowed_at = now
        gap = max(self.gap, LEAST_SLOWED)
        self._limit = 1.0 / gap
        self._step = max(STEP / gap, LEAST_STEP / self._fullest)
        self.gap = min(2 * gap, max(MOST_SLOWED, self.least))

    def passed(self) -> None:
        """Speed up a little, if slowed: a call was not throttled."""
        if self.gap > self.least:
            rate = 1.0 / self.gap + self._step
            if rate > self._limit:
                self._step *= 2
            self.gap = self.least if 1.0 / rate <= self._fullest else 1.0 / rate

    @property
    def _fullest(self) -> float:
        return max(self.least, LEAST_SLOWED)


class Standstill:
    """Recognises a clock that does not move while a group sleeps, as a wait alone would."""

    __slots__ = ("_slept", "_times")

    def __init__(self) -> None:
        self._times = 0
        self._slept = 0.0

    def slept(self, seconds: float, before: float, after: float) -> bool:
        """Take in a sleep to its end, and tell whether the clock has stopped."""
        if after != before:
            self._times, self._slept = 0, 0.0
        elif seconds:
            self._times += 1
            self._slept += seconds
        return self._times >= STALLED_SLEEPS and self._slept > STALLED_SECONDS
