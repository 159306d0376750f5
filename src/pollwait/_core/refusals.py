"""The errors of callers that get no answer, worded the same on threads and on event loops."""

from __future__ import annotations

from .._errors import BatcherClosed, BatcherFull, FetchError
from .callables import describe
from .failure import decimal, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .line import Line


def closed(function: object, key: object) -> BatcherClosed:
    """Return the error for a key that is asked for too late, or not answered in time."""
    return BatcherClosed(
        f"no answer for {shorten(key)}: the batcher of {_name(function)} is closed"
    )


def full(function: object, line: Line, key: object) -> BatcherFull:
    """Return the error for a key for which there is no room."""
    return BatcherFull(
        f"no room for {shorten(key)}: {line.pending} keys wait for the batcher of {_name(function)}"
        f" (max_pending={line.max_pending})"
    )


def late(function: object, key: object, limit: float | None) -> TimeoutError:
    """Return the error for a caller that has waited long enough."""
    return TimeoutError(
        f"no answer for {shorten(key)} from the batcher of {_name(function)}"
        f" in {decimal(limit or 0.0)} s"
    )


def circular(function: object, line: Line) -> RuntimeError:
    """Return the error for a call that would wait for itself."""
    return RuntimeError(
        f"{_name(function)} would wait for itself: the calls that may be out at once"
        f" (max_in_flight={line.max_in_flight}) all wait for a further one"
    )


def forked(function: object, key: object) -> FetchError:
    """Return the error for a caller whose answer another process gets."""
    return FetchError(
        f"no answer for {shorten(key)}: the batcher of {_name(function)} was asked for it before"
        " the process was forked"
    )


def _name(function: object) -> str:
    return repr(describe(function))
