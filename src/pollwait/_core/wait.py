"""One wait, as a pure machine.

Theory of operation
-------------------
A driver owns the clock, calls the check and sleeps. It reports to the machine what happened and
when, and the machine says how long to sleep before the next check::

    wait = Wait(settings, name, now, rng)
    while wait.delay is not None:
        sleep for wait.delay seconds; report cancel if the cancel event was set
        call the check and the predicates; report the outcome
    return wait.last, or raise wait.failure()

When ``delay`` is None the wait is over, and ``reason`` says how it ended.

Invariants
----------
- A sleep never passes the deadline. The one that would is clipped to what is left and makes the
  next check the last: ``_final`` says so, and not a comparison of clocks, because the time after a
  sleep may be off by a rounding error or by an overshoot (T4).
- A check that ends without a good value at or past the deadline is the last one.
- A timeout goes before an exhaustion where both end the wait (T6).
- What changes during a wait is plain data (numbers, tuples, the user's own values), so that a wait
  can be written down and go on elsewhere.
- A remembered error holds no frames. Neither the machine nor the error that it builds keeps what a
  check worked with alive.
"""

from __future__ import annotations

import sys

from .duration import INFINITY, ROUNDING
from .history import FIRST, LAST, History, Record, forget_frames, origin
from .schedule import MAX_DELAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypeAlias

    from .rules import Rng, State
    from .settings import Settings

    Reason: TypeAlias = Literal[
        "ready", "failed", "timeout", "exhausted", "cancelled", "error", "stalled"
    ]
    Verdict: TypeAlias = Literal["retry", "fail", "pass"]
    Row: TypeAlias = tuple[int, float, Any, Exception | None, str | None]

# Clock readings are rounded to a few parts in 10^16, and differences between them by as much.
CLOCK_ROUNDING = 1e-15

# A clock that has not moved at all over this many sleeps in a row, of this many seconds together,
# stands still. Both, because coarse clocks are real: one of whole seconds may stay put for just
# under a second of short sleeps.
STALLED_SLEEPS = 3
STALLED_SECONDS = 1.0


