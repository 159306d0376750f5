"""The event loop that a wait runs on: its clock, and how one cuts what takes too long there.

asyncio is the rule. Under trio, which the caller must have imported to be there, the same waits run
on trio; pollwait does not depend on it.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from .._core.callables import describe, is_plain_function

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from .._clock import AsyncClock, AsyncEvent


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
        """Await something for at most that many seconds; tell whether it ended, and its value.

        What is cut off is cancelled, and then counts as cut off whatever error it raises.
        """
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
        if event.is_set():
            return True
        happened, _ = await self.cut_after(seconds, event.wait())
        return happened or event.is_set()

    def checkpoint(self) -> Awaitable[None]:
        return asyncio.sleep(0)

    async def cut_after(self, seconds: float, awaitable: Awaitable[Any]) -> tuple[bool, Any]:
        return await _cut_after(seconds, awaitable)


if sys.version_info >= (3, 11):

    async def _cut_after(seconds: float, awaitable: Awaitable[Any]) -> tuple[bool, Any]:
        try:
            async with asyncio.timeout(seconds) as limit:
                return True, await awaitable
        except Exception:  # the timeout, or what the awaitable made of its cancellation
            if limit.expired():
                return False, None
            raise

else:  # pragma: no cover - before Python 3.11, where the tests run as well

    async def _cut_after(seconds: float, awaitable: Awaitable[Any]) -> tuple[bool, Any]:
        # Here a task cannot tell its cancellations apart. So the awaitable gets a task of its own
        # that we cancel, and a cancellation of the calling task is always somebody else's.
        child = asyncio.ensure_future(awaitable)
        try:
            await asyncio.wait({child}, timeout=seconds)
            if child.done():
                return True, child.result()
            child.cancel()
            await asyncio.wait({child})
            if child.cancelled() or child.exception() is not None:
                return False, None
            return True, child.result()
        except asyncio.CancelledError:
            await _ended(child)
            raise
        finally:
            del child  # an error that it raised refers to this frame

    async def _ended(child: asyncio.Future[Any]) -> None:
        """Cancel a task and wait until it has cleaned up, however often we are cancelled."""
        while not child.done():
            child.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait({child})
        if not child.cancelled():
            child.exception()  # looked at, or the loop reports it as never retrieved


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
        happened, _ = await self.cut_after(seconds, event.wait())
        return happened or event.is_set()

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


def refuse_blocking(clock: AsyncClock | None, cancel: AsyncEvent | None = None) -> None:
    """Raise TypeError for a clock or an event of threads, which would block the whole loop."""
    for what, given, instead in (
        ("clock", clock, "leave it out, and use pollwait.testing.run in tests"),
        ("cancel", cancel, "pass an event such as asyncio.Event"),
    ):
        method = getattr(given, "wait", None)
        if is_plain_function(method):
            raise TypeError(
                f"{what} must be for an event loop, and {describe(method)!r} is for threads:"
                f" {instead}"
            )
