"""What a wait raises.

::

    PollError                    the wait ended without a good value
    ├── PollTimeout              … at its deadline (also a TimeoutError)
    ├── PollExhausted            … because its schedule or its attempts ended
    ├── PollFailed               … in a terminal state
    └── PollCancelled            … because its cancel event was set
    ClockStalled (RuntimeError)  the clock stands still while the wait sleeps

Whatever else a check raises passes through a wait untouched.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from ._core.history import History


class PollError(Exception):
    """The root of what a wait raises when it ends without a good value.

    Its text says in one sentence what was waited for and how it ended; the fields say the same to
    code. Instances can be pickled and copied: a value that cannot be pickled travels as its repr.

    Attributes:
        name: what was waited for.
        attempts: how many checks were made.
        elapsed: seconds from the start of the wait to its end.
        last: the value of the last check that returned one; None if none did.
        last_error: the error of the last check that raised one and was retried; None if none did.
        history: the first and the last few checks, and how many there were.
    """

    name: str
    attempts: int
    elapsed: float
    last: Any
    last_error: Exception | None
    history: History | None

    def __init__(
        self,
        message: str = "",
        *,
        name: str = "",
        attempts: int = 0,
        elapsed: float = 0.0,
        last: object = None,
        last_error: Exception | None = None,
        history: History | None = None,
    ) -> None:
        super().__init__(message)
        self.name = name
        self.attempts = attempts
        self.elapsed = elapsed
        self.last = last
        self.last_error = last_error
        self.history = history

    def __reduce__(self) -> tuple[Any, ...]:
        fields = {name: portable(value) for name, value in self.__dict__.items()}
        return _rebuild, (type(self), self.args, fields)

    def __copy__(self) -> Self:
        twin: Self = _rebuild(type(self), self.args, self.__dict__)
        twin.__cause__ = self.__cause__
        return twin.with_traceback(self.__traceback__)


class PollTimeout(PollError, TimeoutError):
    """Not ready by the deadline."""


class PollExhausted(PollError):
    """Not ready when the schedule or the attempts had ended, before any deadline."""


class PollFailed(PollError):
    """In a terminal state: the ``fail`` predicate said so, and no further check would help."""


class PollCancelled(PollError):
    """The ``cancel`` event was set before the wait had a good value."""


class ClockStalled(RuntimeError):
    """The clock did not move while the wait slept, so no deadline would ever come."""


def portable(value: Any) -> Any:
    """Return a value as it is if it can be pickled, else its repr."""
    import pickle

    try:
        pickle.loads(pickle.dumps(value))
    except Exception:  # whatever stops the value from travelling
        return safe_repr(value)
    return value


def safe_repr(value: object) -> str:
    """Return ``repr(value)``, or a stand-in when the value's own repr fails."""
    try:
        return repr(value)
    except Exception:  # a broken repr must not hide how the wait ended
        return f"<{type(value).__name__} whose repr fails>"


def _rebuild(cls: type[PollError], args: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    """Rebuild an error without its constructor, whose signature a subclass may change."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(fields)
    return error
