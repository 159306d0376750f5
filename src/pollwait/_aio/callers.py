"""Those who wait for a poll group on an event loop, and how they are woken."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from .._core.ticket import Ticket

if TYPE_CHECKING:
    from .._clock import AsyncEvent


class Caller(Ticket):
    """A caller in some task.

    Attributes:
        cancel: the event that ends its waits.
        waiter: what it awaits, if it does.
    """

    __slots__ = ("cancel", "waiter")

    def __init__(self, cancel: AsyncEvent | None) -> None:
        super().__init__()
        self.cancel = cancel
        self.waiter: asyncio.Future[None] | None = None

    def give(self, key: Any, result: Any) -> None:
        """Add a result, and wake the caller."""
        super().give(key, result)
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)


async def either(waiter: asyncio.Future[None], event: AsyncEvent) -> None:
    """Return once a future is done or an event has happened."""
    other = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait((waiter, other), return_when=asyncio.FIRST_COMPLETED)
    finally:
        other.cancel()
