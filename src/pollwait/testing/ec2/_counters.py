"""What was called, how often and when."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from threading import Lock


@dataclass(frozen=True, slots=True)
class Call:
    """One call that was answered.

    Attributes:
        operation: its name, such as ``DescribeVolumes``.
        started: when the request had been read, by the server's clock.
        ended: when the answer was ready to be sent.
        ids: how many resource ids the request named.
        error: the error code of the answer, or None.
    """

    operation: str
    started: float
    ended: float
    ids: int
    error: str | None


class Log:
    """A list of calls that any thread may add to and read."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls: list[Call] = []  # under _lock

    def add(self, call: Call) -> None:
        """Append a call."""
        with self._lock:
            self._calls.append(call)

    def clear(self) -> None:
        """Forget all calls."""
        with self._lock:
            self._calls.clear()

    def calls(self) -> tuple[Call, ...]:
        """Return the calls so far, in the order in which they ended."""
        with self._lock:
            return tuple(self._calls)

    def count(self, *errors: str) -> Counter[str]:
        """Count the calls of each operation: all, or those that ended in one of the errors."""
        return Counter(
            call.operation for call in self.calls() if not errors or call.error in errors
        )

    def failed(self, *, but: str) -> Counter[str]:
        """Count the calls of each operation that ended in any other error."""
        return Counter(call.operation for call in self.calls() if call.error not in (None, but))
