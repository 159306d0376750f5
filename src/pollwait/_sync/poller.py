"""The public face of one wait on threads: ``poll``, and ``Poller`` for settings to use again."""

from __future__ import annotations

from functools import partial, wraps

from .._core.callables import refuse_coroutine_function, refuse_generator_function
from .._core.schedule import DEFAULT
from .._core.settings import UNSET, Settings, public
from .._core.typed import overload
from .._core.value import Value
from .drive import drive

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, ParamSpec, TypedDict, TypeGuard, TypeVar

    from typing_extensions import TypeIs, Unpack

    from .._clock import Clock, Event
    from .._core.duration import Duration
    from .._core.rules import Rng
    from .._core.schedule import Schedule
    from .._core.settings import Predicate, RetryOn, Unset
    from .._events import Hook

    T = TypeVar("T")
    S = TypeVar("S")
    P = ParamSpec("P")

    class Options(TypedDict, total=False):
        """The keyword arguments of ``poll`` that do not bear on the type of its value."""

        fail: Predicate | None
        retry_on: RetryOn | Iterable[RetryOn]
        schedule: Schedule
        timeout: Duration | None
        max_attempts: int | None
        name: str | None
        cancel: Event | None
        clock: Clock | None
        rng: Rng | None
        on_event: Hook | None


@overload
def poll(
    check: Callable[[], T], *, until: Callable[[T], TypeIs[S]], **options: Unpack[Options]
) -> S: ...
@overload
def poll(
    check: Callable[[], T], *, until: Callable[[T], TypeGuard[S]], **options: Unpack[Options]
) -> S: ...
@overload
def poll(
    check: Callable[[], T],
    *,
    until: Callable[[T], object] = ...,
    **options: Unpack[Options],
) -> T: ...
def poll(
    check: Callable[[], Any],
    *,
    until: Predicate = bool,
    fail: Predicate | None = None,
    retry_on: RetryOn | Iterable[RetryOn] = (),
    schedule: Schedule = DEFAULT,
    timeout: Duration | Unset | None = UNSET,
    max_attempts: int | None = None,
    name: str | None = None,
    cancel: Event | None = None,
    clock: Clock | None = None,
    rng: Rng | None = None,
    on_event: Hook | None = None,
) -> Any:
    """Call a check until its result is good, and return that result.

    It blocks the calling thread, also inside a running event loop, where it blocks the whole loop:
    coroutines use ``pollwait.aio.poll``.

    Args:
        check: called without arguments, once per attempt. What it raises ends the wait and passes
            untouched, save ``TryAgain`` ("not ready yet") and what ``retry_on`` names.
        until: tells whether a result is good; by default its truth. A ``TypeIs`` or ``TypeGuard``
            predicate narrows the return type.
        fail: tells whether a result shows a terminal state, after which waiting is no use. It is
            asked before ``until``.
        retry_on: exceptions that count as "not ready yet": types, a predicate over the exception,
            or several of either. What is no ``Exception`` always passes, and so does the
            ``PollError`` of a wait inside the check, unless such a type is named.
        schedule: when to look; see ``Schedule``. By default at once, then after 0.1 s and ever
            later, up to 10 s.
        timeout: seconds until the deadline, at which one last check is made. It must be given,
            unless the schedule or ``max_attempts`` ends the wait; None means for ever.
        max_attempts: the most checks to make, from 1 up.
        name: what is waited for, in errors and events; by default the name of the check.
        cancel: an event such as ``threading.Event``; once it is set the wait ends without a further
            check.
        clock: tells the time and sleeps; by default that of the system.
        rng: draws the jitter, such as ``random.Random(7)`` for a run that can be replayed; by
            default the module ``random``.
        on_event: called with a ``Checked`` after every check and with one ``Finished`` at the end,
            in the waiting thread. What it raises passes and ends the wait.

    Returns:
        The first good result.

    Raises:
        PollTimeout: not ready by the deadline.
        PollExhausted: not ready when the schedule or the attempts had ended.
        PollFailed: ``fail`` said so.
        PollCancelled: ``cancel`` was set first.
        ClockStalled: the clock does not move while the wait sleeps.
        TypeError, ValueError: an argument is not as above, before any check; or the check is
            asynchronous.

    Timing:
        No sleep passes the deadline and no check starts after it, save the one that follows a sleep
        which overslept. So the overrun is at most the duration of one check, which only the check
        itself can bound: give its network calls timeouts of their own.

    Example:
        >>> from pollwait.testing import FakeClock
        >>> states = iter(["creating", "creating", "available"])
        >>> poll(lambda: next(states), until="available".__eq__, timeout=60, clock=FakeClock())
        'available'
    """
    settings = Settings(
        until=until,
        fail=fail,
        retry_on=retry_on,
        schedule=schedule,
        timeout=timeout,
        max_attempts=max_attempts,
        name=name,
        cancel=cancel,
        clock=clock,
        rng=rng,
        on_event=on_event,
    )
    return drive(settings, check)


