"""What a wait and a shared call raise.

::

    PollError                    the wait ended without a good value
    ├── PollTimeout              … at its deadline (also a TimeoutError)
    ├── PollExhausted            … because its schedule or its attempts ended
    ├── PollFailed               … in a terminal state
    └── PollCancelled            … because its cancel event was set
    ClockStalled (RuntimeError)  the clock stands still while the wait sleeps
    BatchError                   a caller got no answer from a shared call
    ├── FetchError               … which raised what cannot be handed to each caller
    ├── MissingKey               … whose answer lacks the key (also a LookupError)
    ├── BatcherFull              … since too many keys wait for one
    └── BatcherClosed            … since there will be none (also a RuntimeError)

Whatever else a check or a call raises passes untouched, or as a copy for each caller.
"""

from __future__ import annotations

from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from ._core.history import History


# Which errors are being pickled here, by id: so that one whose value refers to it comes to an end.
_UNDER_WAY: ContextVar[frozenset[int]] = ContextVar(
    "pollwait._errors.under_way", default=frozenset()
)


class _Portable(Exception):
    """An error that can be pickled and copied with its fields, whatever its constructor takes."""

    def __reduce__(self) -> tuple[Any, ...]:
        under_way = _UNDER_WAY.get()
        if id(self) in under_way:  # a value of this error refers to the error
            return _rebuild, (type(self), self.args, {})
        token = _UNDER_WAY.set(under_way | {id(self)})
        try:
            fields = {name: packed(value) for name, value in self.__dict__.items()}
        finally:
            _UNDER_WAY.reset(token)
        return _rebuild, (type(self), self.args, fields)

    def __copy__(self) -> Self:
        twin: Self = _rebuild(type(self), self.args, self.__dict__)
        twin.__cause__ = self.__cause__
        return twin.with_traceback(self.__traceback__)


class PollError(_Portable):
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
    history: History

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
        made_by_a_wait: Any = history  # only an error that somebody makes by hand lacks one
        self.history = made_by_a_wait


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


class BatchError(_Portable):
    """The root of what a caller of a batcher is told when there is no value for its key.

    Instances can be pickled and copied.
    """


class FetchError(BatchError):
    """The call failed with something that cannot be handed to each caller; the cause is that.

    Namely with an exception that cannot be copied, with a ``StopIteration``, or with what is no
    ``Exception``, such as ``KeyboardInterrupt``.
    """


class MissingKey(BatchError, LookupError):
    """The call succeeded, but its answer lacks the key.

    Attributes:
        key: the key that was asked for.
    """

    key: Any

    def __init__(self, key: object) -> None:
        super().__init__(f"the answer lacks the key {safe_repr(key)}")
        self.key = key


class BatcherFull(BatchError):
    """As many keys wait as ``max_pending`` allows; nothing was asked, and the caller may retry."""


class BatcherClosed(BatchError, RuntimeError):
    """The batcher was closed: before the key was asked for, or before it was answered."""


class Packed:
    """A value on its way to another process, as its pickle and, in case that fails, as its repr.

    A pickle in a pickle: so each level of errors within errors is pickled once, and no more.
    """

    __slots__ = ("pickle", "shown")

    def __init__(self, pickle: bytes | None, shown: str) -> None:
        self.pickle = pickle
        self.shown = shown

    def __reduce__(self) -> tuple[Any, ...]:
        return unpacked, (self.pickle, self.shown)


def packed(value: Any) -> Any:
    """Return a value in a form that can be pickled, and that unpickles as the value or its repr."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    import pickle

    try:
        pickled = pickle.dumps(value)
    except Exception:  # whatever stops the value from travelling
        pickled = None
    return Packed(pickled, safe_repr(value))


def unpacked(pickled: bytes | None, shown: str) -> Any:
    """Return the value of a ``Packed``, or its repr if it could not be pickled or unpickled."""
    import pickle

    try:
        return shown if pickled is None else pickle.loads(pickled)
    except Exception:  # such as a class that the other process does not have
        return shown


def chain(error: BaseException, link: str, other: BaseException | None) -> None:
    """Set the ``__cause__`` or the ``__context__`` of an error, also of one that is frozen."""
    vars(BaseException)[link].__set__(error, other)  # past a __setattr__ of its own


def safe_repr(value: object) -> str:
    """Return ``repr(value)``, or a stand-in when the value's own repr fails."""
    try:
        return repr(value)
    except Exception:  # a broken repr must not hide how the wait ended
        return f"<{type(value).__name__} whose repr fails>"


def _rebuild(cls: type[_Portable], args: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    """Rebuild an error without its constructor, whose signature a subclass may change."""
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


for _public in (
    PollError,
    PollTimeout,
    PollExhausted,
    PollFailed,
    PollCancelled,
    ClockStalled,
    BatchError,
    FetchError,
    MissingKey,
    BatcherFull,
    BatcherClosed,
):
    _public.__module__ = "pollwait"  # the name by which tracebacks show them and pickles find them
