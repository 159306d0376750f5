"""What holds the time of an event loop still: jobs on other threads, and blocks that ask for it."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from contextvars import Context
from itertools import count
from typing import TYPE_CHECKING, Any

from .._core.callables import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class Holds:
    """The reasons why time stands still, added and released by any thread.

    Args:
        wake: called, from whatever thread, after a hold was released. What a thread hands to its
            loop before it releases a hold is therefore seen by a loop that finds no hold.
    """

    def __init__(self, wake: Callable[[], object]) -> None:
        self._wake = wake
        self._lock = threading.Lock()  # guards _reasons and _numbers
        self._reasons: dict[int, str] = {}
        self._numbers = count()

    def add(self, reason: str) -> int:
        """Hold time still; the number that is returned releases it."""
        with self._lock:
            number = next(self._numbers)
            self._reasons[number] = reason
        return number

    def release(self, number: int) -> None:
        """Undo one ``add``."""
        with self._lock:
            del self._reasons[number]
        self._wake()

    @contextmanager
    def during(self, reason: str) -> Generator[None, None, None]:
        """Hold time still for a block."""
        number = self.add(reason)
        try:
            yield
        finally:
            self.release(number)

    def __bool__(self) -> bool:
        with self._lock:
            return bool(self._reasons)

    def __str__(self) -> str:
        with self._lock:
            reasons = list(self._reasons.values())
        return "; ".join(reasons[:5]) + (f"; {len(reasons) - 5} more" if len(reasons) > 5 else "")


def job_name(job: Any) -> str:
    """Name a job of an executor for people; what ``asyncio.to_thread`` adds is left out."""
    runner = getattr(getattr(job, "func", None), "__self__", None)
    return f"the executor job {describe(job.args[0] if isinstance(runner, Context) else job)!r}"
