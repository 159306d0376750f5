"""Those who wait for an answer, as the batchers on threads see them.

Each can be told its outcome, once; what comes later is ignored. Telling is safe in any thread, and
never blocks.
"""

from __future__ import annotations

from _thread import TIMEOUT_MAX, LockType, allocate_lock

from .._core.typed import Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

UNANSWERED = object()


class Caller(Protocol):
    """What a window keeps for each who waits."""

    def done(self) -> bool:
        """Tell whether it waits no more."""
        ...

    def deliver(self, key: Any, outcome: Any) -> None:
        """Tell it what its key is answered: a value, or a ``BaseException``."""
        ...

    def admitted(self) -> None:
        """Tell it that there was room for its key."""
        ...

    def orphan(self, error: Exception) -> None:
        """Tell it, in a forked process, that its answer is given elsewhere."""
        ...


class Flag:
    """An event that is set once and that one thread waits for: ``threading.Event``, but lighter."""

    __slots__ = ("_gate", "_set")

    def __init__(self) -> None:
        self._set = False
        self._gate = allocate_lock()
        self._gate.acquire()

    def is_set(self) -> bool:
        """Tell whether it is set."""
        return self._set

    def set(self) -> None:
        """Set it."""
        self._set = True
        if self._gate.locked():  # else it was set before
            _release(self._gate)

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it is set, at most ``timeout`` seconds; tell whether it is."""
        if not self._set:
            self._gate.acquire(timeout=-1 if timeout is None else min(timeout, TIMEOUT_MAX))
        return self._set


def _release(gate: LockType) -> None:
    try:
        gate.release()
    except RuntimeError:  # another thread has set it at the same moment
        return


class Waiter(Flag):
    """A thread that waits for one key.

    Attributes:
        outcome: what the key was answered; ``UNANSWERED`` so far.
    """

    __slots__ = ("outcome",)

    def __init__(self) -> None:
        super().__init__()
        self.outcome: Any = UNANSWERED

    def done(self) -> bool:
        """Tell whether it waits no more."""
        return self.outcome is not UNANSWERED

    def deliver(self, key: Any, outcome: Any) -> None:
        """Wake the thread with an outcome."""
        self.outcome = outcome
        self.set()

    def admitted(self) -> None:
        """Do nothing: the thread waits for its answer all the same."""

    def orphan(self, error: Exception) -> None:
        """Do nothing: the thread is not in the forked process."""


class Many(Flag):
    """A thread that waits for many keys.

    Args:
        keys: the keys, without duplicates.

    Attributes:
        outcomes: what they were answered so far.
        left: the thread waits no more.
    """

    __slots__ = ("_keys", "left", "outcomes")

    def __init__(self, keys: list[Any]) -> None:
        super().__init__()
        self.outcomes: dict[Any, Any] = {}
        self.left = False
        self._keys = keys

    def done(self) -> bool:
        """Tell whether it waits no more."""
        return self.left

    def deliver(self, key: Any, outcome: Any) -> None:
        """Note an outcome, and wake the thread if it is the last one."""
        self.outcomes[key] = outcome
        if len(self.outcomes) == len(self._keys):
            self.set()

    def admitted(self) -> None:
        """Do nothing: the thread waits for its answers all the same."""

    def orphan(self, error: Exception) -> None:
        """Do nothing: the thread is not in the forked process."""


def answer_all(answers: Iterable[tuple[Caller, Any, Any]]) -> None:
    """Tell callers their outcomes: all of them, whatever the callbacks of futures raise.

    Args:
        answers: each caller with its key and the outcome of that.
    """
    raised = [error for answer in answers if (error := _deliver(*answer)) is not None]
    if raised:
        raise raised[0]


def _deliver(caller: Caller, key: Any, outcome: Any) -> BaseException | None:
    try:
        caller.deliver(key, outcome)
    except BaseException as error:  # such as KeyboardInterrupt
        return error
    return None
