"""The public face of one wait on an event loop: ``poll``, and ``Poller`` for its settings."""

from __future__ import annotations

from functools import partial, wraps
from typing import TYPE_CHECKING, Any, overload

from .._core.callables import refuse_generator_function
from .._core.schedule import DEFAULT
from .._core.settings import OPTIONS, UNSET, Settings, public
from .._core.value import Value
from .drive import drive

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable
    from typing import ParamSpec, Protocol, TypedDict, TypeGuard, TypeVar

    from typing_extensions import TypeIs, Unpack

    from .._clock import AsyncClock, AsyncEvent
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
        attempt_timeout: Duration | None
        max_attempts: int | None
        name: str | None
        cancel: AsyncEvent | None
        clock: AsyncClock | None
        rng: Rng | None
        on_event: Hook | None

    class Wrapper(Protocol):
        """What ``Poller.wrap`` returns when it is called with options alone."""

        @overload
        def __call__(
            self, function: Callable[P, Coroutine[Any, Any, T]], /
        ) -> Callable[P, Coroutine[Any, Any, T]]: ...
        @overload
        def __call__(self, function: Callable[P, T], /) -> Callable[P, Coroutine[Any, Any, T]]: ...


AIO_OPTIONS = OPTIONS | {"attempt_timeout"}


@overload
async def poll(
    check: Callable[[], Awaitable[T]],
    *,
    until: Callable[[T], TypeIs[S]],
    **options: Unpack[Options],
) -> S: ...
@overload
async def poll(
    check: Callable[[], Awaitable[T]],
    *,
    until: Callable[[T], TypeGuard[S]],
    **options: Unpack[Options],
) -> S: ...
@overload
async def poll(
    check: Callable[[], Awaitable[T]],
    *,
    until: Callable[[T], object] = ...,
    **options: Unpack[Options],
) -> T: ...
@overload
async def poll(
    check: Callable[[], T], *, until: Callable[[T], TypeIs[S]], **options: Unpack[Options]
) -> S: ...
@overload
async def poll(
    check: Callable[[], T], *, until: Callable[[T], TypeGuard[S]], **options: Unpack[Options]
) -> S: ...
@overload
async def poll(
    check: Callable[[], T], *, until: Callable[[T], object] = ..., **options: Unpack[Options]
) -> T: ...
async def poll(
    check: Callable[[], Any],
    *,
    until: Predicate = bool,
    fail: Predicate | None = None,
    retry_on: RetryOn | Iterable[RetryOn] = (),
    schedule: Schedule = DEFAULT,
    timeout: Duration | Unset | None = UNSET,
    attempt_timeout: Duration | None = None,
    max_attempts: int | None = None,
    name: str | None = None,
    cancel: AsyncEvent | None = None,
    clock: AsyncClock | None = None,
    rng: Rng | None = None,
    on_event: Hook | None = None,
) -> Any:
    """Call a check until its result is good, and return that result.

    It suspends the calling task alone, on asyncio and on trio. In all but the arguments below, and
    in that whatever is awaitable is awaited, it is ``pollwait.poll``: the same checks at the same
    times with the same end.

    Args:
        check: called without arguments, once per attempt; a plain or an asynchronous callable of
            any kind. A plain one that blocks, blocks the whole loop.
        until: as in ``pollwait.poll``; may be asynchronous.
        fail: as in ``pollwait.poll``; may be asynchronous.
        retry_on: as in ``pollwait.poll``; its predicates may be asynchronous.
        schedule: as in ``pollwait.poll``. A delay of 0 lets other tasks run once.
        timeout: as in ``pollwait.poll``.
        attempt_timeout: seconds after which an asynchronous check is cancelled. It then counts as
            not ready, with a TimeoutError on record. None, the default, lets a check take its time.
            Predicates are not cut: what takes long belongs into the check. A task or future that
            the check returns is cancelled as well; shield it if others need it.
        max_attempts: as in ``pollwait.poll``.
        name: as in ``pollwait.poll``.
        cancel: an event such as ``asyncio.Event``, or a trio one under trio. Like all of asyncio it
            is not for other threads: those use ``loop.call_soon_threadsafe(event.set)``.
        clock: tells the time and sleeps; by default that of the running loop. ``attempt_timeout``
            always counts by the loop.
        rng: as in ``pollwait.poll``.
        on_event: as in ``pollwait.poll``; a plain function.

    Returns:
        The first good result.

    Raises:
        PollError: as ``pollwait.poll`` does.
        TypeError, ValueError: an argument is not as above.

    Timing:
        A task that is cancelled leaves at once, whatever ``retry_on`` says. The overrun past the
        deadline is at most the duration of one check, which ``attempt_timeout`` bounds.

    Example:
        >>> from pollwait import fixed
        >>> from pollwait.testing import run
        >>> states = iter(["creating", "creating", "available"])
        >>> async def state():
        ...     return next(states)
        >>> run(poll(state, until="available".__eq__, schedule=fixed(60), timeout=600))
        'available'
    """
    settings = Settings(
        until=until,
        fail=fail,
        retry_on=retry_on,
        schedule=schedule,
        timeout=timeout,
        attempt_timeout=attempt_timeout,
        max_attempts=max_attempts,
        name=name,
        cancel=cancel,
        clock=clock,
        rng=rng,
        on_event=on_event,
    )
    return await drive(settings, check)


