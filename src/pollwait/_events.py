"""What a wait tells those who listen: one event per check, and one at its end."""

from __future__ import annotations

from ._core.failure import count, decimal, shorten
from ._core.value import Value
from ._errors import PollError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging
    from collections.abc import Callable
    from typing import Any, Literal, TypeAlias

    from ._core.wait import Wait

    Reason: TypeAlias = Literal["ready", "failed", "timeout", "exhausted", "cancelled", "error"]
    Hook: TypeAlias = Callable[["Checked | Finished"], object]


class Checked(Value):
    """A check was made.

    Attributes:
        name: what is waited for.
        attempt: the number of the check, from 1.
        elapsed: seconds from the start of the wait to the end of the check.
        value: what the check returned; None if it raised.
        error: what the check, or a predicate after it, raised; None if neither did.
        next_delay: seconds until the next check; None if this was the last one.
    """

    __slots__ = ("name", "attempt", "elapsed", "value", "error", "next_delay")
    name: str
    attempt: int
    elapsed: float
    value: Any
    error: BaseException | None
    next_delay: float | None

    def __init__(
        self,
        name: str,
        attempt: int,
        elapsed: float,
        value: object = None,
        error: BaseException | None = None,
        next_delay: float | None = None,
    ) -> None:
        self._fill(name, attempt, elapsed, value, error, next_delay)


class _LastSeen(Value):
    """When a wait was last seen not ready (no field: ends that tell the same are equal)."""

    __slots__ = ("not_ready_at",)
    not_ready_at: float | None


class Finished(_LastSeen):
    """A wait ended.

    Attributes:
        name: what was waited for.
        reason: ``"ready"``, ``"failed"``, ``"timeout"``, ``"exhausted"``, ``"cancelled"``, or
            ``"error"`` for an error that passed through the wait, or for a clock that stands still.
        attempts: how many checks were made.
        elapsed: seconds from the start of the wait to its end.
        value: the good value; None if there was none.
        error: what the wait raised; None if it was ready.
        not_ready_at: seconds from the start of the wait to the end of the last check that did not
            find it ready, whether it returned or raised something that was retried; None if there
            was none. If the wait was ready, it became so between this and ``elapsed``. Events are
            compared without it.
    """

    __slots__ = ("name", "reason", "attempts", "elapsed", "value", "error")
    name: str
    reason: Reason
    attempts: int
    elapsed: float
    value: Any
    error: BaseException | None

    def __init__(
        self,
        name: str,
        reason: Reason,
        attempts: int,
        elapsed: float,
        value: object = None,
        error: BaseException | None = None,
        not_ready_at: float | None = None,
    ) -> None:
        self._fill(name, reason, attempts, elapsed, value, error)
        object.__setattr__(self, "not_ready_at", not_ready_at)

    def __reduce__(self) -> tuple[object, ...]:
        return Finished, (*self._fields(), self.not_ready_at)


def checked(wait: Wait) -> Checked:
    """Return the event for a check whose outcome the wait remembers."""
    row = wait.newest()
    value, error = (row.value, row.error) if row else (None, None)
    return Checked(wait.name, wait.attempts, wait.elapsed, value, error, wait.delay)


def leave(
    wait: Wait, now: float, error: BaseException, tell: Hook | None, reason: Reason = "error"
) -> None:
    """End a wait by an error on its way to the caller, and tell of it."""
    was_a_check = wait.reason is not None  # else something other than a check was interrupted
    wait.broke(now, reason)
    if tell is None:
        return
    if was_a_check:
        tell(Checked(wait.name, wait.attempts, wait.elapsed, None, error, None))
    tell(_finished(wait, None, error))


def conclude(wait: Wait, tell: Hook | None) -> Any:
    """Return the value of a wait that is over, or raise its error, and tell of it."""
    if wait.reason == "ready":
        if tell is not None:
            tell(_finished(wait, wait.last, None))
        return wait.last
    raise _told(wait, tell)


def _told(wait: Wait, tell: Hook | None) -> Exception:
    error = wait.failure()
    if tell is not None:
        tell(_finished(wait, None, error))
    return error


def _finished(wait: Wait, value: object, error: BaseException | None) -> Finished:
    assert wait.reason is not None  # it is over
    reason = "error" if wait.reason == "stalled" else wait.reason
    seen = wait.not_ready_at
    return Finished(wait.name, reason, wait.attempts, wait.elapsed, value, error, seen)


def log_events(logger: logging.Logger) -> Callable[[Any], None]:
    """Return an ``on_event`` hook that logs ends at INFO or WARNING, and all else at DEBUG.

    A good end is logged at INFO, any other at WARNING.

    Args:
        logger: where to log. Each log record carries its event as the attribute ``event``.

    Returns:
        The hook; any number of waits, groups, batchers and threads may share it.
    """
    for method in ("debug", "info", "warning"):
        if not callable(getattr(logger, method, None)):
            raise TypeError(f"logger must be a logging.Logger: got logger={logger!r}")

    def log(event: Any) -> None:
        if isinstance(event, Finished):
            write = logger.info if event.reason == "ready" else logger.warning
            write("%s", _Line(_end_line, event), extra={"event": event})
        else:
            line = _Line(_check_line if isinstance(event, Checked) else repr, event)
            logger.debug("%s", line, extra={"event": event})

    return log


class _Line:
    """A line that is only built if some handler writes it."""

    __slots__ = ("_event", "_write")

    def __init__(self, write: Callable[[Any], str], event: object) -> None:
        self._write = write
        self._event = event

    def __str__(self) -> str:
        return self._write(self._event)


def _check_line(event: Checked) -> str:
    seen = "returned" if event.error is None else "raised"
    outcome = shorten(event.value if event.error is None else event.error)
    then = "" if event.next_delay is None else f"; next in {decimal(event.next_delay)} s"
    return (
        f"{event.name!r} check {event.attempt} at {decimal(event.elapsed)} s {seen} {outcome}{then}"
    )


def _end_line(event: Finished) -> str:
    after = f"after {count(event.attempts)} in {decimal(event.elapsed)} s"
    if event.error is None:
        return f"{event.name!r} ready {after}"
    if isinstance(event.error, PollError):
        return str(event.error)
    return f"{event.name!r} ended {after} by {shorten(event.error)}"
