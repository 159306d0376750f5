"""A clock whose time moves only when somebody sleeps."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING

from .._core.duration import seconds as in_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._clock import Event
    from .._core.duration import Duration


class FakeClock:
    """A clock for tests of one thread: a sleep moves the time and returns at once.

    Pass it as ``clock`` to whatever waits; code that reads ``time.monotonic`` by itself does not
    see it.

    Args:
        start: the first reading, in seconds.

    Attributes:
        sleeps: the seconds of each sleep so far, in order. A wait for an event counts as a sleep of
            the time that it took; one for an event that was set already counts as none.

    Example:
        >>> from pollwait import fixed, poll
        >>> clock = FakeClock()
        >>> poll(lambda: clock.monotonic() >= 5, schedule=fixed(2), timeout=60, clock=clock)
        True
        >>> clock.sleeps
        [2.0, 2.0, 2.0]
    """

    sleeps: list[float]

    def __init__(self, start: float = 0.0) -> None:
        self._now = float(start)
        self._calls: list[tuple[float, int, Callable[[], object]]] = []
        self._order = count()
        self.sleeps = []

    def monotonic(self) -> float:
        """Return the time, in seconds."""
        return self._now

    def sleep(self, seconds: Duration) -> None:
        """Move the time by that many seconds and return at once."""
        duration = in_seconds(seconds, "seconds")
        self.sleeps.append(duration)
        self.advance(duration)

    def wait(self, event: Event, seconds: Duration) -> bool:
        """Move the time by that many seconds, or until a call due meanwhile sets the event."""
        duration = in_seconds(seconds, "seconds")
        if event.is_set():
            return True
        began, end = self._now, self._now + duration
        while self._call_next(end):
            if event.is_set():
                self.sleeps.append(self._now - began)
                return True
        self._now = end
        self.sleeps.append(duration)
        return event.is_set()

    def advance(self, seconds: Duration) -> None:
        """Move the time without sleeping, as a check does that takes that many seconds."""
        end = self._now + in_seconds(seconds, "seconds")
        while self._call_next(end):
            pass
        self._now = end

    def call_at(self, when: float, function: Callable[[], object]) -> None:
        """Have a function called when the time reaches ``when``, in the midst of a sleep or not.

        Args:
            when: a reading of this clock, in seconds; one that has passed is due at the next move.
            function: what to call, such as the ``set`` of a ``threading.Event``. Calls that are due
                at the same time happen in the order in which they were asked for.
        """
        heapq.heappush(self._calls, (when, next(self._order), function))

    def _call_next(self, end: float) -> bool:
        """Move the time to the next call that is due by ``end`` and make it, if there is one."""
        if not self._calls or self._calls[0][0] > end:
            return False
        when, _, function = heapq.heappop(self._calls)
        self._now = max(self._now, when)
        function()
        return True

    def __repr__(self) -> str:
        return f"FakeClock(start={self._now!r})"
