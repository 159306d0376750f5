"""The windows of a coalescer, as a pure machine: one for each key, with its merged request.

Theory of operation
-------------------
It is driven as the windows of a batcher are, and due ``max_delay`` after the first request for a
key. What differs is that each key has a window and a call of its own, and that requests for a key
are merged when they join.

Invariants
----------
- At most one call for a key is out. The next window of that key waits, and grows, until it is over:
  two calls that change the same thing must not run side by side.
- A merge that raises has changed nothing, and only its own caller hears of it.
- Windows stand in the order in which they opened. They all last equally long, and a flush rushes
  all that there are, so the first one whose key has no call out is the next one that is due.
- What a caller that leaves has asked for stays merged as long as others wait for the key.
"""

from __future__ import annotations

from .batch import Batch, with_caller, without_caller
from .callables import close_coroutine, is_awaitable
from .line import FULL, JOINED, OPENED, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from .batch import Reason
    from .limits import Limits
    from .line import Joined

    Merge: TypeAlias = Callable[[Any, Any], Any]


class KeyWindow:
    """What waits for one key."""

    __slots__ = ("callers", "merged", "opened", "rushed")

    def __init__(self, caller: Any, merged: Any, opened: float) -> None:
        self.callers = caller
        self.merged = merged
        self.opened = opened
        self.rushed = False


class Merging(Line):
    """The windows of all keys.

    Args:
        limits: the bounds; of the delays only ``max_delay`` counts.
        merge: the user's function: what is merged so far, None at first, and one more request.
    """

    __slots__ = ("_is_merging", "_merge", "_out", "_windows")

    def __init__(self, limits: Limits, merge: Merge) -> None:
        super().__init__(limits)
        self._merge = merge
        self._is_merging = False
        self._windows: dict[Any, KeyWindow] = {}
        self._out: set[Any] = set()

    def join(self, key: Any, caller: Any, now: float, request: Any = None) -> Joined:
        """Let a caller wait for a key with its request, if there is room for the key.

        Raises:
            Exception: what the merge raises; nothing has changed.
            TypeError: the key is not hashable.
        """
        if (self.pending >= self.max_pending or self.overflow) and key not in self._windows:
            return FULL
        return self._enter(key, caller, now, request)

    def leave(self, key: Any, caller: Any, now: float) -> None:
        """Forget a caller that waits no more. A queued key that has no caller left is dropped."""
        window = self._windows.get(key)
        if window is None:
            self._leave_overflow(key, caller)
            return
        window.callers = without_caller(window.callers, caller)
        if window.callers is None:
            del self._windows[key]
            self.pending -= 1
            self._promote(now)

    def due(self) -> float | None:
        """Return when the next call is due; None if there is none, or no call may start."""
        key = self._next()
        if key is None:
            return None
        window = self._windows[key[0]]
        return window.opened + (0.0 if window.rushed or self.closing else self.max_delay)

    def take(self, now: float) -> Batch | None:
        """Start the next call if one is due; it is out until ``finished``."""
        due = self.due()
        key = self._next()
        if key is None or due is None or due > now:
            return None
        window = self._windows.pop(key[0])
        self._out.add(key[0])
        reason: Reason = "flush" if window.rushed else "close" if self.closing else "delay"
        request = (key[0], window.merged)
        batch = Batch({key[0]: window.callers}, window.opened, reason, request)
        self.pending -= 1
        self.flying.append(batch)
        self._promote(now)
        return batch

    def finished(self, batch: Batch) -> None:
        """Take in that a call is over, with all that it took."""
        super().finished(batch)
        self._out.discard(batch.request[0])

    def flush(self) -> None:
        """Let what is queued be due at once."""
        for window in self._windows.values():
            window.rushed = True

    def blockers(self, keys: list[Any]) -> list[Batch] | None:
        """Return the calls of which one must end before a call for these keys may start."""
        for batch in list(self.flying):
            if batch.request[0] in keys:
                return [batch]
        return super().blockers(keys)

    def queued(self) -> Iterator[tuple[Any, Any]]:
        """Yield each queued key with its callers, as they are kept."""
        for key, window in self._windows.items():
            yield key, window.callers

    def _next(self) -> tuple[Any] | None:
        """Return the key whose call is next, if there is one and its call may start."""
        if len(self.flying) >= self.max_in_flight:
            return None
        return next(((key,) for key in self._windows if key not in self._out), None)

    def _enter(self, key: Any, caller: Any, now: float, request: Any) -> Joined:
        window = self._windows.get(key)
        merged = self._merged(None if window is None else window.merged, request)
        if window is not None:
            window.merged = merged
            window.callers = with_caller(window.callers, caller)
            return JOINED
        self._windows[key] = KeyWindow(caller, merged, now)
        self.pending += 1
        return OPENED

    def _merged(self, pending: Any, request: Any) -> Any:
        if self._is_merging:
            raise RuntimeError("merge must not use its own coalescer")
        self._is_merging = True
        try:
            merged = self._merge(pending, request)
        finally:
            self._is_merging = False
        if is_awaitable(merged):
            close_coroutine(merged)
            raise TypeError(f"merge returned an awaitable ({type(merged).__name__}): it must not")
        return merged

    def _forget_queued(self) -> None:
        self._windows.clear()
