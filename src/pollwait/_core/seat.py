"""One wait among those of a group: the machine of one wait, asked more often than it would ask."""

from __future__ import annotations

from .._errors import MissingKey, safe_repr
from .duration import INFINITY
from .history import FIRST, LAST, History
from .pace import LEAST_SLOWED
from .try_again import TryAgain
from .wait import Wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Literal, TypeAlias

    from .cohorts import Cohort
    from .rules import Rng, State, Step
    from .settings import Settings

    # "early": its initial delay is not over. "riding": asked before, and not due; any call may
    # carry it. "due": the next call should. "asked": a call carries it. "over", or not begun.
    Stage: TypeAlias = Literal["early", "riding", "due", "asked", "over"]

_NEVER = float("nan")  # equals no reading of a clock
_MOVING = (_NEVER, 0, 0.0)


class Chance:
    """Draws chance once per call, for all that the call carries.

    Jitter keeps processes that started together from calling in step. Within a group it would only
    pull apart what can travel together.
    """

    __slots__ = ("_drawn", "_rng")

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._drawn: float | None = None

    def fresh(self) -> None:
        """Draw anew from here on."""
        self._drawn = None

    def random(self) -> float:
        """Return the number of this call, in [0, 1)."""
        if self._drawn is None:
            self._drawn = self._rng.random()
        return self._drawn


class Seat(Wait):
    """The state of one wait in a group.

    A call that comes before the wait is due carries it all the same. Such a ride is a check like
    any other but for two things: it is not the final one, however close the deadline is, and it may
    leave the wait's own schedule alone.

    There may be very many, so each remembers but its first check and its newest one.

    Args:
        key: what is waited for.
        settings: what the caller said of it, and what holds for the group.
        now: the time at which it begins.
        rng: draws the jitter.
        owner: whom to tell when it is over; the driver knows.

    Attributes:
        due: when it wants to be asked next.
        entered: the time of its entry among the due times, none of which is later; infinity if
            there is none.
        watched: the time of its entry among the deadlines; infinity if there is none.
        rides: the present call leaves the schedule alone.
        stage: where it stands.
        passed_over: the present call brought nothing that could be judged.
        absent_since: when the present absence of its key was first seen.
        unready: seconds from its beginning to the end of the last check that found it not ready;
            None if none did.
        outcome: the good value or the error, once it is over.
    """

    __slots__ = (
        "absent_since",
        "due",
        "entered",
        "key",
        "outcome",
        "owner",
        "passed_over",
        "rides",
        "stage",
        "unready",
        "watched",
    )
    begins: ClassVar[Stage] = "early"  # the stage of one that has just joined

    def __init__(
        self, key: Any, settings: Settings, now: float, rng: Rng, owner: object = None
    ) -> None:
        name = settings.name or (key if isinstance(key, str) else safe_repr(key))
        super().__init__(settings, name, now, rng)
        self._stalled = _MOVING
        self.key = key
        self.owner: Any = owner
        self.due = self._deadline if self._final else now + settings.schedule.initial_delay
        self.entered = INFINITY
        self.watched = INFINITY
        self.rides = False
        self.passed_over = False
        self.stage: Stage = "over"
        self.absent_since: float | None = None
        self.unready: float | None = None
        self.outcome: Any = None

    @property
    def deadline(self) -> float:
        """The point in time at which it ends; infinity for never."""
        return self._deadline

    @property
    def final(self) -> bool:
        """True if the next check is the last one."""
        return self._final

    @property
    def not_ready_at(self) -> float | None:
        """As in any wait; None if no check found it not ready."""
        return self.unready

    def board(self, rides: bool) -> None:
        """Get on a call, which it is carried by ahead of its time if it was not due."""
        if self.stage != "due":
            self._final = False
        self.rides = rides
        self.passed_over = False
        self.stage = "asked"

    def take(
        self,
        value: object,
        now: float,
        end: Literal["ready", "failed"] | None = None,
        error: Exception | None = None,
        hint: float | None = None,
    ) -> None:
        """Take in the outcome of a check, as ``report`` does."""
        self._seen = _NEVER  # the group itself watches whether its clock moves
        if self.rides:
            own, self._step = self._step, self._hold
            self.report(value, now, end, error, hint)
            self._step = own
        else:
            self.report(value, now, end, error, hint)
        if end is None:
            self.unready = self.elapsed
        if self.attempts > 2:
            self._rows[_row(self.attempts - 1)] = None
        if self.delay is not None:
            self.due = self._deadline if self._final else now + self.delay

    def put_off(self, error: Exception, now: float) -> None:
        """Go on as if not asked, until the deadline: the service was too busy to answer."""
        self.rides = True
        unready = self.unready
        Seat.take(self, None, now, error=error)  # it means the same for all kinds of them
        self.unready = unready

    def pass_over(self, now: float) -> None:
        """Go on as if this call had not carried it, until the deadline."""
        self.passed_over = True
        if self._final or now >= self._deadline:
            self.broke(now, "timeout")

    def missed(self, error: Exception, grace: float, now: float) -> None:
        """Go on or fail: the answer lacked the key."""
        if self.absent_since is None:
            self.absent_since = now
        excused = now - self.absent_since < grace
        self.take(None, now, None if excused else "failed", error)

    def passes(self, error: Exception, now: float) -> None:
        """End with an error that goes to the caller as it is."""
        self.errored(error, "pass", now)
        self.outcome = error

    def history(self) -> History:
        """Return what is remembered of the checks: the first and the newest one."""
        records = sorted(self._records(), key=lambda record: record.attempt)
        return History(tuple(records[:1]), tuple(records[1:]), self.attempts)

    def _hold(self, state: State, now: float, started: float, rng: Rng) -> Step:
        return max(self.due - now, 0.0), state


