"""Clocks for code whose time freezegun has frozen: whoever sleeps moves the freeze.

freezegun replaces ``time.monotonic`` but not ``time.sleep``, so a wait in frozen time sleeps for
real and its deadline never comes. These clocks ask the freeze itself instead. ``time.monotonic``
would not do even to read: it looks at who calls, and code that runs close to the start of a thread
(the module ``threading`` is on freezegun's list of callers to ignore) gets the real time.
"""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from .._core.duration import seconds as in_seconds

if TYPE_CHECKING:
    from types import ModuleType

    from .._clock import AsyncEvent, Event
    from .._core.duration import Duration

_EPOCH = datetime(1970, 1, 1)  # naive and UTC, as all times inside freezegun

# A freeze moves by a read and a write, and any number of clocks may move the same one: so this
# guards the freeze of all of them.
_MOVING = threading.Lock()


@runtime_checkable
class Freeze(Protocol):
    """What ``freeze_time`` hands to a ``with`` statement: the time, and how to move it."""

    def __call__(self) -> datetime:
        """Return the time, in UTC and without a time zone."""
        ...

    def tick(self, delta: timedelta) -> object:
        """Move the time by a length."""
        ...

    def move_to(self, target_datetime: datetime) -> object:
        """Move the time to a point."""
        ...


class FreezeReader:
    """What the clocks for threads and for event loops share: the time of a freeze.

    Args:
        frozen: the freeze; None for the innermost one that is active at each use.
    """

    def __init__(self, frozen: Freeze | None = None) -> None:
        self._api = _freezegun_api()
        if frozen is not None and not isinstance(frozen, Freeze):
            raise TypeError(
                "frozen must be what `with freeze_time(...) as frozen` gives, or None for the"
                f" active freeze: got frozen={frozen!r}"
            )
        self._frozen = frozen
        # The rest is guarded by _MOVING: the freeze that was read last, what it said, and how far
        # the readings of this clock are ahead of it.
        self._read_from: Freeze | None = None
        self._said = _EPOCH
        self._ahead = timedelta()

    def monotonic(self) -> float:
        """Return the time of the freeze in seconds, the same in every thread."""
        with _MOVING:
            reading = self._read(self._freeze()) - _EPOCH
        # As freezegun computes it, to the last bit.
        return reading.days * 86_400 + reading.seconds + reading.microseconds / 1e6

    def _move(self, seconds: Duration) -> None:
        wanted = in_seconds(seconds, "seconds")
        length = timedelta(seconds=wanted)
        if wanted and not length:  # less than a freeze can tell, but never nothing
            length = timedelta.resolution
        with _MOVING:
            freeze = self._freeze()
            if isinstance(freeze, self._api.TickingDateTimeFactory):
                # Its `tick` forgets what passed by itself since the last one.
                freeze.move_to(freeze() + length)
            elif length:
                freeze.tick(length)
            self._said += length

    def _freeze(self) -> Freeze:
        active: list[Freeze] = list(self._api.freeze_factories)
        if self._frozen is None and active:
            return active[-1]
        if any(freeze is self._frozen for freeze in active):
            assert self._frozen is not None
            return self._frozen
        over = "no freeze is active" if self._frozen is None else "the freeze of this clock is over"
        raise RuntimeError(
            f"{over}: use {self!r} inside `with freezegun.freeze_time(...)` or in a function that"
            " @freeze_time decorates, or pass another clock, such as pollwait.testing.FakeClock()"
        )

    def _read(self, freeze: Freeze) -> datetime:
        """Return the time of a freeze, less what it went back and what lies between two freezes."""
        says = freeze()
        known = self._read_from is not None
        if known and (freeze is not self._read_from or says < self._said):
            self._ahead += self._said - says
        self._read_from, self._said = freeze, says
        return says + self._ahead

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self._frozen is None else repr(self._frozen)})"


class FreezegunClock(FreezeReader):
    """A clock for waits on threads in time that freezegun has frozen: a sleep moves the freeze.

    What else reads the time in the freeze, such as ``datetime.now()`` in the code under test, sees
    the wait pass. Needs ``pip install freezegun``.

    The first reading is what ``time.monotonic()`` shows in the freeze, and readings never step
    back. A freeze that is moved forward (``frozen.tick``, ``frozen.move_to``) makes that time pass
    for a wait; one that is moved back makes none pass; and from one freeze to another, such as into
    a nested one and out of it, none passes either.

    It does not put sleepers side by side: two threads that sleep 1 s each move the freeze by 2 s.
    For waits that run at the same time use ``FakeClock.run``.

    Args:
        frozen: what ``with freeze_time(...) as frozen`` gives, to move that freeze; None for the
            innermost one that is active whenever the clock is used.

    Raises:
        ImportError: freezegun is not installed.
        TypeError: ``frozen`` is something else, such as ``freeze_time(...)`` itself.
        RuntimeError: (from the methods) no freeze is active, or the one that was given is over.

    Timing:
        Threads may share it, and no move of theirs is lost. A freeze counts microseconds: a sleep
        is rounded to them, and one of less moves the time by one. With ``freeze_time(tick=True)``
        real time passes besides the sleeps, with ``auto_tick_seconds`` each look at the time moves
        it by that much, also those of a wait.

    Example:
        >>> import datetime
        >>> from freezegun import freeze_time
        >>> from pollwait import fixed, poll
        >>> with freeze_time("2030-01-01"):
        ...     poll(
        ...         lambda: datetime.datetime.now().hour >= 1,
        ...         schedule=fixed(60),
        ...         timeout=7200,
        ...         clock=FreezegunClock(),
        ...     )
        ...     str(datetime.datetime.now())
        True
        '2030-01-01 01:00:00'
    """

    def sleep(self, seconds: Duration) -> None:
        """Move the freeze by that many seconds and return at once."""
        self._move(seconds)

    def wait(self, event: Event, seconds: Duration) -> bool:
        """Move the freeze by that many seconds, unless the event is set; tell whether it is."""
        if not event.is_set():
            self._move(seconds)
        return event.is_set()


class AsyncFreezegunClock(FreezeReader):
    """``FreezegunClock`` for waits on an event loop, asyncio's or trio's.

    Without it ``aio.poll`` hangs in frozen time, as every ``asyncio.sleep`` does: the loop reads
    ``time.monotonic``, which does not move. A sleep on this clock moves the freeze and lets other
    tasks run once; timers of the loop fire when the freeze has been moved past them. A check that
    never ends is not cut by ``attempt_timeout``, since nobody moves the freeze meanwhile.

    Args:
        frozen: as in ``FreezegunClock``.
    """

    async def sleep(self, seconds: Duration) -> None:
        """Move the freeze by that many seconds and let others run."""
        from .._aio.backend import running

        self._move(seconds)
        await running().checkpoint()

    async def wait(self, event: AsyncEvent, seconds: Duration) -> bool:
        """Move the freeze by that many seconds, unless the event is set; tell whether it is."""
        if not event.is_set():
            await self.sleep(seconds)
        return event.is_set()


def _freezegun_api() -> ModuleType:
    try:
        import freezegun.api
    except ImportError as error:
        raise ImportError(
            "the clocks for frozen time need freezegun: pip install freezegun"
        ) from error
    return freezegun.api
