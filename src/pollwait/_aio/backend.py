"""The event loop that a wait runs on: its clock, and how one cuts what takes too long there.

asyncio is the rule. Under trio, which the caller must have imported to be there, the same waits run
on trio; pollwait does not depend on it.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .._clock import AsyncEvent


class Backend(Protocol):
    """What the driver needs of an event loop, besides a clock.

    Attributes:
        cancelled: the exception that this loop raises in a task that is cancelled.
    """

    cancelled: type[BaseException]

    def checkpoint(self) -> Awaitable[None]:
        """Let others run once."""
        ...

    async def cut_after(self, seconds: float, awaitable: Awaitable[Any]) -> tuple[bool, Any]:
        """Await something for at most that many seconds; tell whether it ended, and its value."""
        ...


class AsyncioBackend:
    """The running asyncio loop. Its clock is ``loop.time``."""

    __slots__ = ("_loop", "monotonic")
    cancelled: type[BaseException] = asyncio.CancelledError

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.monotonic = self._loop.time

    def sleep(self, seconds: float) -> Awaitable[None]:
        return asyncio.sleep(seconds)  # no coroutine of its own to keep while a wait sleeps

    async def wait(self, event: AsyncEvent, seconds: float) -> bool:
        if not event.is_set():
            await self.cut_after(seconds, event.wait())
        return event.is_set()

    def checkpoint(self) -> Awaitable[None]:
        return asyncio.sleep(0)

    async def cut_after(self, seconds: float, awaitable: Awaitable[Any]) -> tuple[bool, Any]:
        cut = _Cut()
        timer = self._loop.call_later(seconds, cut)
        try:
            return True, await awaitable
        except asyncio.CancelledError:
            if cut.taken_back():
                return False, None
            raise
        finally:
            timer.cancel()
            cut.taken_back()


class _Cut:
    """A cancellation of the current task that is ours and can be told from everybody else's."""

    __slots__ = ("_before", "_made", "_task")

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None  # a coroutine that runs outside a task cannot be cancelled at all
        self._task: asyncio.Task[Any] = task
        self._made = False
        self._before = 0
        if sys.version_info >= (3, 11):
            self._before = task.cancelling()

    def __call__(self) -> None:
        # Before Python 3.11 a task does not count its cancellations, so ours must not be mixed up
        # with one that is under way already.
        if sys.version_info >= (3, 11) or not _being_cancelled(self._task):
            self._made = True
            self._task.cancel()

    def taken_back(self) -> bool:
        """Take the cancellation back, if it was made; tell whether nobody else made one."""
        if not self._made:
            return False
        self._made = False
        if sys.version_info >= (3, 11):
            return self._task.uncancel() <= self._before
        return True


def _being_cancelled(task: Any) -> bool:
    waiter = task._fut_waiter
    return bool(task._must_cancel or (waiter is not None and waiter.cancelled()))


class TrioBackend:
    """The running trio loop. Its clock is ``trio.current_time``."""

    __slots__ = ("_trio", "cancelled", "monotonic")

    def __init__(self, trio: Any) -> None:
        self._trio = trio
        self.monotonic = trio.current_time
        self.cancelled: type[BaseException] = trio.Cancelled

    async def sleep(self, seconds: float) -> None:
        await self._trio.sleep(seconds)

    async def wait(self, event: AsyncEvent, seconds: float) -> bool:
        await self.cut_after(seconds, event.wait())
        return event.is_set()

    async def checkpoint(self) -> None:
        await self._trio.lowlevel.checkpoint()

    async def cut_after(self, seconds: float, awaitable: Awaitable[Any]) -> tuple[bool, Any]:
        ended, value = False, None
        with self._trio.move_on_after(seconds):
            value = await awaitable
            ended = True
        return ended, value


def running() -> AsyncioBackend | TrioBackend:
    """Return the backend for the loop that runs the calling task.

    Raises:
        RuntimeError: none does.
    """
    trio = sys.modules.get("trio")
    if trio is not None and trio.lowlevel.in_trio_task():
        return TrioBackend(trio)
    return AsyncioBackend()
