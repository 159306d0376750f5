"""Who is to be looked at when: an agenda for many entries that share few times."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

from .duration import INFINITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

# An agenda that is mostly stale entries is rewritten; below this size it is not worth the while.
_FEW = 64


class Agenda:
    """Entries at points in time, taken in order.

    Waits that were asked together are due together, so entries of the same time share one list, and
    the heap holds each time once. Nothing is ever taken out of the middle: an entry that no longer
    holds is recognised by its owner when it comes up, and ``prune`` keeps such entries from
    outnumbering the others.
    """

    __slots__ = ("_at", "_size", "_times")

    def __init__(self) -> None:
        self._times: list[float] = []
        self._at: dict[float, list[Any]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def add(self, time: float, entry: Any) -> None:
        """Enter something at a time."""
        self._size += 1
        found = self._at.get(time)
        if found is None:
            self._at[time] = [entry]
            heappush(self._times, time)
        else:
            found.append(entry)

    def first(self, holds: Callable[[Any, float], bool]) -> float:
        """Return the earliest time at which an entry holds; infinity if none does.

        Args:
            holds: tells whether an entry at a time still holds. One that does not is dropped, and
                may be added anew at a later time meanwhile.
        """
        while self._times:
            time = self._times[0]
            entries = self._at[time]
            while entries:
                if holds(entries[-1], time):
                    return time
                entries.pop()
                self._size -= 1
            del self._at[heappop(self._times)]
        return INFINITY

    def last(self, until: float, holds: Callable[[Any, float], bool]) -> float:
        """Return the latest time up to one at which an entry holds; -infinity if none does."""
        times = self._up_to(until)
        held = (time for time in times if any(holds(entry, time) for entry in self._at[time]))
        return max(held, default=-INFINITY)

    def take(self, until: float) -> Iterator[tuple[float, Any]]:
        """Take out the entries up to a time, in order; more may be added meanwhile."""
        while self._times and self._times[0] <= until:
            time = heappop(self._times)
            entries = self._at.pop(time)
            self._size -= len(entries)
            for entry in entries:
                yield time, entry

    def _up_to(self, until: float) -> Iterator[float]:
        """Yield the times up to one, in no order and without looking at the others."""
        nodes = [0]
        while nodes:
            at = nodes.pop()
            if at < len(self._times) and self._times[at] <= until:
                yield self._times[at]
                nodes += (2 * at + 1, 2 * at + 2)

    def prune(self, live: int, holds: Callable[[Any, float], bool]) -> None:
        """Drop the entries that do not hold, if they are more than the live ones.

        Args:
            live: how many entries may hold.
            holds: as for ``first``.
        """
        if self._size <= 2 * live + _FEW:
            return
        kept = {
            time: entries
            for time, listed in self._at.items()
            if (entries := [entry for entry in listed if holds(entry, time)])
        }
        self._at = kept
        self._times = list(kept)
        heapify(self._times)
        self._size = sum(map(len, kept.values()))
