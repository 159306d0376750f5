"""Those who wait for a poll group on threads, and how they are woken."""

from __future__ import annotations

from threading import Event

from .._core.rules import MAX_DELAY
from .._core.ticket import Ticket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._clock import Event as AnyEvent
    from .._core.call import Call

# Seconds between two looks at a ``cancel`` event: a thread cannot block on it and on the group.
LOOK = 0.05


class Caller(Ticket):
    """A caller on some thread.

    Attributes:
        cancel: the event that ends its waits.
        call: the call that it is making. The lock of the lead guards this and ``live``.
        news: set when there is a result, or when the lead comes to it.
        signal: set when ``news`` or ``cancel`` is.
    """

    __slots__ = ("call", "cancel", "news", "signal")

    def __init__(self, cancel: AnyEvent | None) -> None:
        super().__init__()
        self.cancel = cancel
        self.call: Call | None = None
        self.news = Event()
        self.signal: AnyEvent = self.news if cancel is None else Either(self.news, cancel)

    def give(self, key: Any, result: Any) -> None:
        """Add a result, and wake the caller."""
        super().give(key, result)
        self.news.set()


class Either:
    """Two events as one, of which the second is not ours to wait for."""

    __slots__ = ("_cancel", "_news")

    def __init__(self, news: Event, cancel: AnyEvent) -> None:
        self._news = news
        self._cancel = cancel

    def is_set(self) -> bool:
        """Tell whether one of them is set."""
        return self._news.is_set() or self._cancel.is_set()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until one of them is set, or that many seconds; tell whether one is."""
        left = MAX_DELAY if timeout is None else timeout
        while left > 0.0 and not self.is_set():
            self._news.wait(min(left, LOOK))
            left -= LOOK
        return self.is_set()
