"""The futures that ``submit`` returns.

A module of its own: ``concurrent.futures`` is slow to import, and who only loads never needs it.
"""

from __future__ import annotations

from concurrent.futures import Future, InvalidStateError, wait
from threading import Condition
from typing import TYPE_CHECKING, Any, TypeVar

from .._core.answer import private

if TYPE_CHECKING:
    from collections.abc import Callable

    from .crew import Crew
    from .waiters import Flag

T = TypeVar("T")


class Done:
    """The end of a future, as what others wait for."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def is_set(self) -> bool:
        """Tell whether the future is done."""
        return self._future.done()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the future is done, at most ``timeout`` seconds; tell whether it is."""
        wait([self._future], timeout)
        return self._future.done()


class Answer(Future[Any]):
    """The answer for one key, to come.

    It can be cancelled until it is there. It never runs, so ``running`` is always False.

    Args:
        crew: who answers it.
        key: what for.
    """

    def __init__(self, crew: Crew, key: Any) -> None:
        super().__init__()
        self.key = key
        self.door: Flag | None = None
        self.is_admitted = False
        self.is_forgotten = False  # guarded by the lock of the crew
        self._crew: Crew | None = crew

    def cancel(self) -> bool:
        """Cancel it, unless it is answered; tell whether it is cancelled."""
        crew = self._crew
        if not super().cancel():
            return False
        if crew is not None and crew.forget(self):
            self.set_running_or_notify_cancel()  # or concurrent.futures.wait would go on waiting
        return True

    def result(self, timeout: float | None = None) -> Any:
        """Return the value once it is there, as any future does.

        Raises:
            RuntimeError: called in the call that it waits for.
        """
        return self._once_done(super().result, timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return the error once it is there, as any future does.

        Raises:
            RuntimeError: called in the call that it waits for.
        """
        return self._once_done(super().exception, timeout)

    def _once_done(self, get: Callable[[float | None], T], timeout: float | None) -> T:
        crew = self._crew
        if crew is None:
            return get(timeout)
        with crew.waiting(self):
            return get(crew.wait_by_clock(Done(self), timeout))

    def deliver(self, key: Any, outcome: Any) -> None:
        """Answer it."""
        try:
            if isinstance(outcome, BaseException):
                self.set_exception(private(outcome))
            else:
                self.set_result(outcome)
        except InvalidStateError:  # it was cancelled
            pass
        self._crew = None  # not before: who cancels it at this moment needs it
        if self.door is not None:
            self.door.set()

    def admitted(self) -> None:
        """Let the thread go on that submits it."""
        self.is_admitted = True
        if self.door is not None:
            self.door.set()

    def orphan(self, error: Exception) -> None:
        """End it, in a forked process: nobody there will answer it.

        Its lock may have been held by a thread that is gone, and its callbacks mean the other
        process.
        """
        self._condition = Condition()
        vars(self)["_done_callbacks"] = []
        self.deliver(self.key, error)
