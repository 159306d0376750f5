"""When a group calls that knows how long things take.

Theory of operation
-------------------
For each wait that a call could carry, the latency model says how likely what it waits for is ready
by a time, given that it was not when it was last seen, and for how long it is expected to have been
ready by then. Summed up over the waits, ``ready(t)`` are expected to be ready and unnoticed, and
``lost(t)`` seconds to be lost so far; the first is the rate at which the second grows.

A call is worth ``call_cost`` seconds. To wait for more company makes each call go further, and has
those lose time that are ready. If things become ready at a steady rate, both weigh the same when
just as much is lost as a call costs. They seldom do: often some more are just about to be ready, or
nobody for a while. So between the time at which a quarter of the cost is lost and the time at which
four times the cost is, the call is made as soon as::

    ready(t) ** 2 / (2 * rate(t)) >= call_cost

where ``rate(t)`` is how many become ready per second just then. The left side is what would be lost
had they always become ready at that rate: the call comes late while many more become ready, and
soon when no more do.

Source: in operations research this is the lot sizing problem: an order is a call, and what is held
in stock are those that are ready. To order when the cost of holding has reached that of an order is
known as part-period balancing (J. J. DeMatteis, "An Economic Lot-Sizing Technique, I", IBM Systems
Journal 7(1), 1968).

Invariants
----------
- A moment depends on nothing but the waits, the model and how long calls take, so the drivers on
  threads and on event loops come to the same one.
- A moment never comes too late for the waits that are there, save by what a hundredth of a call is
  worth. It may come too soon after waits have left, so it is confirmed before a call is made.
- What is done per wait does not depend on how many there are; what is done per call is bounded.
"""

from __future__ import annotations

from .cohorts import Cohorts
from .duration import INFINITY
from .expected import Expected, best_moment
from .latency import LatencyModel, distribution_of
from .no_foresight import NoForesight
from .outlook import Outlook
from .seat import ForeseenSeat, Trouble
from .settings import Unset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from .cohorts import Cohort
    from .distribution import Distribution
    from .rules import Rng
    from .seat import Seat
    from .settings import Settings

# New waits that shift what is lost by less than this share of the cost do not change the moment.
_SLIGHT = 0.01

# The newest call counts this much in how long calls take.
_NEWEST = 0.25

# Times within this share of what is typical count as alike.
_ALIKE = 1 / 64


class Foresight(NoForesight):
    """What a group expects of the waits that a call could carry.

    Args:
        latency: how long things take; a model that learns is asked anew as it does.
        call_cost: how many seconds of waiting one call is worth.
        max_size: how many waits a call can carry.
        learn: tell the model what is seen, until it raises an error. Then the group goes on with
            what it knew, because its waits come first.
    """

    __slots__ = (
        "_cohorts",
        "_cost",
        "_gained",
        "_half",
        "_latency",
        "_max_size",
        "_outlook",
        "_pupil",
        "_stale",
        "_trouble",
    )

    def __init__(
        self, latency: Distribution | LatencyModel, call_cost: float, max_size: int, learn: bool
    ) -> None:
        super().__init__()
        self._latency = latency
        self._cost = call_cost
        self._max_size = max_size
        self._pupil = latency if learn and isinstance(latency, LatencyModel) else None
        self._half: float | None = None  # seconds from the start of a call to what it sees
        self._outlook = Outlook(distribution_of(latency))
        self._cohorts = Cohorts(self._outlook.spread * _ALIKE)
        self._gained: dict[Cohort, int] = {}  # since the moment was found
        self._stale = False  # the moment may be too soon
        self._trouble = Trouble()

    def seat(self, key: Any, settings: Settings, now: float, rng: Rng, owner: object) -> Seat:
        if isinstance(settings.timeout, Unset):
            raise TypeError(
                "timeout is required: give seconds, or timeout=None to wait for ever"
                " (a latency model ends no wait)"
            )
        return ForeseenSeat(key, settings, now, rng, owner, self._trouble)

    def add(self, seats: Iterable[Seat]) -> None:
        for seat in seats:
            assert isinstance(seat, ForeseenSeat)
            # One that is due sooner than at its deadline was told when to look again. One whose
            # check failed is due by itself, if only at its deadline: nothing says that it is not
            # ready, so that it would bring calls without end.
            told = seat.due < seat.deadline or seat.failing_since is not None
            if seat.stage == "riding" and not told:
                self._take_in(seat)
        if self._gained and (self.moment == INFINITY or self._gain() > _SLIGHT * self._cost):
            self._find()

    def boarded(self, seats: Iterable[Iterable[Seat]]) -> None:
        for together in seats:
            for seat in together:
                self._drop(seat)
        self.confirm()

    def over(self, seats: Iterable[Seat]) -> None:
        for seat in seats:
            self._drop(seat)
            if self._pupil is not None:
                self._learn(seat, self._pupil)

    def called(self, duration: float) -> None:
        half = 0.5 * duration
        self._half = half if self._half is None else self._half + _NEWEST * (half - self._half)

    def confirm(self) -> None:
        if self._stale:
            self._find()

    def first_served(self, now: float) -> Iterator[Seat]:
        if self._cohorts.size <= self._max_size:
            return
        expected = Expected(self._outlook, self._cohorts.counts(), self._max_size)
        for cohort in expected.ranked(now + (self._half or 0.0)):
            yield from cohort.seats

    def _take_in(self, seat: ForeseenSeat) -> None:
        if seat.answered is not None:
            seat.seen = seat.began + self._seen_at(seat.answered)
        cohort = self._cohorts.add(seat)
        self._gained[cohort] = self._gained.get(cohort, 0) + 1

    def _drop(self, seat: Seat) -> None:
        assert isinstance(seat, ForeseenSeat)
        if seat.cohort is not None:
            self._cohorts.drop(seat)
            self._stale = True

    def _find(self) -> None:
        """Find the moment."""
        self._gained = {}
        self._stale = False
        latest = self._news()
        if latest is not self._outlook.model:
            self._outlook = Outlook(latest)
            self._cohorts.least = self._outlook.spread * _ALIKE
        self.moment = INFINITY
        if self._cohorts.size:
            expected = Expected(self._outlook, self._cohorts.counts(), self._max_size)
            seen = best_moment(expected, self._cost, self._outlook.spread * _ALIKE)
            self.moment = seen - (self._half or 0.0)

    def _news(self) -> Distribution:
        try:
            return distribution_of(self._latency)
        except Exception:
            self._latency = self._outlook.model
            return self._latency

    def _gain(self) -> float:
        """Return what the waits that were taken in are expected to lose by the moment."""
        gained = [(cohort, count) for cohort, count in self._gained.items() if cohort.seats]
        if not gained:
            return 0.0
        expected = Expected(self._outlook, gained, self._max_size)
        return expected.at(self.moment + (self._half or 0.0))[0]

    def _learn(self, seat: Seat, pupil: LatencyModel) -> None:
        assert isinstance(seat, ForeseenSeat)
        unready = None if seat.answered is None else self._seen_at(seat.answered)
        try:
            if seat.reason == "ready":
                ready = self._seen_at(seat.elapsed)
                pupil.add((min(unready or 0.0, ready), ready))
            elif unready is not None:
                pupil.add((unready, None))
        except Exception:
            self._pupil = None

    def _seen_at(self, end: float) -> float:
        """Return when a call saw the state that it told of at its end."""
        return max(end - (self._half or 0.0), 0.0)
