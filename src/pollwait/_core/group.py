"""Many waits that share calls, as a pure machine.

Theory of operation
-------------------
A driver owns the clock, calls the fetch and sleeps. Waits join and leave at any time, and whenever
something has happened the driver takes a step::

    over, call = group.step(now)       waits that are over by their deadlines; a call to make
    sleep for group.delay(now) seconds, or until something happens

and for each call, while others may go on::

    fetch, and have the waits that the call carries take in what was fetched
    group.ended(call, now)             the call does not occupy the service any more
    over = group.settle(seats)         each wait is over, or goes on

A call starts when a wait is due, and no sooner than the gap after the start of the one before. Due
waits go first, in the order in which they were due. What room is left goes to waits that were asked
before and are not due, in the order in which they were last asked (G2). Waits for equal keys travel
together.

Invariants
----------
- A wait gets only answers of calls that it got on, so none that was asked for before it was (G1).
- A wait is due from the end of its initial delay on, so none is asked before that.
- The final check at a deadline is made if a call may start just then, or so few milliseconds later
  as calls linger. If not, the check before it was the final one, and the wait ends at its deadline.
- No other check starts after a deadline, with one exception: a wait that was never asked gets its
  one check with the next call, if that comes within the least gap. A verdict without a look would
  be no verdict.
- Each wait that is due is served before any that is due later, so none starves.
- Where the group knows how long things take, ``foresight`` says when to call, and waits are due by
  their deadlines and by hints only. All that is said above holds.
- The work of a call grows with the waits that it carries, not with all that there are.
"""

from __future__ import annotations

from .call import Call
from .duration import INFINITY
from .judge import Judge
from .pace import Pace, Standstill
from .room import NEAR, Room
from .seat import Chance, Seat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from typing import Any

    from .group_settings import GroupSettings
    from .judge import Hint
    from .rules import Rng
    from .settings import Settings

# Seconds by which the first call after idleness waits for company, unless the gap is shorter: what
# a program takes to start some hundred waits, and less than anyone notices.
LINGER = 1 / 256

# How many calls may be under way. More than one, so that a call that hangs does not hold up the
# waits that it does not carry; few, since a service that is slow should not be called more.
MAX_IN_FLIGHT = 4


