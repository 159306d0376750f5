"""Waits that are alike: last seen at about the same time, and at about the same age.

What a group expects of its waits is summed up over cohorts, so that a hundred thousand waits are no
more work than a hundred. Where there would be too many cohorts, what counts as alike is widened;
each stands for its waits by their mean times, so that little is lost by that.
"""

from __future__ import annotations

from math import frexp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from .seat import ForeseenSeat

    Place: TypeAlias = tuple[int, int]

# How many cohorts there may be: a sum over them takes some tenths of a millisecond.
MOST = 128

# Ages are alike within a width while they are small, and beyond this many widths within a share of
# themselves: what matters of a wait that is old is about how old it is.
_SMALL = 16


class Cohort:
    """Some waits that are alike.

    Attributes:
        place: its key among the others.
        seats: its waits.
    """

    __slots__ = ("_begun", "_origin", "_unready", "place", "seats")

    def __init__(self, place: Place, origin: float) -> None:
        self.place = place
        self.seats: dict[ForeseenSeat, None] = {}
        self._origin = origin  # sums are kept in seconds from here, since they must not round
        self._begun = 0.0
        self._unready = 0.0

    def add(self, seat: ForeseenSeat, sign: int = 1) -> None:
        """Take a wait into the sums; out of them with a sign of -1."""
        self._begun += sign * (seat.began - self._origin)
        self._unready += sign * (seat.seen - self._origin)

    def times(self) -> tuple[float, float]:
        """Return when its waits began and when they were last seen, on average."""
        count = len(self.seats)
        began = self._origin + self._begun / count
        return began, max(self._origin + self._unready / count, began)


class Cohorts:
    """All waits that a call could carry now.

    Args:
        least: within how many seconds times count as alike while there are few cohorts.

    Attributes:
        least: as given; where it is changed, the cohorts that there are stay as they are.
        size: how many waits there are.
    """

    __slots__ = ("_cohorts", "_width", "least", "size")

    def __init__(self, least: float) -> None:
        self.least = least
        self._width = least
        self._cohorts: dict[Place, Cohort] = {}
        self.size = 0

    def counts(self) -> Iterator[tuple[Cohort, int]]:
        """Go through the cohorts, and how many waits each has."""
        for cohort in self._cohorts.values():
            yield cohort, len(cohort.seats)

    def add(self, seat: ForeseenSeat) -> Cohort:
        """Take in a wait, and return its cohort."""
        place = self._place(seat)
        cohort = self._cohorts.get(place)
        if cohort is None:
            cohort = self._cohorts[place] = Cohort(place, seat.began)
        cohort.seats[seat] = None
        cohort.add(seat)
        seat.cohort = cohort
        self.size += 1
        if len(self._cohorts) > MOST:
            self._widen()
        return seat.cohort

    def drop(self, seat: ForeseenSeat) -> None:
        """Let go of a wait that is here."""
        cohort = seat.cohort
        assert cohort is not None
        seat.cohort = None
        del cohort.seats[seat]
        self.size -= 1
        if cohort.seats:
            cohort.add(seat, -1)
            return
        del self._cohorts[cohort.place]
        if not self._cohorts:
            self._width = self.least

    def _place(self, seat: ForeseenSeat) -> Place:
        seen, width = seat.seen, self._width
        fraction, octave = frexp(1.0 + (seen - seat.began) / (_SMALL * width))
        return int(seen // width), 2 * _SMALL * octave + int(4 * _SMALL * fraction)

    def _widen(self) -> None:
        """Have more times count as alike, until there are far fewer cohorts."""
        seats = [seat for cohort in self._cohorts.values() for seat in cohort.seats]
        self._cohorts = {}
        self.size = 0
        self._width *= 2.0
        for seat in seats:
            self.add(seat)
