"""The windows of a batcher, as a pure machine: which keys share a call, and when it is made.

Theory of operation
-------------------
Keys gather in the open window. At ``max_size`` keys it is full and queues up behind the other full
ones; the next key opens a new one. A window that is not full is due ``max_delay`` after its first
key, or ``idle_delay`` after its last, whichever comes first. The driver does as it is told::

    window.join(key, caller, now)                 # opened or filled: there is something to do
    while (batch := window.take(now)) is not None:
        make the call and deliver its outcomes, elsewhere; then window.finished(batch)
    come back at window.due(), and whenever a call is over

While ``max_in_flight`` calls are out, nothing is due. The open window goes on growing meanwhile,
past its time too; what is more than ``max_size`` goes to windows of its own (B7).

Invariants
----------
- A key is queued once (B1), and ``take`` unqueues it before its call is made. So a caller is
  answered by a call that starts after it asked, and who asks later joins the next one (B3).
- The time of a window is set by its first key and by no other (B2). A duplicate is not a further
  key: it moves neither end.
- Nothing but the open window may be empty, so no batch is (B11): a key whose last caller leaves is
  dropped, and a full window whose last key is dropped goes with it.
- Who waits for room comes before who asks later, save for keys that are queued already (B8).
"""

from __future__ import annotations

from collections import deque

from .batch import Batch, with_caller, without_caller
from .line import FILLED, FULL, JOINED, OPENED, Line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .batch import Reason
    from .limits import Limits
    from .line import Joined


class Window(Line):
    """The open window, and the full ones that wait for a slot.

    Args:
        limits: the bounds.
    """

    __slots__ = ("_full", "_index", "_indexed", "_latest", "_open", "_opened", "_rushed")

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._open: dict[Any, Any] = {}
        self._opened = 0.0
        self._latest = 0.0
        self._rushed = False
        self._full: deque[tuple[dict[Any, Any], float]] = deque()
        # Where the keys of the full windows are, but for the newest of these: most of them are
        # taken at once, and need not be looked up before another key comes.
        self._index: dict[Any, dict[Any, Any]] = {}
        self._indexed = 0

    def join(self, key: Any, caller: Any, now: float, request: Any = None) -> Joined:
        """Let a caller wait for a key, if there is room for the key."""
        # Each key passes here, hence no call but one.
        window = self._open if key in self._open else self._window_of(key) if self._full else None
        if window is not None:
            window[key] = with_caller(window[key], caller)
            return JOINED
        if self.pending >= self.max_pending or self.overflow:
            return FULL
        return self._add(key, caller, now)

    def leave(self, key: Any, caller: Any, now: float) -> None:
        """Forget a caller that waits no more. A queued key that has no caller left is dropped."""
        window = self._window_of(key)
        if window is None:
            self._leave_overflow(key, caller)
            return
        left = without_caller(window[key], caller)
        if left is not None:
            window[key] = left
            return
        del window[key]
        self.pending -= 1
        if window is self._open:
            self._rushed = self._rushed and bool(window)
        else:
            del self._index[key]
            if not window:
                self._full = deque(entry for entry in self._full if entry[0] is not window)
                self._indexed -= 1
        self._promote(now)

    def due(self) -> float | None:
        """Return when the next call is due; None if there is none, or no call may start."""
        if len(self.flying) >= self.max_in_flight:
            return None
        if self._full:
            return self._full[0][1]
        if not self._open:
            return None
        return self._opened if self._rushed or self.closing else self._end()[0]

    def take(self, now: float) -> Batch | None:
        """Start the next call if one is due; it is out until ``finished``."""
        due = self.due()
        if due is None or (due > now and not self._full):
            return None
        batch = self._take_full() if self._full else self._take_open()
        self.pending -= batch.size
        self.flying.append(batch)
        self._promote(now)
        return batch

    def has_full(self) -> bool:
        """Tell whether a window is full, and due for no other reason than that."""
        return bool(self._full)

    def flush(self) -> None:
        """Let what is queued be due at once."""
        self._rushed = bool(self._open)

    def queued(self) -> Iterator[tuple[Any, Any]]:
        """Yield each queued key with its callers, as they are kept."""
        for window, _ in self._full:
            yield from window.items()
        yield from self._open.items()

    def _forget_queued(self) -> None:
        self._full.clear()
        self._index.clear()
        self._indexed = 0
        self._open = {}
        self._rushed = False

    def _enter(self, key: Any, caller: Any, now: float, request: Any = None) -> Joined:
        window = self._window_of(key)
        if window is not None:
            window[key] = with_caller(window[key], caller)
            return JOINED
        return self._add(key, caller, now)

    def _add(self, key: Any, caller: Any, now: float) -> Joined:
        window = self._open
        window[key] = caller
        self.pending += 1
        self._latest = now
        size = len(window)
        if size == 1:
            self._opened = now
        if size < self.max_size:
            return JOINED if size > 1 else OPENED
        self._full.append((window, self._opened))
        self._open = {}
        self._rushed = False
        return FILLED

    def _window_of(self, key: Any) -> dict[Any, Any] | None:
        if key in self._open:
            return self._open
        if not self._full:
            return None
        while self._indexed < len(self._full):
            window = self._full[self._indexed][0]
            self._index.update(dict.fromkeys(window, window))
            self._indexed += 1
        return self._index.get(key)

    def _take_full(self) -> Batch:
        window, opened = self._full.popleft()
        if self._indexed:
            self._indexed -= 1
            for key in window:
                del self._index[key]
        return Batch(window, opened, "size")

    def _take_open(self) -> Batch:
        reason = "flush" if self._rushed else "close" if self.closing else self._end()[1]
        window, self._open = self._open, {}
        self._rushed = False
        return Batch(window, self._opened, reason)

    def _end(self) -> tuple[float, Reason]:
        """Return when the open window ends by itself, and why."""
        end = self._opened + self.max_delay
        if self.idle_delay is not None and self._latest + self.idle_delay < end:
            return self._latest + self.idle_delay, "idle"
        return end, "delay"
