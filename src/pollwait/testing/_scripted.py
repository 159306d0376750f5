"""Checks that do what a script says, and remember how they were called."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from .._aio.backend import running
from .._clock import SYSTEM_CLOCK
from .._core.duration import seconds as in_seconds

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn, TypeAlias

    from .._clock import AsyncClock, Clock
    from .._core.duration import Duration

    Raised: TypeAlias = BaseException | type[BaseException]

T = TypeVar("T")


class ScriptEnded(BaseException):
    """A scripted check was called once more after its last outcome.

    It is no ``Exception``, so that neither ``retry_on`` nor the code under test takes it for one of
    the errors in the script.
    """


@dataclass(frozen=True)
class Lasting(Generic[T]):
    """An outcome of a scripted check that comes after some seconds.

    Args:
        seconds: how long the check takes.
        outcome: the value that it then returns, or the error that it raises.
    """

    seconds: Duration
    outcome: T | BaseException | type[BaseException]

    def __post_init__(self) -> None:
        in_seconds(self.seconds, "seconds")
        outcome: object = self.outcome
        if isinstance(outcome, Lasting):
            raise TypeError(f"outcome must be a value or an error: got outcome={outcome!r}")


class Script(Generic[T]):
    """What scripted checks share: the outcomes, and a record of the calls.

    Attributes:
        calls: the arguments of each call, as ``(args, kwargs)``.
        times: when each call began, as read from the clock.
    """

    def __init__(
        self,
        outcomes: tuple[T | Raised | Lasting[T], ...],
        repeat_last: bool,
    ) -> None:
        if not outcomes:
            raise ValueError("a script must have at least one outcome: got none")
        self.calls: list[tuple[tuple[object, ...], dict[str, object]]] = []
        self.times: list[float] = []
        self._steps = [self._step(outcome) for outcome in outcomes]
        self._repeat_last = repeat_last
        self._lock = threading.Lock()  # guards calls and times

    def _step(self, outcome: T | Raised | Lasting[T]) -> tuple[float, T | Raised]:
        """Return how long a call takes and how it ends."""
        if isinstance(outcome, Lasting):
            lasting = cast("Lasting[T]", outcome)
            return in_seconds(lasting.seconds, "seconds"), lasting.outcome
        return 0.0, outcome

    def _next(
        self, now: float, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> tuple[float, T | Raised]:
        """Record a call, and return how long it takes and how it ends."""
        with self._lock:
            number = len(self.calls)
            self.calls.append((args, kwargs))
            self.times.append(now)
        steps = self._steps
        if number >= len(steps) and not self._repeat_last:
            outcomes = f"{len(steps)} outcome{'' if len(steps) == 1 else 's'}"
            raise ScriptEnded(
                f"the script has {outcomes} and this is call {number + 1}: add outcomes, or pass"
                " repeat_last=True"
            )
        return steps[min(number, len(steps) - 1)]


class ScriptedCheck(Script[T]):
    """A check for tests that returns, or raises, one outcome after the other.

    Args:
        outcomes: what the calls do, in order. An error, instance or type, is raised; a
            ``Lasting(seconds, outcome)`` takes that long on the clock; anything else is returned.
        repeat_last: go on with the last outcome for ever.
        clock: the clock of the wait. ``Lasting`` needs one. A ``FakeClock`` is moved by
            ``advance``, so that ``sleeps`` shows the wait's own sleeps only.

    Raises:
        ValueError: no outcome, or a ``Lasting`` and no clock.
        ScriptEnded: (from a call) the outcomes have come to an end.

    Attributes:
        calls: the arguments of each call, as ``(args, kwargs)``.
        times: when each call began, as read from the clock.

    Timing:
        Threads may share it: each outcome is given once.

    Example:
        >>> from pollwait import fixed, poll
        >>> from pollwait.testing import FakeClock
        >>> clock = FakeClock()
        >>> check = ScriptedCheck("creating", OSError("down"), Lasting(2.5, "up"), clock=clock)
        >>> poll(
        ...     check,
        ...     until="up".__eq__,
        ...     retry_on=OSError,
        ...     schedule=fixed(1),
        ...     timeout=60,
        ...     clock=clock,
        ... )
        'up'
        >>> check.times, clock.monotonic()
        ([0.0, 1.0, 2.0], 4.5)
    """

    def __init__(
        self,
        *outcomes: T | Raised | Lasting[T],
        repeat_last: bool = False,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(outcomes, repeat_last)
        if clock is None and any(isinstance(outcome, Lasting) for outcome in outcomes):
            raise ValueError("an outcome that lasts needs a clock: pass clock=, that of the wait")
        self._clock = clock or SYSTEM_CLOCK

    def __call__(self, *args: object, **kwargs: object) -> T:
        """Do what the script says next."""
        seconds, outcome = self._next(self._clock.monotonic(), args, kwargs)
        pass_time(self._clock, seconds)
        return _result(outcome)


class AsyncScriptedCheck(Script[T]):
    """``ScriptedCheck`` as a coroutine function, for ``aio.poll``.

    Args:
        outcomes, repeat_last: as in ``ScriptedCheck``.
        clock: the clock of the wait; None for that of the running loop.
    """

    def __init__(
        self,
        *outcomes: T | Raised | Lasting[T],
        repeat_last: bool = False,
        clock: AsyncClock | None = None,
    ) -> None:
        super().__init__(outcomes, repeat_last)
        self._clock = clock

    async def __call__(self, *args: object, **kwargs: object) -> T:
        """Do what the script says next."""
        clock = self._clock or running()
        seconds, outcome = self._next(clock.monotonic(), args, kwargs)
        if seconds:
            await clock.sleep(seconds)
        return _result(outcome)


def pass_time(clock: Clock, seconds: float) -> None:
    """Take that many seconds of a clock, if any: by ``advance`` where the clock has it."""
    if seconds:
        take: Callable[[float], object] = getattr(clock, "advance", clock.sleep)
        take(seconds)


def throw(error: Raised) -> NoReturn:
    """Raise an error without what it remembers of being raised before."""
    raise error.with_traceback(None) if isinstance(error, BaseException) else error


def _result(outcome: T | Raised) -> T:
    if isinstance(outcome, BaseException):
        throw(outcome)
    if isinstance(outcome, type) and issubclass(outcome, BaseException):
        throw(outcome)
    return cast("T", outcome)
