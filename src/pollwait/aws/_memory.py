"""What the calls of a group have shown of its ids, which the next round goes by."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ._request import Request

# How many suspects are remembered, so that ids for which nobody asks again are forgotten some day.
MOST_SUSPECTS = 1000

_GUILTY = 0  # the lot of those that spoiled a call alone


class Memory:
    """Which ids spoiled a call, and which of a request's ids have their turn.

    Ids that a failed call carried and that were not told apart when its round ended make up a lot:
    one of them may be the culprit. An id that failed alone is guilty, until a call with it passes.

    It keeps nothing of requests that are gone. Calls of several threads may use it at once, since
    each step is one of a dict's own; the worst that comes of it is an id asked for twice.

    Attributes:
        works: whether any call has returned so far.
    """

    __slots__ = ("_lots", "_made", "_open", "works")

    def __init__(self) -> None:
        self.works = False
        self._made = 0
        self._lots: dict[str, int] = {}  # by id, longest ago first
        self._open: WeakKeyDictionary[Request, dict[str, None]] = WeakKeyDictionary()

    def wanted(self, request: Request) -> list[str]:
        """Return the ids of a request that have their turn, save those that might spoil a call."""
        ids = self._open.get(request, request.ids or ())
        return [each for each in ids if each not in self._lots]

    def answered(self, request: Request, answered: Collection[str]) -> None:
        """Take in that some ids of a request have their answers: the others are next."""
        left = dict.fromkeys(each for each in self.wanted(request) if each not in answered)
        if left:
            self._open[request] = left
        else:
            self._open.pop(request, None)

    def lots(self, ids: Collection[str]) -> list[list[str]]:
        """Return those of the ids that might spoil a call, by lots.

        The guilty are a lot as well, for when nothing is left to find out.
        """
        lots: dict[int, list[str]] = {}
        for each, lot in list(self._lots.items()):
            if each in ids:
                lots.setdefault(lot, []).append(each)
        guilty = lots.pop(_GUILTY, [])
        return list(lots.values()) or ([guilty] if guilty else [])

    def are_guilty(self, ids: Iterable[str]) -> bool:
        """Tell whether each of the ids spoiled a call alone, when it was last asked for."""
        return all(self._lots.get(each) == _GUILTY for each in ids)

    def condemn(self, ids: Iterable[str]) -> None:
        """Take in that each of the ids spoils a call."""
        self._put(ids, _GUILTY)

    def doubt(self, ids: Iterable[str]) -> None:
        """Take in that one of the ids may spoil a call."""
        self._made += 1
        self._put(ids, self._made)

    def clear(self, ids: Iterable[str]) -> None:
        """Take in that the ids passed."""
        for each in ids:
            self._lots.pop(each, None)

    def _put(self, ids: Iterable[str], lot: int) -> None:
        for each in ids:
            self._lots.pop(each, None)
            self._lots[each] = lot
        self.clear(list(self._lots)[:-MOST_SUSPECTS])
