"""What a caller may say of a wait, checked once."""

from __future__ import annotations

from types import UnionType

from .._errors import PollError
from .callables import is_coroutine_function
from .duration import at_least_one, seconds
from .failure import failure as plain_failure
from .schedule import DEFAULT, Schedule
from .value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Final, TypeAlias

    from typing_extensions import Self, TypeIs

    from .duration import Duration
    from .rules import Rng
    from .wait import Wait

    Predicate: TypeAlias = Callable[[Any], object]
    RetryOn: TypeAlias = type[BaseException] | UnionType | Callable[[Any], object]


class Unset:
    """The type of ``UNSET``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<required>"

    def __reduce__(self) -> str:
        return "UNSET"  # the one and only, by its name in this module


UNSET: Final = Unset()
"""Stands for a timeout that was not given: None already means "for ever"."""


class Settings(Value):
    """All that is said of a wait but the check itself.

    The fields are the keyword arguments of ``poll``, which documents them; here durations are
    seconds and ``retry_on`` is a tuple of predicates. ``failure`` builds the error of a wait that
    ended without a good value. The drivers know what ``clock``, ``cancel`` and ``on_event`` are.
    """

    __slots__ = (
        "until",
        "fail",
        "retry_on",
        "schedule",
        "timeout",
        "max_attempts",
        "name",
        "cancel",
        "clock",
        "rng",
        "on_event",
        "attempt_timeout",
        "fail_on",
        "failure",
    )
    until: Predicate
    fail: Predicate | None
    retry_on: tuple[Predicate, ...]
    schedule: Schedule
    timeout: float | Unset | None
    max_attempts: int | None
    name: str | None
    cancel: Any
    clock: Any
    rng: Rng | None
    on_event: Callable[[Any], object] | None
    attempt_timeout: float | None
    fail_on: tuple[Predicate, ...]
    failure: Callable[[Wait], Exception]

    def __init__(
        self,
        *,
        until: Predicate = bool,
        fail: Predicate | None = None,
        retry_on: RetryOn | Iterable[RetryOn] = (),
        schedule: Schedule = DEFAULT,
        timeout: Duration | Unset | None = UNSET,
        max_attempts: int | None = None,
        name: str | None = None,
        cancel: Any = None,
        clock: Any = None,
        rng: Rng | None = None,
        on_event: Callable[[Any], object] | None = None,
        attempt_timeout: Duration | None = None,
        fail_on: RetryOn | Iterable[RetryOn] = (),
        failure: Callable[[Wait], Exception] = plain_failure,
    ) -> None:
        if not isinstance(schedule, Schedule):
            raise TypeError(f"schedule must be a Schedule: got schedule={schedule!r}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a str: got name={name!r}")
        _shaped(cancel, "cancel", ("is_set", "wait"), "an event")
        _shaped(clock, "clock", ("monotonic", "sleep", "wait"), "a clock")
        _shaped(rng, "rng", ("random",), "a source of random numbers")
        if not (timeout is None or isinstance(timeout, Unset)):
            timeout = seconds(timeout, "timeout")
        self._fill(
            _callable(until, "until"),
            None if fail is None else _callable(fail, "fail"),
            _predicates(retry_on, "retry_on"),
            schedule,
            timeout,
            None if max_attempts is None else at_least_one(max_attempts, "max_attempts"),
            name,
            cancel,
            clock,
            rng,
            None if on_event is None else _plain_hook(on_event),
            None if attempt_timeout is None else seconds(attempt_timeout, "attempt_timeout"),
            _predicates(fail_on, "fail_on"),
            failure,
        )

    def replaced(self, changes: dict[str, Any]) -> Self:
        """Return these settings with some replaced."""
        if not changes:
            return self
        fields: dict[str, Any] = dict(zip(self.__slots__, self._fields(), strict=True))
        return type(self)(**{**fields, **changes})

    def __repr__(self) -> str:
        default = type(self)()
        given = (
            f"{name}={value!r}"
            for name, value in zip(self.__slots__, self._fields(), strict=True)
            if value != getattr(default, name)
        )
        return f"{type(self).__name__}({', '.join(given)})"

    def limit(self) -> float | None:
        """Return the timeout of a wait that begins.

        Raises:
            TypeError: none was given, and nothing else ends the wait.
        """
        if not isinstance(self.timeout, Unset):
            return self.timeout
        if self.max_attempts is None and not self.schedule.ends:
            raise TypeError(
                "timeout is required: give seconds, or timeout=None to wait for ever"
                f" (neither max_attempts nor the schedule {self.schedule} ends the wait)"
            )
        return None


OPTIONS = frozenset(Settings.__slots__) - {"attempt_timeout", "fail_on", "failure"}
"""What users may say of every wait; a driver may know more."""


def public(options: dict[str, Any], known: frozenset[str] = OPTIONS) -> dict[str, Any]:
    """Return a user's keyword arguments, if all of them are known.

    Raises:
        TypeError: one is not.
    """
    for name in options:
        if name not in known:
            raise TypeError(f"unknown option {name!r}: options are {', '.join(sorted(known))}")
    return options


def _callable(value: Predicate, what: str) -> Predicate:
    if not callable(value):
        raise TypeError(f"{what} must be callable: got {what}={value!r}")
    return value


def _plain_hook(hook: Callable[[Any], object]) -> Callable[[Any], object]:
    if is_coroutine_function(hook):
        raise TypeError(f"on_event must be a plain function: got {hook!r}, which nobody awaits")
    return _callable(hook, "on_event")


def _shaped(value: object, what: str, methods: tuple[str, ...], kind: str) -> None:
    if value is None:
        return
    for method in methods:
        if isinstance(value, type) or not callable(getattr(value, method, None)):
            raise TypeError(f"{what} must be {kind}, with a method {method}: got {what}={value!r}")


def _predicates(named: RetryOn | Iterable[RetryOn], what: str) -> tuple[Predicate, ...]:
    """Turn exception types and predicates, one or many, into predicates."""
    if named == ():
        return ()
    types: list[type[BaseException]] = []
    predicates: list[Predicate] = []
    for entry in _entries(named):
        if _is_exception_type(entry):
            types.append(entry)
        elif callable(entry) and not isinstance(entry, type):
            predicates.append(entry)
        else:
            raise TypeError(f"{what} must name exception types or predicates: got {entry!r}")
    return (*([_NamedBy(tuple(types))] if types else []), *predicates)


def _is_exception_type(entry: object) -> TypeIs[type[BaseException]]:
    return isinstance(entry, type) and issubclass(entry, BaseException)


def _entries(named: Any) -> tuple[Any, ...]:
    """Return the entries one by one, out of tuples in tuples and unions of types as well."""
    if isinstance(named, UnionType):
        return named.__args__
    if isinstance(named, str) or callable(named) or not hasattr(named, "__iter__"):
        return (named,)
    return tuple(entry for part in named for entry in _entries(part))


class _NamedBy(Value):
    """Match errors by type; those of a nested wait only where a ``PollError`` type is named.

    A ``PollTimeout`` is a TimeoutError and so an OSError, but who retries on network errors does
    not mean to wait all over again.
    """

    __slots__ = ("types", "poll_types")
    types: tuple[type[BaseException], ...]
    poll_types: tuple[type[BaseException], ...]

    def __init__(self, types: tuple[type[BaseException], ...]) -> None:
        self._fill(types, tuple(named for named in types if issubclass(named, PollError)))

    def __repr__(self) -> str:
        return " | ".join(named.__name__ for named in self.types)

    def __call__(self, error: Exception) -> bool:
        return isinstance(error, self.poll_types if isinstance(error, PollError) else self.types)