class Poller(Value):
    """Settings for waits, to use again and again.

    A Poller is immutable and keeps nothing of the waits that it runs, so any number of threads may
    share one.

    Args:
        until: as in ``poll``.
        options: the other keyword arguments of ``poll``. The timeout may be left to each wait.

    Raises:
        TypeError, ValueError: an argument is not as ``poll`` wants it.

    Example:
        >>> from pollwait import fixed
        >>> patient = Poller(schedule=fixed(5), timeout=600, retry_on=ConnectionError)
        >>> patient.poll(lambda: "pong")
        'pong'
    """

    __slots__ = ("_settings",)
    _settings: Settings

    def __init__(self, *, until: Predicate = bool, **options: Unpack[Options]) -> None:
        self._fill(Settings(until=until, **public(dict(options))))

    @overload
    def poll(
        self,
        check: Callable[[], T],
        *,
        until: Callable[[T], TypeIs[S]],
        **options: Unpack[Options],
    ) -> S: ...
    @overload
    def poll(
        self,
        check: Callable[[], T],
        *,
        until: Callable[[T], TypeGuard[S]],
        **options: Unpack[Options],
    ) -> S: ...
    @overload
    def poll(
        self,
        check: Callable[[], T],
        *,
        until: Callable[[T], object] = ...,
        **options: Unpack[Options],
    ) -> T: ...
    def poll(self, check: Callable[[], Any], **options: Any) -> Any:
        """Wait as ``pollwait.poll`` does.

        Args:
            check: as in ``poll``.
            options: keyword arguments of ``poll``, which go before those of this Poller.

        Returns:
            The first good result.

        Raises:
            TypeError, PollError: as ``poll`` does.
        """
        return drive(self._settings.replaced(public(options)), check)

    @overload
    def wrap(self, function: Callable[P, T], /) -> Callable[P, T]: ...
    @overload
    def wrap(  # type: ignore[overload-overlap]  # the last one takes every predicate
        self, *, until: Callable[[S], TypeIs[T]], **options: Unpack[Options]
    ) -> Callable[[Callable[P, S]], Callable[P, T]]: ...
    @overload
    def wrap(  # type: ignore[overload-overlap]
        self, *, until: Callable[[S], TypeGuard[T]], **options: Unpack[Options]
    ) -> Callable[[Callable[P, S]], Callable[P, T]]: ...
    @overload
    def wrap(
        self, *, until: Callable[[Any], object] = ..., **options: Unpack[Options]
    ) -> Callable[[Callable[P, T]], Callable[P, T]]: ...
    def wrap(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        """Turn a function into one that waits until its result is good.

        Use it as ``poller.wrap(function)``, or as a decorator: ``@poller.wrap`` or
        ``@poller.wrap(until=...)``. Each call of the new function is a wait of its own, whose
        checks call the given function with the arguments of that call.

        Args:
            function: what to call for a check.
            options: keyword arguments of ``poll``, which go before those of this Poller.

        Returns:
            The waiting function, or a decorator if no function was given.

        Raises:
            TypeError: the function is asynchronous or a generator function.
        """
        settings = self._settings.replaced(public(options))
        if function is None:
            return partial(_waiting, settings)
        return _waiting(settings, function)

    def __repr__(self) -> str:
        return repr(self._settings).replace("Settings", "Poller", 1)


def _waiting(settings: Settings, function: Callable[..., Any]) -> Callable[..., Any]:
    refuse_generator_function(function, "check")
    refuse_coroutine_function(function, "check")

    @wraps(function)
    def waiting(*args: Any, **kwargs: Any) -> Any:
        return drive(settings, partial(function, *args, **kwargs))

    return waiting
