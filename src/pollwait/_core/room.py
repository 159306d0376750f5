"""The waits of a group: who is due, who may ride along, and whose deadline comes.

A wait is at one stage. ``early``: its initial delay is not over. ``riding``: it was asked before
and is not due. Both are among the due times, and the second is queued for a ride as well, in the
order in which they were last asked. ``due``: queued in the order in which they became due.
``asked``: in a call, and in no queue. ``over``: nowhere. All but the last are among the deadlines.

An entry among the due times may be earlier than the wait is due, since a ride puts that off; it is
moved when it comes up. So a call does no work for the due times of those that only ride along.
"""

from __future__ import annotations

from itertools import islice

from .agenda import Agenda
from .duration import INFINITY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .seat import Seat

# Seconds. Clocks and sums of floats are off by less; what is nearer than this is reached.
NEAR = 1e-9


class Room:
    """All waits of a group that are not over.

    Attributes:
        size: how many they are.
    """

    __slots__ = ("_deadlines", "_due", "_dues", "_places", "_riding", "size")

    def __init__(self) -> None:
        self.size = 0
        self._places: dict[Any, Seat | dict[Seat, None]] = {}  # by key
        self._riding: dict[Seat, None] = {}
        self._due: dict[Seat, None] = {}
        self._dues = Agenda()
        self._deadlines = Agenda()

    def __contains__(self, key: Any) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[Seat]:
        for key in self._places:
            yield from self._at(key)

    def add(self, seat: Seat) -> None:
        """Let a wait take part."""
        found = self._places.setdefault(seat.key, seat)
        self.size += 1
        seat.stage = seat.begins
        if seat.stage == "riding":
            self._riding[seat] = None
        if isinstance(found, dict):
            found[seat] = None
        elif found is not seat:
            self._places[seat.key] = {found: None, seat: None}
        self._enter(seat)
        self._watch(seat, seat.deadline)

    def keep(self, seat: Seat) -> None:
        """Let a wait that was asked and is not over ride along again."""
        seat.stage = "riding"
        self._riding[seat] = None
        self._enter(seat)
        if seat.watched == INFINITY:  # its deadline came meanwhile, and yet it is not over
            self._watch(seat, seat.deadline)

    def remove(self, seat: Seat) -> bool:
        """Forget a wait; tell whether it was still here."""
        if seat.stage == "over":
            return False
        seat.stage = "over"
        self.size -= 1
        self._riding.pop(seat, None)
        self._due.pop(seat, None)
        found = self._places[seat.key]
        if isinstance(found, dict):
            del found[seat]
        if found is seat or not found:
            del self._places[seat.key]
        return True

    def tidy(self) -> None:
        """Drop what the agendas hold in vain, if that is much."""
        self._dues.prune(self.size, _entered)
        self._deadlines.prune(self.size, _watched)

    def notice_due(self, now: float) -> None:
        """Queue the waits whose time has come."""
        for time, seat in self._dues.take(now + NEAR):
            if not _entered(seat, time):
                continue
            seat.entered = INFINITY
            if seat.stage == "asked":
                continue  # it is entered anew when it has been judged
            if seat.due > now + NEAR:
                self._enter(seat)
                continue
            self._riding.pop(seat, None)
            seat.stage = "due"
            self._due[seat] = None

    def first(self) -> Seat | None:
        """Return the wait that has been due for longest, if one was noticed."""
        return next(iter(self._due), None)

    def next_due(self) -> float:
        """Return when the next wait is due of those that are not yet; infinity for never."""
        return self._dues.first(self._wants)

    def last_due(self, until: float) -> float:
        """Return the latest time up to one at which a wait is due; minus infinity for none."""
        return self._dues.last(until, _is_due)

    def next_deadline(self) -> float:
        """Return the next deadline; infinity if there is none."""
        return self._deadlines.first(_watched)

    def board(
        self,
        room: int,
        now: float,
        counts: Callable[[Seat], bool],
        first: Iterable[Seat] = (),
    ) -> dict[Any, list[Seat]]:
        """Fill a call, and return whom it carries, by key.

        Args:
            room: how many keys it may carry.
            now: when it starts.
            counts: tells whether a check counts for the schedule of a wait that is not due.
            first: who goes first of those that are not due; all others follow in their order.
        """
        seats: dict[Any, list[Seat]] = {}
        self._fill(seats, self._due, room, now, counts)
        for seat in first:
            if len(seats) == room:
                return seats
            if seat.stage != "asked":  # else it goes with another for its key, or was due
                seats[seat.key] = self._board_all(seat.key, now, counts)
        self._fill(seats, self._riding, room, now, counts)
        return seats

    def expired(self, now: float, end_of: Callable[[Seat], float]) -> list[Seat]:
        """Take out the waits whose deadline has come, and that no call carries.

        Args:
            now: the time.
            end_of: tells until when a wait may stay whose deadline has come.
        """
        over: list[Seat] = []
        for time, seat in self._deadlines.take(now + NEAR):
            if not _watched(seat, time):
                continue
            seat.watched = INFINITY
            if seat.stage == "asked":
                continue  # this is its final check
            end = end_of(seat)
            if time < end and now + NEAR < end:
                self._watch(seat, end)
                continue
            self.remove(seat)
            seat.broke(now, "timeout")
            over.append(seat)
        return over

    def _fill(
        self,
        seats: dict[Any, list[Seat]],
        queue: dict[Seat, None],
        room: int,
        now: float,
        counts: Callable[[Seat], bool],
    ) -> None:
        """Fill a call from a queue, whose waits leave it as they get on."""
        while queue and len(seats) < room:
            for seat in list(islice(queue, room - len(seats))):
                if seat.stage != "asked":
                    seats[seat.key] = self._board_all(seat.key, now, counts)

    def _board_all(self, key: Any, now: float, counts: Callable[[Seat], bool]) -> list[Seat]:
        """Let all who wait for a key, and may be asked, get on the call."""
        boarding = [seat for seat in self._at(key) if seat.stage in ("riding", "due")]
        for seat in boarding:
            early = seat.stage == "riding"
            del (self._riding if early else self._due)[seat]
            seat.board(rides=early and not counts(seat))
            if seat.counts_from_start:
                seat.check_started = now
        return boarding

    def _at(self, key: Any) -> Iterable[Seat]:
        found = self._places[key]
        return found if isinstance(found, dict) else (found,)

    def _watch(self, seat: Seat, end: float) -> None:
        if end < INFINITY:
            seat.watched = end
            self._deadlines.add(end, seat)

    def _enter(self, seat: Seat) -> None:
        """Put a wait among the due times, unless an entry that is not too late is there."""
        if seat.due < seat.entered - NEAR:
            seat.entered = seat.due
            self._dues.add(seat.due, seat)

    def _wants(self, seat: Seat, time: float) -> bool:
        """Tell whether a wait is due at the time of an entry; enter it anew if it is due later."""
        if not _entered(seat, time):
            return False
        if seat.due <= time + NEAR:
            return True
        seat.entered = INFINITY
        self._enter(seat)
        return False


def _entered(seat: Seat, time: float) -> bool:
    """Tell whether the entry of a wait among the due times is the one that holds."""
    return seat.entered == time and seat.stage != "over"


def _is_due(seat: Seat, time: float) -> bool:
    """Tell whether a wait is due at the time of an entry."""
    return _entered(seat, time) and seat.due <= time + NEAR


def _watched(seat: Seat, time: float) -> bool:
    """Tell whether the entry of a wait among the deadlines is the one that holds."""
    return seat.watched == time and seat.stage != "over"
