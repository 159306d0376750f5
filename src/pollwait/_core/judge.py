"""What an answer means for a wait of a group."""

from __future__ import annotations

from .._errors import MissingKey, chain
from .answer import private
from .callables import close_coroutine, is_awaitable
from .try_again import TryAgain, Unasked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable
    from types import TracebackType
    from typing import Any, Literal, TypeAlias

    from .group_settings import GroupSettings
    from .seat import Chance, Seat

    Hint: TypeAlias = Callable[[TryAgain], float | None]
    Meaning: TypeAlias = Literal["again", "unasked", "throttle", "retry", "missing", "pass"]
    # Yields what must be awaited; is sent what that gave, and the time.
    Judging: TypeAlias = Generator[Any, tuple[Any, float], None]


class Judge:
    """Judges what one round brought.

    An error of a whole call reaches many waits, so what it means is found out once.

    Args:
        settings: what is said of the group.
        chance: what the waits of the group draw from.
        hint: tells for how many seconds a ``TryAgain`` asks.
    """

    __slots__ = ("_hint", "_known", "_settings", "chance")

    def __init__(self, settings: GroupSettings, chance: Chance, hint: Hint) -> None:
        self.chance = chance
        self._settings = settings
        self._hint = hint
        self._known: dict[int, _Ruling] = {}

    def is_throttle(self, error: Exception) -> bool:
        """Tell whether the error of a call says that the service is too busy."""
        return self._ruling(error).meaning == "throttle"

    def any_throttle(self, outcomes: Iterable[object]) -> bool:
        """Tell whether a key has such an error of its own."""
        return bool(self._settings.is_throttle) and any(
            isinstance(outcome, Exception) and self.is_throttle(outcome) for outcome in outcomes
        )

    def weigh(self, seat: Seat, outcome: object, now: float) -> Judging | None:
        """Have a wait take in what a call brought for its key.

        Returns:
            None for an error, which has been taken in. For a value the judging that is to be run,
            because its predicates may be asynchronous.
        """
        try:
            return self._weighed(seat, outcome, now)
        except Exception as bug:  # of an outcome that is not what it seems to be
            seat.passes(private(bug), now)
            return None

    def _weighed(self, seat: Seat, outcome: object, now: float) -> Judging | None:
        if not isinstance(outcome, BaseException):
            return self._judging(seat, outcome, now)
        ruling = self._ruling(outcome)
        error = ruling.error
        error.with_traceback(ruling.traceback)  # a wait that records an error drops its traceback
        if ruling.meaning == "throttle":
            seat.put_off(error, now)
        elif ruling.meaning == "unasked":
            seat.pass_over(now)
        elif ruling.meaning == "missing":
            seat.missed(error, self._settings.missing_grace, now)
        elif ruling.meaning == "pass":
            seat.passes(private(ruling.raised), now)
        else:
            seat.take(None, now, error=error, hint=ruling.hint)
        return None

    def _judging(self, seat: Seat, value: object, now: float) -> Judging:
        settings = seat.settings
        seat.absent_since = None
        try:
            if settings.fail is not None:
                said = settings.fail(value)
                if said is not False and said is not True and is_awaitable(said):
                    said, now = yield said
                if said:
                    seat.take(value, now, "failed")
                    return
            said = settings.until(value)
            if said is not False and said is not True and is_awaitable(said):
                said, now = yield said
            seat.take(value, now, "ready" if said else None)
        except Unasked:
            seat.pass_over(now)
        except TryAgain as signal:
            seat.take(value, now, error=signal, hint=self._hint(signal))
        except GeneratorExit:  # the wait was given up while its predicate was awaited
            raise
        except Exception as error:
            seat.passes(without_our_frame(error), now)
        except BaseException as error:
            seat.passes(private(error), now)
            raise

    def _ruling(self, error: BaseException) -> _Ruling:
        ruling = self._known.get(id(error))
        if ruling is None:
            ruling = self._known[id(error)] = self._rule(error)
        return ruling

    def _rule(self, error: BaseException) -> _Ruling:
        if not isinstance(error, Exception):
            return _Ruling(error, "pass")
        if isinstance(error, Unasked):
            return _Ruling(error, "unasked")
        if isinstance(error, TryAgain):
            return _Ruling(error, "again", hint=self._hint(error))
        try:
            if any(_plain(matches(error), "is_throttle") for matches in self._settings.is_throttle):
                return _Ruling(error, "throttle")
            if any(_plain(matches(error), "retry_on") for matches in self._settings.waits.retry_on):
                return _Ruling(error, "retry")
        except Exception as bug:
            chain(bug, "__context__", bug.__context__ or error)
            return _Ruling(error, "pass", raised=without_our_frame(bug))
        return _Ruling(error, "missing" if isinstance(error, MissingKey) else "pass")


class _Ruling:
    """What an error means.

    Attributes:
        error: the error, to be recorded; a stand-in for what is no ``Exception``.
        meaning: what follows from it.
        hint: seconds after which to look again, if it says so.
        raised: what callers get a copy of if it ends their waits.
        traceback: the error's, which says where it was raised.
    """

    __slots__ = ("error", "hint", "meaning", "raised", "traceback")

    def __init__(
        self,
        error: BaseException,
        meaning: Meaning,
        *,
        hint: float | None = None,
        raised: BaseException | None = None,
    ) -> None:
        self.error: Exception = error if isinstance(error, Exception) else Exception(error)
        self.meaning = meaning
        self.hint = hint
        self.raised = error if raised is None else raised
        self.traceback: TracebackType | None = error.__traceback__


def without_our_frame(error: BaseException) -> Any:
    """Return an error whose traceback begins below the frame that has just caught it."""
    trace = error.__traceback__
    return error.with_traceback(trace and trace.tb_next)


def _plain(said: object, what: str) -> bool:
    """Return what a predicate over errors says; such predicates are never awaited."""
    if said is True or said is False:
        return said
    if is_awaitable(said):
        close_coroutine(said)
        raise TypeError(f"{what} must be a plain function: it returned an awaitable")
    return bool(said)