class Poller(Value):
    """Settings for waits on an event loop, to use again and again.

    A Poller is immutable, keeps nothing of the waits that it runs and is bound to no loop, so any
    number of tasks may share one.

    Args:
        until: as in ``poll``.
        options: the other keyword arguments of ``poll``. The timeout may be left to each wait.

    Raises:
        TypeError, ValueError: an argument is not as ``poll`` wants it.

    Example:
        >>> from pollwait import fixed
        >>> from pollwait.testing import run
        >>> patient = Poller(schedule=fixed(5), timeout=600, retry_on=ConnectionError)
        >>> run(patient.poll(lambda: "pong"))
        'pong'
    """

    __slots__ = ("_settings",)
    _settings: Settings

    def __init__(self, *, until: Predicate = bool, **options: Unpack[Options]) -> None:
        self._fill(Settings(until=until, **public(dict(options), AIO_OPTIONS)))

    @overload
    async def poll(
        self,
        check: Callable[[], Awaitable[T]],
        *,
        until: Callable[[T], TypeIs[S]],
        **options: Unpack[Options],
    ) -> S: ...
    @overload
    async def poll(
        self,
        check: Callable[[], Awaitable[T]],
        *,
        until: Callable[[T], TypeGuard[S]],
        **options: Unpack[Options],
    ) -> S: ...
    @overload
    async def poll(
        self,
        check: Callable[[], Awaitable[T]],
        *,
        until: Callable[[T], object] = ...,
        **options: Unpack[Options],
    ) -> T: ...
    @overload
    async def poll(
        self,
        check: Callable[[], T],
        *,
        until: Callable[[T], TypeIs[S]],
        **options: Unpack[Options],
    ) -> S: ...
    @overload
    async def poll(
        self,
        check: Callable[[], T],
        *,
        until: Callable[[T], TypeGuard[S]],
        **options: Unpack[Options],
    ) -> S: ...
    @overload
    async def poll(
        self,
        check: Callable[[], T],
        *,
        until: Callable[[T], object] = ...,
        **options: Unpack[Options],
    ) -> T: ...
    async def poll(self, check: Callable[[], Any], **options: Any) -> Any:
        """Wait as ``pollwait.aio.poll`` does.

        Args:
            check: as in ``poll``.
            options: keyword arguments of ``poll``, which go before those of this Poller.

        Returns:
            The first good result.

        Raises:
            TypeError, PollError: as ``poll`` does.
        """
        return await drive(self._settings.replaced(public(options, AIO_OPTIONS)), check)

    @overload
    def wrap(
        self, function: Callable[P, Coroutine[Any, Any, T]], /
    ) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def wrap(self, function: Callable[P, T], /) -> Callable[P, Coroutine[Any, Any, T]]: ...
    @overload
    def wrap(
        self, *, until: Callable[[Any], object] = ..., **options: Unpack[Options]
    ) -> Wrapper: ...
    def wrap(self, function: Callable[..., Any] | None = None, **options: Any) -> Any:
        """Turn a function, plain or asynchronous, into a coroutine function that waits.

        Use it as ``poller.wrap(function)``, or as a decorator: ``@poller.wrap`` or
        ``@poller.wrap(until=...)``. Each call of the new function is a wait of its own, whose
        checks call the given function with the arguments of that call.

        Args:
            function: what to call for a check.
            options: keyword arguments of ``poll``, which go before those of this Poller.

        Returns:
            The waiting function, or a decorator if no function was given.

        Raises:
            TypeError: it is a generator function.
        """
        settings = self._settings.replaced(public(options, AIO_OPTIONS))
        if function is None:
            return partial(_waiting, settings)
        return _waiting(settings, function)

    def __repr__(self) -> str:
        return repr(self._settings).replace("Settings", "Poller", 1)


def _waiting(
    settings: Settings, function: Callable[..., Any]
) -> Callable[..., Coroutine[Any, Any, Any]]:
    refuse_generator_function(function, "check")

    @wraps(function)
    async def waiting(*args: Any, **kwargs: Any) -> Any:
        return await drive(settings, partial(function, *args, **kwargs))

    return waiting
