"""What a poll group tells those who listen, besides what each of its waits tells."""

from __future__ import annotations

from ._core.value import Value
from ._errors import BatcherClosed
from ._events import checked, conclude, leave

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from ._core.call import Call
    from ._core.seat import Seat
    from ._events import Checked, Finished, Reason

    GroupHook: TypeAlias = Callable[["Called | Checked | Finished"], object]


class Called(Value):
    """A poll group made a call.

    Attributes:
        number: the number of the call, from 1. Calls that look for a poison key have the number of
            the call that failed.
        keys: how many keys it carried.
        duration: seconds that it took.
        error: what it raised; None if it returned.
        gap: seconds that are left between the starts of two calls after it: ``min_gap``, or more
            while the group is slowed by throttles.
    """

    __slots__ = ("number", "keys", "duration", "error", "gap")
    number: int
    keys: int
    duration: float
    error: BaseException | None
    gap: float

    def __init__(
        self,
        number: int,
        keys: int,
        duration: float,
        error: BaseException | None = None,
        gap: float = 0.0,
    ) -> None:
        self._fill(number, keys, duration, error, gap)


def tell_call(
    call: Call,
    keys: list[Any],
    found: dict[Any, Any],
    seconds: float,
    error: BaseException | None,
    gap: float,
    tell: GroupHook | None,
) -> dict[Any, Any]:
    """Tell of a call, and return what it found: a hook that raises is the error of all its keys."""
    if tell is None:
        return found
    try:
        tell(Called(call.number, len(keys), seconds, error, gap))
    except Exception as bug:
        return dict.fromkeys(keys, bug)
    return found


def tell_check(seat: Seat, now: float, tell: GroupHook) -> None:
    """Tell of a check; what the hook raises ends the wait that it was told of."""
    if seat.outcome is not None or seat.passed_over:
        return  # an error that passed through the wait, which is told at its end; or no check
    try:
        tell(checked(seat))
    except Exception as bug:
        seat.broke(now)
        seat.outcome = bug


def outcome(seat: Seat, now: float, tell: GroupHook | None) -> Any:
    """Return the value or the error of a wait that is over, and tell of it.

    A wait that was not over by itself is over because its group is closed.
    """
    error = seat.outcome
    try:
        if seat.reason is None:
            error = BatcherClosed(f"the poll group was closed while {seat.name!r} was not ready")
        if error is None:
            return conclude(seat, tell)
        leave(seat, now, error, tell)
    except Exception as raised:
        return _without_frames(raised)
    return error


def dismiss(
    seat: Seat,
    now: float,
    tell: GroupHook | None,
    error: BaseException | None,
    reason: Reason = "error",
) -> None:
    """Tell of a wait whose caller has left it, by an error or because it wants no more of it."""
    if tell is None:
        return
    if error is None:
        seat.cancel(now)
        error, seat.reason, reason = seat.failure(), None, "cancelled"
    leave(seat, now, error, tell, reason)


def _without_frames(error: Exception) -> Exception:
    """Drop the frames of this package; those of a hook that raised stay."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals.get("__package__") == __package__:
        trace = trace.tb_next
    return error.with_traceback(trace)
