"""Clocks: what tells the time of a wait and sleeps for it.

A wait asks its clock at every use, so a clock that is patched or replaced while the wait runs takes
effect at once.
"""

from __future__ import annotations

import time

from ._core.retry_after import retry_after
from ._core.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Awaitable

    from ._core.try_again import TryAgain


class Event(Protocol):
    """What can end a wait early: ``threading.Event`` has this shape."""

    def is_set(self) -> bool:
        """Tell whether it has happened."""
        ...

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it happens or for ``timeout`` seconds, and tell whether it has happened."""
        ...


class Clock(Protocol):
    """The time of a wait on threads.

    Write one to run waits on another time; ``pollwait.testing.FakeClock`` is one for tests.
    """

    def monotonic(self) -> float:
        """Return the time in seconds. It never steps back; its zero means nothing."""
        ...

    def sleep(self, seconds: float) -> None:
        """Block the calling thread for that many seconds, or a little longer."""
        ...

    def wait(self, event: Event, seconds: float) -> bool:
        """Block until the event is set, or that many seconds; tell whether it is set."""
        ...


class AsyncEvent(Protocol):
    """What can end a wait on an event loop early: ``asyncio.Event`` has this shape."""

    def is_set(self) -> bool:
        """Tell whether it has happened."""
        ...

    async def wait(self) -> object:
        """Return once it has happened."""
        ...


class AsyncClock(Protocol):
    """The time of a wait on an event loop."""

    def monotonic(self) -> float:
        """Return the time in seconds. It never steps back; its zero means nothing."""
        ...

    def sleep(self, seconds: float) -> Awaitable[None]:
        """Suspend the calling task for that many seconds, or a little longer."""
        ...

    async def wait(self, event: AsyncEvent, seconds: float) -> bool:
        """Suspend until the event is set, or that many seconds; tell whether it is set."""
        ...


class SystemClock:
    """The clock of the system: ``time.monotonic`` and ``time.sleep``, looked up at each call."""

    __slots__ = ()

    def monotonic(self) -> float:
        """Return ``time.monotonic()``."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Sleep by ``time.sleep``."""
        time.sleep(seconds)

    def wait(self, event: Event, seconds: float) -> bool:
        """Wait for the event, at most that many seconds."""
        return event.wait(seconds)

    def __repr__(self) -> str:
        return "SystemClock()"


SYSTEM_CLOCK = SystemClock()


def hint(signal: TryAgain) -> float | None:
    """Return the seconds that a ``TryAgain`` asks for, or None; unreadable text gets a warning.

    This is the only place that reads the wall clock: an HTTP date means nothing without it.
    """
    after = signal.after
    if not isinstance(after, str):
        return after
    from datetime import datetime, timezone

    length = retry_after(after, datetime.now(timezone.utc))
    if length is None:
        import logging

        logging.getLogger("pollwait").warning(
            "unreadable Retry-After %.80r: following the schedule instead", after
        )
    return length
