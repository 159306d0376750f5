"""The waits of one caller, and the results that it has not taken."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .seat import Seat


_TAKEN = (None, None)


class Ticket:
    """What a group keeps of one caller.

    One side may add results while another takes them.

    Attributes:
        live: its waits that are not over.
        left: how many results the caller has not taken.
    """

    __slots__ = ("_results", "_taken", "left", "live")

    def __init__(self) -> None:
        self.live: dict[Seat, None] = {}
        self.left = 0
        self._results: list[tuple[Any, Any]] = []
        self._taken = 0

    def hold(self, seats: Iterable[Seat]) -> None:
        """Begin with these waits."""
        self.live = dict.fromkeys(seats)
        self.left = len(self.live)

    @property
    def done(self) -> bool:
        """True if there is a result to take."""
        return self._taken < len(self._results)

    def give(self, key: Any, result: Any) -> None:
        """Add a result."""
        self._results.append((key, result))

    def take(self) -> tuple[Any, Any]:
        """Return the key of the next result, with its value or error."""
        result = self._results[self._taken]
        self._results[self._taken] = _TAKEN
        self._taken += 1
        self.left -= 1
        return result