class Wait:
    """The state of one wait.

    Args:
        settings: what the caller said of it.
        name: what is waited for.
        now: the monotonic time at which it begins, in seconds.
        rng: draws the jitter.

    Raises:
        TypeError: nothing ends the wait, and ``timeout=None`` was not said aloud.

    Attributes:
        delay: seconds to sleep before the next check; None when the wait is over.
        reason: how the wait ended; None while it goes on.
        check_started: when the newest check started; a driver sets it where the schedule counts
            from there.
        counts_from_start: whether the schedule wants to know that.
        began, name, timeout, max_attempts, settings: what the wait was made with; the timeout is
            infinite where there is none.
        attempts, elapsed, last, last_error: as in ``PollError``, so far.
    """

    __slots__ = (
        "_deadline",
        "_final",
        "_rng",
        "_rows",
        "_schedule_state",
        "_seen",
        "_slack",
        "_spared",
        "_stalled",
        "_step",
        "attempts",
        "began",
        "check_started",
        "counts_from_start",
        "delay",
        "elapsed",
        "last",
        "last_error",
        "max_attempts",
        "name",
        "reason",
        "settings",
        "timeout",
    )

    def __init__(self, settings: Settings, name: str, now: float, rng: Rng) -> None:
        schedule = settings.schedule
        timeout = settings.limit()
        self.settings = settings
        self.name = name
        self.timeout = INFINITY if timeout is None else timeout
        self.max_attempts = settings.max_attempts
        self.began = now
        self.check_started = now
        self.counts_from_start = schedule.counts_from_start
        self.attempts = 0
        self.elapsed = 0.0
        self.last: Any = None
        self.last_error: Exception | None = None
        self.reason: Reason | None = None
        self.delay: float | None = min(schedule.initial_delay, self.timeout)
        self._deadline = now + self.timeout
        self._slack = 0.0 if timeout is None else abs(self._deadline) * CLOCK_ROUNDING
        self._final = schedule.initial_delay >= self.timeout
        self._step = schedule.step
        self._schedule_state: State = schedule.begin()
        self._rng = rng
        self._rows: list[Row | None] = [None] * (FIRST + LAST)  # the last few go round in a ring
        self._spared = sys.exc_info()[1]
        self._seen = now
        self._stalled: tuple[float, int, float] | None = None

    def report(
        self,
        value: object,
        now: float,
        end: Literal["ready", "failed"] | None = None,
        error: Exception | None = None,
        hint: float | None = None,
    ) -> None:
        """Take in the outcome of a check: the wait ends with it, or goes on if limits allow.

        Args:
            value: what the check returned; None if it raised.
            now: when it ended.
            end: how the outcome ends the wait; None if it is not ready yet.
            error: what the check raised, if it is not for the caller.
            hint: seconds that take the place of the schedule's next delay.
        """
        # All attempts of all waits pass here, hence one method that calls the schedule and, as a
        # rule, nothing else.
        self.attempts = attempt = self.attempts + 1
        self.elapsed = elapsed = now - self.began
        where = None
        if error is None or value is not None:  # there is one before a predicate's TryAgain
            self.last = value
        if error is not None:
            self.last_error = error
            where = origin(error)
            forget_frames(error, self._spared)
        row = attempt - 1 if attempt <= FIRST else FIRST + attempt % LAST
        self._rows[row] = (attempt, elapsed, value, error, where)
        if end is not None:
            self._end(end)
        elif self._final or now >= self._deadline:
            self._end("timeout")
        elif attempt == self.max_attempts:
            self._end("exhausted")
        elif now == self._seen and self._stands_still(now):
            self._end("stalled")
        else:
            self._seen = now
            step = self._step(self._schedule_state, now, self.check_started, self._rng)
            if step is None:
                self._end("exhausted")
                return
            delay, self._schedule_state = step
            if hint is not None:
                delay = min(hint, self.settings.schedule.ceiling, MAX_DELAY)
            left = self._deadline - now
            if delay * ROUNDING + self._slack >= left:
                self._final = True
                delay = left
            self.delay = delay

    def errored(self, error: Exception, verdict: Verdict, now: float) -> None:
        """Go on, fail, or let the error pass to the caller: a check or a predicate raised it."""
        if verdict == "retry":
            self.report(None, now, error=error)
        elif verdict == "fail":
            self.report(None, now, "failed", error)
        else:
            self.attempts += 1
            self.broke(now)

    def cancel(self, now: float) -> None:
        """End the wait: its cancel event was set before the next check."""
        self.elapsed = now - self.began
        self._end("cancelled")

    def broke(self, now: float, reason: Reason = "error") -> None:
        """End the wait, if it has not: what came out of a check or a sleep is no outcome."""
        if self.reason is None:
            self.elapsed = now - self.began
            self._end(reason)

    def failure(self) -> Exception:
        """Return the error of a wait that ended without a good value."""
        return self.settings.failure(self)

    @property
    def not_ready_at(self) -> float | None:
        """Seconds from its beginning to the end of the last check that did not find it ready.

        None if there was none. It is asked for at the end only, and costs nothing before.
        """
        if self.reason in ("timeout", "exhausted"):
            newest = self.newest()
            return newest.elapsed if newest else None
        ended_by_check = self.reason != "cancelled"
        if self.attempts <= ended_by_check:
            return None
        return self._seen - self.began

    def newest(self) -> Record | None:
        """Return the newest record, if there is one."""
        return max(self._records(), key=_attempt, default=None)

    def history(self) -> History:
        """Return what is remembered of the checks."""
        records = sorted(self._records(), key=_attempt)
        return History(tuple(records[:FIRST]), tuple(records[FIRST:]), self.attempts)

    def _records(self) -> list[Record]:
        return [Record(*row) for row in self._rows if row is not None]

    def _end(self, reason: Reason) -> None:
        self.reason = reason
        self.delay = None

    def _stands_still(self, now: float) -> bool:
        """Tell, at a time that was seen before, whether the clock has stopped."""
        if not self.delay:
            return False
        stalled_at, sleeps, slept = self._stalled or (now, 0, 0.0)
        if stalled_at != now:
            sleeps, slept = 0, 0.0
        self._stalled = (now, sleeps + 1, slept + self.delay)
        return sleeps + 1 >= STALLED_SLEEPS and slept + self.delay > STALLED_SECONDS


def _attempt(record: Record) -> int:
    return record.attempt
