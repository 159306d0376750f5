"""An asyncio event loop whose time is virtual: it jumps from timer to timer and nobody sleeps.

asyncio asks its selector to wait for I/O until the next timer is due. The selector here looks for
I/O, and where there is none it moves the loop's time to that timer instead of waiting. So the time
moves only when nothing can run, and what asyncio does with its callbacks stays asyncio's.
"""

from __future__ import annotations

import asyncio
import math
import selectors
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

from .._core.duration import seconds as in_seconds
from .._errors import ClockStalled
from ._deadlock import Deadlock
from ._holding_loop import HoldingLoop
from ._holds import Holds
from ._whereabouts import whereabouts

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from contextvars import Context
    from typing import TypeAlias

    from typing_extensions import TypeVarTuple, Unpack

    from .._core.duration import Duration

    Ts = TypeVarTuple("Ts")
    Ready: TypeAlias = list[tuple[selectors.SelectorKey, int]]

# Real seconds without any news from jobs, sockets or other threads before the loop gives up: longer
# than a job of a test takes, shorter than the limits that test runners are given.
PATIENCE = 60.0

# Rounds at one instant, with timers pending, before the loop gives up: some seconds of spinning. A
# round runs all that is ready, so what makes progress at one instant needs far fewer.
MOST_ROUNDS = 1_000_000