class Group:
    """The state of one group.

    Args:
        settings: what is said of it.
        rng: draws the jitter of its waits.
        hint: tells for how many seconds a ``TryAgain`` asks.

    Attributes:
        pace: how fast it may call at present.
        closed: no more calls start.
        calls: how many calls have started, not counting those that look for poison keys.
    """

    __slots__ = (
        "_chance",
        "_foresight",
        "_fresh_since",
        "_hint",
        "_in_flight",
        "_last_start",
        "_room",
        "_settings",
        "_standstill",
        "calls",
        "closed",
        "pace",
    )

    def __init__(self, settings: GroupSettings, rng: Rng, hint: Hint) -> None:
        self._settings = settings
        self._chance = Chance(rng)
        self._hint = hint
        self._room = Room()
        self._foresight = settings.foresight()
        self._in_flight = 0
        self._last_start = -INFINITY
        self._fresh_since: float | None = None  # idle before, and no call since
        self._standstill = Standstill()
        self.pace = Pace(settings.min_gap)
        self.closed = False
        self.calls = 0

    @property
    def waiting(self) -> int:
        """How many waits are not over."""
        return self._room.size

    def seat(self, key: Any, settings: Settings, now: float, owner: object = None) -> Seat:
        """Make a wait that begins now; it takes part once it has joined."""
        return self._foresight.seat(key, settings, now, self._chance, owner)

    def join(self, seats: Collection[Seat]) -> None:
        """Let waits take part, from their initial delay on; all, or none if a key cannot be."""
        try:
            for seat in seats:
                if not self._room.size:
                    self._fresh_since = seat.began
                self._room.add(seat)
        except BaseException:
            self.leave(seats)
            raise
        self._foresight.add(seats)
        self._room.tidy()

    def leave(self, seats: Iterable[Seat]) -> list[Seat]:
        """Forget waits; return those that were not over."""
        left = [seat for seat in seats if self._room.remove(seat)]
        self._foresight.over(left)
        self._room.tidy()
        return left

    def close(self) -> list[Seat]:
        """Start no more calls, and forget all waits that no call carries; return these.

        Those that a call carries are over when it ends.
        """
        self.closed = True
        return self.leave(self._idle())

    def everyone(self) -> list[Seat]:
        """Return all waits that are not over."""
        return list(self._room)

    def delay(self, now: float) -> float | None:
        """Return the seconds until the next step; None if only news can bring one."""
        moment = min(self._next_call(), self._room.next_deadline())
        return None if moment == INFINITY else max(moment - now, 0.0)

    def step(self, now: float) -> tuple[list[Seat], Call | None]:
        """Return the waits that are over by their deadlines, and a call to make now, if any."""
        self._room.notice_due(now)
        if self._foresight.moment <= now + NEAR:
            self._foresight.confirm()
        call = self._start(now) if self._next_call() <= now + NEAR else None
        next_call = self._next_call()
        over = self._room.expired(now, lambda seat: self._end_of(seat, next_call))
        self._foresight.over(over)
        return over, call

    def ended(self, call: Call, now: float) -> None:
        """Take in that a call does not occupy the service any more."""
        if not call.over:
            call.over = True
            self._in_flight -= 1
            if call.slowed:
                self.pace.throttled(call.started, now)
            elif call.good:
                self.pace.passed()
                self._foresight.called(now - call.started)

    def settle(self, seats: Collection[Seat]) -> list[Seat]:
        """Take in that waits were judged: return those that are over, and keep the others."""
        over: list[Seat] = []
        for seat in seats:
            if seat.stage != "asked":
                continue  # its caller left meanwhile
            if seat.reason is None and not self.closed:
                self._room.keep(seat)
            else:
                self._room.remove(seat)
                over.append(seat)
        self._foresight.over(over)
        self._foresight.add(seats)
        self._room.tidy()
        return over

    def put_back(self, call: Call, now: float) -> list[Seat]:
        """Take in that a call ended early: whom it leaves without an answer is due at once (G8).

        Returns:
            Those that are over, because the group is closed.
        """
        self.ended(call, now)
        unanswered = [seat for seats in call.seats.values() for seat in seats]
        call.seats = {}
        for seat in unanswered:
            seat.due = now
        return self.settle(unanswered)

    def slept(self, seconds: float, before: float, now: float) -> list[Seat]:
        """Take in a sleep to its end: return the waits that end because the clock stands still."""
        if not self._standstill.slept(seconds, before, now):
            return []
        seats = self._idle()
        for seat in seats:
            seat.broke(now, "stalled")
        return self.leave(seats)

    def _idle(self) -> list[Seat]:
        return [seat for seat in self._room if seat.stage != "asked"]

    def _next_call(self) -> float:
        """Return when the next call may start; infinity if none may, or nobody will be due."""
        if self.closed or self._in_flight >= MAX_IN_FLIGHT:
            return INFINITY
        first = self._room.first()
        due = self._room.next_due() if first is None else first.due
        if self._fresh_since is not None and (first is None or not first.final):
            due = self._with_company(due, self._fresh_since)
        return max(min(due, self._foresight.moment), self._last_start + self.pace.gap)

    def _with_company(self, due: float, since: float) -> float:
        """Return until when the first call lingers, so that waits that begin together share it.

        Those that are due long enough after they began are all here by then. It waits for the last
        of them, and one that is alone is asked just when it is due.
        """
        late = due + min(LINGER, self.pace.least)
        return max(due, self._room.last_due(late)) if due >= since + LINGER else late

    def _end_of(self, seat: Seat, next_call: float) -> float:
        """Return until when a wait may stay, at its deadline."""
        if not seat.attempts:
            return seat.deadline + self.pace.least
        late = seat.deadline + LINGER
        return late if next_call <= late else seat.deadline

    def _start(self, now: float) -> Call:
        first = self._foresight.first_served(now)
        seats = self._room.board(
            self._settings.max_size, now, lambda seat: self._counts(seat, now), first
        )
        self._foresight.boarded(seats.values())
        self._last_start = now
        self._fresh_since = None
        self._in_flight += 1
        self.calls += 1
        judge = Judge(self._settings, self._chance, self._hint)
        return Call(self._settings, judge, seats, now, self.calls, self._room.__contains__)

    def _counts(self, seat: Seat, now: float) -> bool:
        """Tell whether a check that comes before its time counts as the one that is due next (G3).

        Where no other call could come by then it is that one. Otherwise it is as the settings say.
        It never counts for a schedule that ends, which would end too soon.
        """
        if seat.settings.schedule.ends:
            return False
        return seat.due <= now + self.pace.gap or self._settings.riding == "counts"
