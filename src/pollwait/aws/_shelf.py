"""Where a waiter keeps its groups: one for each way in which requests differ but for their ids."""

from __future__ import annotations

from collections import deque
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from ._request import Request

# How many groups are kept while nobody waits in them, so that a loop that waits for one thing after
# another keeps the gap between its calls.
_KEPT = 16

G = TypeVar("G")


class Shelf(Generic[G]):
    """Groups, found by the requests that travel in them.

    One that nobody else holds is forgotten when enough newer ones have come. Any number of threads
    may share it.
    """

    __slots__ = ("_groups", "_lock", "_recent")

    def __init__(self) -> None:
        self._lock = Lock()  # guards the two below
        self._groups: WeakValueDictionary[Hashable, G] = WeakValueDictionary()
        self._recent: deque[G] = deque(maxlen=_KEPT)

    def of(self, request: Request, make: Callable[[Request], G]) -> G:
        """Return the group in which a request travels; where there is none yet, a new one.

        Args:
            request: the request.
            make: called with the request, and returns a group for it.
        """
        key = None if request.sharing is None else request.rest
        with self._lock:
            group = self._groups.get(key)
            if group is None:
                group = self._groups[key] = make(request)
                self._recent.append(group)
            return group