class Trouble:
    """Since when calls have failed, as far as the waits of a group know.

    Attributes:
        since: when the first of those failed after which none was answered; None if the newest
            outcome was an answer.
    """

    __slots__ = ("since",)

    def __init__(self) -> None:
        self.since: float | None = None


class ForeseenSeat(Seat):
    """The state of one wait in a group that knows how long things take.

    The group decides when to ask. By itself such a wait is due at its deadline only, or when it was
    told to look again, or after an error that is retried. Such an error says nothing of what is
    waited for. It puts the next look off for as long again as all looks have failed, so that these
    become ever rarer.

    Args:
        trouble: what the waits of the group share.

    Attributes:
        answered: seconds from its beginning to the end of the last check that was answered and
            found it not ready; None if none did.
        cohort: where it is counted while a call could carry it.
        failing_since: when it or the others began to fail; None if its newest check was answered.
        seen: when it was last seen not ready; at first, when it began.
    """

    __slots__ = ("_trouble", "answered", "cohort", "failing_since", "seen")
    begins = "riding"

    def __init__(
        self,
        key: Any,
        settings: Settings,
        now: float,
        rng: Rng,
        owner: object = None,
        trouble: Trouble | None = None,
    ) -> None:
        super().__init__(key, settings, now, rng, owner)
        self._trouble = trouble or Trouble()
        self.failing_since: float | None = None
        self.answered: float | None = None
        self._step = _wait_for_news
        self._final = True
        self.delay = self.timeout
        self.due = self._deadline
        self.cohort: Cohort | None = None
        self.seen = now

    def take(
        self,
        value: object,
        now: float,
        end: Literal["ready", "failed"] | None = None,
        error: Exception | None = None,
        hint: float | None = None,
    ) -> None:
        if error is not None and end is None and not isinstance(error, (TryAgain, MissingKey)):
            super().take(value, now, error=error, hint=self._failed(now))
            return
        if self.failing_since is not None:
            self.rides = False  # it was due because of errors, and they are over
        self.failing_since = self._trouble.since = None
        super().take(value, now, end, error, hint)
        if end is None:
            self.answered = self.elapsed

    def _failed(self, now: float) -> float | None:
        """Return after how many seconds to look again; None to leave that as it is."""
        if self._trouble.since is None:
            self._trouble.since = now
        if self.failing_since is None:
            if self.rides and self.due < self._deadline:
                return None  # it was told when
            self.failing_since = self._trouble.since
        return max(now - self.failing_since, 2.0 * LEAST_SLOWED)  # bounded as all hints are


def _wait_for_news(state: State, now: float, started: float, rng: Rng) -> Step:
    return INFINITY, state


def _row(attempt: int) -> int:
    """Return where the record of a check is kept."""
    return attempt - 1 if attempt <= FIRST else FIRST + attempt % LAST
