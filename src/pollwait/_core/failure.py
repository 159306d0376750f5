"""The error of a wait that ended without a good value, and its one sentence."""

from __future__ import annotations

from .._errors import (
    ClockStalled,
    PollCancelled,
    PollExhausted,
    PollFailed,
    PollTimeout,
    safe_repr,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .._errors import PollError
    from .wait import Wait

LONGEST_VALUE = 200  # characters of a value in a message: about two lines of a terminal

ERRORS: dict[str | None, type[PollError]] = {
    "timeout": PollTimeout,
    "exhausted": PollExhausted,
    "failed": PollFailed,
    "cancelled": PollCancelled,
}

_ENDINGS: dict[str | None, str] = {
    "timeout": "not ready",
    "exhausted": "not ready",
    "failed": "failed",
    "cancelled": "cancelled",
}


def failure(wait: Wait) -> Exception:
    """Return the error that says how a finished wait ended."""
    if wait.reason == "stalled":
        return ClockStalled(_stalled(wait))
    error = ERRORS[wait.reason](sentence(wait), **facts(wait))
    newest = wait.newest()
    error.__cause__ = newest.error if newest else None
    return error


def facts(wait: Wait) -> dict[str, Any]:
    """Return what every ``PollError`` says of its wait in fields."""
    return {
        "name": wait.name,
        "attempts": wait.attempts,
        "elapsed": wait.elapsed,
        "last": wait.last,
        "last_error": wait.last_error,
        "history": wait.history(),
    }


def sentence(wait: Wait) -> str:
    """Say what was waited for, how often and how long, what ended it, and what was seen last."""
    return f"{ending(wait)}{_last_seen(wait)}"


def ending(wait: Wait) -> str:
    """Say the same but for what was seen last."""
    return (
        f"{wait.name!r} {_ENDINGS[wait.reason]} after {count(wait.attempts)}"
        f" in {decimal(wait.elapsed)} s{_limit(wait)}"
    )


def count(attempts: int) -> str:
    """Return ``"1 check"``, ``"2 checks"`` and so on."""
    return f"{attempts} check{'' if attempts == 1 else 's'}"


def decimal(number: float) -> str:
    """Return a number for people: three decimals at most, six if it is small, none of them idle."""
    number = float(number)  # a clock may tell the time in other numbers
    text = f"{number:.3f}" if number >= 0.001 else f"{number:.6f}"
    return text.rstrip("0").rstrip(".")


def shorten(value: object) -> str:
    """Return the repr of a value on one line, cut in the middle when it is long."""
    text = " ".join(safe_repr(value).split())
    if len(text) <= LONGEST_VALUE:
        return text
    half = LONGEST_VALUE // 2
    return f"{text[:half]} … {text[-half:]}"


def _limit(wait: Wait) -> str:
    if wait.reason == "timeout":
        return f" (timeout {decimal(wait.timeout)} s)"
    if wait.reason == "exhausted":
        ended = wait.attempts != wait.max_attempts
        return " (schedule ended)" if ended else f" (max_attempts {wait.max_attempts})"
    return ""


def _last_seen(wait: Wait) -> str:
    newest = wait.newest()
    if newest is None:
        return ""
    at = f"at {decimal(newest.elapsed)} s"
    if newest.error is None:
        return f"; last value {shorten(newest.value)} {at}"
    raised = f", raised at {newest.where}" if newest.where else ""
    return f"; last error {shorten(newest.error)} {at}{raised}"


def _stalled(wait: Wait) -> str:
    return (
        f"the clock stands still while {wait.name!r} sleeps (at {wait.elapsed} s, after"
        f" {wait.attempts} checks), so no deadline would ever come: give the wait a clock that"
        " moves, such as clock=pollwait.testing.FreezegunClock() in frozen time"
    )