class VirtualTimeLoop(HoldingLoop):
    """An asyncio event loop for tests, whose ``time()`` starts at 0 and jumps to the next timer.

    Time moves only when everything is idle: no callback is ready, no I/O is ready, no executor job
    runs and no ``inhibit()`` block is open. It then becomes exactly the time of the next timer, and
    timers of the same time fire in the order in which they were set. ``asyncio.sleep``,
    ``timeout``, ``wait_for`` and all else that goes by the loop's time follow; ``time.monotonic``
    and ``time.sleep`` do not.

    Time stands still, and the loop waits for real,

    - while a job of an executor runs (``run_in_executor``, ``asyncio.to_thread``, name resolution),
      to its real end, even when nobody awaits it any more: a timeout cannot cut such a job;
    - in ``inhibit()`` blocks;
    - while nothing but I/O is left to wait for.

    Sockets between tasks of this loop need no care: what was sent is received before time moves.
    What another thread or process does is invisible here. Time jumps past it, or the loop reports
    a deadlock: hold time with ``inhibit()`` while you wait for a server elsewhere, for a
    subprocess, or for a thread that was not started through an executor and answers by
    ``call_soon_threadsafe``. The order in which several threads answer is theirs, not the loop's.

    A task that yields again and again instead of sleeping (``while not done: await sleep(0)``)
    keeps the loop busy, so time stands still under it. In debug mode no callback is ever reported
    as slow.

    Args:
        patience: the longest that the loop blocks for real without any news, in real seconds; None
            for as long as it takes.

    Raises:
        Deadlock: (from whatever runs the loop) nothing is left to wait for and the loop was not
            told to stop, or its patience is at an end. The loop can be run again, and its tasks are
            still pending.
        ClockStalled: (likewise) the loop is busy at one instant for a million rounds while timers
            are pending.

    Example:
        >>> loop = VirtualTimeLoop()
        >>> loop.run_until_complete(asyncio.sleep(3600, "an hour later"))
        'an hour later'
        >>> loop.time()
        3600.0

        A thread that the loop knows nothing of:

        >>> import functools, threading
        >>> async def ask_elsewhere():
        ...     answer = loop.create_future()
        ...     reply = functools.partial(loop.call_soon_threadsafe, answer.set_result, "ready")
        ...     with loop.inhibit("the answer of the other thread"):
        ...         threading.Thread(target=reply).start()
        ...         return await asyncio.wait_for(answer, timeout=5)
        >>> loop.run_until_complete(ask_elsewhere()), loop.time()
        ('ready', 3600.0)
        >>> loop.close()
    """

    # These two are all that is used of asyncio's inside: the heap of timers (its first one is never
    # cancelled when the selector is asked), and the span within which a timer counts as due.
    _scheduled: list[asyncio.TimerHandle]
    _clock_resolution: float

    def __init__(self, *, patience: Duration | None = PATIENCE) -> None:
        self._order = count()
        self._rounds = 0
        holds = Holds(self._wake)
        self._io = _Selector(holds, self._busy, self._idle)
        super().__init__(self._io, holds)
        try:
            self._patience = None if patience is None else in_seconds(patience, "patience")
        except BaseException:
            self.close()  # asyncio complains of loops that nobody closed, or that were half made
            raise
        self._move_to(0.0)

    def time(self) -> float:
        """Return the virtual time, in seconds since the loop was made."""
        return self._now

    def inhibit(self, reason: str = "an inhibit() block") -> AbstractContextManager[None]:
        """Hold time still in a ``with`` block, while the loop waits for something real.

        Blocks may be opened in any thread, in any number. A timer that is not due yet cannot fire
        in a block, so do not sleep in one.

        Args:
            reason: what is waited for, for the error that ends the loop's patience.
        """
        return self._holds.during(reason)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: Unpack[Ts],
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Have a callback called at a time of this loop, after those set for that time before."""
        moment = _Moment(when)
        moment.order = next(self._order)
        return super().call_at(moment, callback, *args, context=context)

    def _busy(self, news: bool) -> None:
        """Count the rounds that keep timers from firing; ``news`` from outside excuses them."""
        self._rounds = 0 if news or not self._scheduled else self._rounds + 1
        if self._rounds > MOST_ROUNDS:
            self._rounds = 0
            raise ClockStalled(
                f"the virtual time stands still at {self._now} s: {MOST_ROUNDS:,} rounds at one"
                " instant, so some task yields again and again (asyncio.sleep(0)) where it should"
                f" sleep; {whereabouts(self)}"
            )

    def _idle(self, held: bool) -> Ready:
        """Do what is right when nothing can run: move time, wait for real, or report a deadlock."""
        if not held:
            when = self._scheduled[0].when() if self._scheduled else math.inf
            if when < math.inf:
                self._move_to(float(when))
                return []
            if not self._io.has_more():
                raise Deadlock(
                    f"nothing is left to wait for at {self._now} s: no timer, executor job, I/O or"
                    f" inhibit() block would wake the loop; {whereabouts(self)}"
                )
        ready = self._io.wait(self._patience)
        if not ready:
            self._lose_patience()
        return ready

    def _lose_patience(self) -> None:
        error = Deadlock(
            f"nothing has happened for {self._patience} real seconds (patience={self._patience}),"
            f" and the virtual time is held at {self._now} s by"
            f" {self._holds or 'I/O that does not come'}; {whereabouts(self)}"
        )
        if self._last_wait is None or self._last_wait.done():
            raise error
        self._last_wait.set_exception(error)

    def _move_to(self, when: float) -> None:
        """Set the time, and let exactly those timers be due whose time it is or has been."""
        self._now = when
        self._rounds = 0
        self._clock_resolution = math.ulp(when)

    def _wake(self) -> None:
        with suppress(RuntimeError):  # closed: there is nobody to wake
            self.call_soon_threadsafe(_nothing)


class _Selector(selectors.DefaultSelector):
    """A selector that looks for I/O and, instead of waiting for it, asks the loop what to do."""

    def __init__(
        self,
        holds: Holds,
        busy: Callable[[bool], None],
        idle: Callable[[bool], Ready],
    ) -> None:
        super().__init__()
        self._holds = holds
        self._busy = busy
        self._idle = idle

    def select(self, timeout: float | None = None) -> Ready:
        """Return what is ready; where nothing is, and asyncio would wait, let the loop decide."""
        # In this order: a thread hands its answer to the loop before it releases its hold.
        held = bool(self._holds)
        ready = super().select(0)
        if ready or (timeout is not None and timeout <= 0):
            self._busy(held or bool(ready))
            return ready
        return self._idle(held)

    def wait(self, seconds: float | None) -> Ready:
        """Wait for real until something is ready, at most so many seconds."""
        return super().select(seconds)

    def has_more(self) -> bool:
        """Tell whether anything is registered besides the socket by which threads wake the loop."""
        return len(self.get_map()) > 1


class _Moment(float):
    """The time of a timer; of two that are equal, the one that was set first is the lesser."""

    __slots__ = ("order",)
    order: int

    def __lt__(self, other: float) -> bool:
        # A difference is zero for equal numbers only, and takes half the time of two comparisons.
        apart = self - other
        return apart < 0.0 or (
            apart == 0.0 and isinstance(other, _Moment) and self.order < other.order
        )


def _nothing() -> None:
    """Make a round of the loop."""
