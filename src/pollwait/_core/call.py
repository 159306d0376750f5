"""One call of a group, with the further calls that find its poison keys."""

from __future__ import annotations

from .answer import read
from .isolation import Isolation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .group_settings import GroupSettings
    from .judge import Judge
    from .seat import Seat


class Call:
    """What a call carries, and what is still unanswered of it.

    A driver makes the calls and has each answer judged::

        while (keys := call.next()) is not None:
            fetch the keys
            found = call.passed(answer), or call.failed(error)
            for seat, outcome in call.answered(found): judge
        for seat, outcome in call.answered(call.rest()): judge

    A throttle is no matter of keys. It ends the round, and the keys without an answer share its
    error.

    Args:
        settings: what is said of the group.
        judge: what its answers mean.
        seats: whom it carries, by key.
        started: when it started.
        number: its number, from 1.
        wanted: tells whether anybody still waits for a key.

    Attributes:
        judge: what its answers mean.
        seats: those without an answer.
        started: when it started.
        number: its number, from 1.
        slowed: the service said that it is too busy, for all keys or for one.
        good: its last call returned.
        over: it does not occupy the service any more.
    """

    __slots__ = (
        "_isolation",
        "_throttle",
        "_wanted",
        "good",
        "judge",
        "number",
        "over",
        "seats",
        "slowed",
        "started",
    )

    def __init__(
        self,
        settings: GroupSettings,
        judge: Judge,
        seats: dict[Any, list[Seat]],
        started: float,
        number: int,
        wanted: Callable[[Any], bool],
    ) -> None:
        self._isolation = Isolation(settings.isolate, seats)
        self.judge = judge
        self._wanted = wanted
        self._throttle: Exception | None = None
        self.seats = seats
        self.started = started
        self.number = number
        self.good = False
        self.over = False
        self.slowed = False

    def next(self) -> list[Any] | None:
        """Return the keys to fetch next, never an empty list; None when the round is over."""
        return None if self._throttle else self._isolation.next(self._wanted)

    def passed(self, answer: object, keys: list[Any]) -> dict[Any, Any]:
        """Return the value or error of each key, after a call that returned."""
        self.good = True
        self._isolation.passed()
        found = read(answer, keys)
        self.slowed = self.slowed or self.judge.any_throttle(found.values())
        return found

    def failed(self, error: Exception) -> dict[Any, Any]:
        """Return the errors that are certain after a call that raised."""
        self.good = False
        if self.judge.is_throttle(error):
            self._throttle = error
            self.slowed = True
            return {}
        return self._isolation.failed(error)

    def broken(self, error: BaseException) -> dict[Any, Any]:
        """Return an error for every key, after a call that ended the round."""
        return dict.fromkeys(self.seats, error)

    def rest(self) -> dict[Any, Any]:
        """Return the error of the keys that a throttle left without an answer."""
        return {} if self._throttle is None else dict.fromkeys(self.seats, self._throttle)

    def answered(self, found: dict[Any, Any]) -> Iterator[tuple[Seat, Any]]:
        """Hand out the waits of some keys, with what was found for each."""
        self.judge.chance.fresh()
        for key, outcome in found.items():
            for seat in self.seats.pop(key, ()):
                if seat.stage == "asked":  # else its caller has left
                    yield seat, outcome
