"""The public face of merging on an event loop: ``Coalescer``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .._core.limits import Limits
from .._core.merging import Merging
from .._core.round import ExecuteRound
from .crew import Crew

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from .._clock import AsyncClock
    from .._core.batch import Batch
    from .._core.batched import BatchHook
    from .._core.duration import Duration
    from .._core.limits import WhenFull

K = TypeVar("K")
R = TypeVar("R")
M = TypeVar("M")
V = TypeVar("V")


class Coalescer(Crew, Generic[K, R, M, V]):
    """Many requests, one call for each key: what is asked of it at about the same time is merged.

    It is ``pollwait.Coalescer`` for tasks: the same windows, the same results. It runs under
    asyncio only, and belongs to the event loop that uses it first.

    Args:
        merge: as in ``pollwait.Coalescer``; a plain function.
        execute: as in ``pollwait.Coalescer``; a plain or an asynchronous callable, called in a task
            and a context of its own.
        max_delay: as in ``pollwait.Coalescer``.
        max_in_flight: as in ``pollwait.Coalescer``.
        max_pending: as in ``pollwait.Coalescer``.
        when_full: as in ``pollwait.Coalescer``, for ``load``; ``submit`` always raises.
        clock: tells the time and sleeps; by default that of the running loop.
        on_event: as in ``pollwait.aio.Batcher``; each batch has one key.

    Raises:
        TypeError, ValueError: an argument is not as above.

    Timing:
        As a ``Batcher``.
    """

    @overload
    def __init__(
        self,
        merge: Callable[[M | None, R], M],
        execute: Callable[[K, M], Awaitable[V]],
        *,
        max_delay: Duration = ...,
        max_in_flight: int = ...,
        max_pending: int = ...,
        when_full: WhenFull = ...,
        clock: AsyncClock | None = ...,
        on_event: BatchHook | None = ...,
    ) -> None: ...
    @overload
    def __init__(
        self,
        merge: Callable[[M | None, R], M],
        execute: Callable[[K, M], V],
        *,
        max_delay: Duration = ...,
        max_in_flight: int = ...,
        max_pending: int = ...,
        when_full: WhenFull = ...,
        clock: AsyncClock | None = ...,
        on_event: BatchHook | None = ...,
    ) -> None: ...
    def __init__(
        self,
        merge: Callable[[M | None, R], M],
        execute: Callable[[K, M], Any],
        *,
        max_delay: Duration = 0.05,
        max_in_flight: int = 4,
        max_pending: int = 10_000,
        when_full: WhenFull = "block",
        clock: AsyncClock | None = None,
        on_event: BatchHook | None = None,
    ) -> None:
        if not callable(merge):
            raise TypeError(f"merge must be callable: got merge={merge!r}")
        self._merge = merge
        limits = Limits(1, max_delay, None, max_in_flight, max_pending, when_full)
        super().__init__(execute, "execute", limits, clock, on_event)

    async def load(self, key: K, request: R, timeout: Duration | None = None) -> V:
        """Have a request executed, and return the result of the call that carried it.

        Args:
            key: what the request is about; anything hashable.
            request: what ``merge`` takes.
            timeout: the most seconds to wait; None for as long as it takes.

        Returns:
            What ``execute`` returned, which all callers share.

        Raises:
            Exception: as ``pollwait.Coalescer.load`` does.
            RuntimeError: awaited by ``execute``, which would wait for itself; or the coalescer
                belongs to another event loop.
        """
        value: V = await self._load(key, timeout, request)
        return value

    def submit(self, key: K, request: R) -> asyncio.Future[V]:
        """Ask for a request to be executed and return the future of its result: a plain call.

        Returns:
            A future, as ``Batcher.submit`` does.

        Raises:
            Exception: what ``merge`` raised for this request.
            BatcherFull, BatcherClosed, RuntimeError, TypeError: as ``Batcher.submit`` does.
        """
        return self._submit(key, request)

    def _new_line(self) -> Merging:
        return Merging(self._limits, self._merge)

    def _new_round(self, batch: Batch, now: float) -> ExecuteRound:
        return ExecuteRound(batch, now)
