"""The public face of batching on an event loop: ``Batcher``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from .._core.answer import own
from .._core.duration import seconds
from .._core.limits import Limits, callable_or_none
from .._core.refusals import closed, full, late
from .._core.round import FetchRound
from .._core.window import Window
from .crew import Crew
from .waiters import Many

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
    from typing import TypeAlias

    from .._clock import AsyncClock
    from .._core.batch import Batch
    from .._core.batched import BatchHook
    from .._core.duration import Duration
    from .._core.limits import WhenFull

K = TypeVar("K")
V = TypeVar("V")

if TYPE_CHECKING:
    Answers: TypeAlias = Mapping[K, V | Exception]


class Batcher(Crew, Generic[K, V]):
    """Many callers, one call: keys that are asked for at about the same time travel together.

    It is ``pollwait.Batcher`` for tasks: the same windows, the same answers. It runs under asyncio
    only, and belongs to the event loop that uses it first.

    Args:
        fetch: as in ``pollwait.Batcher``; a plain or an asynchronous callable, called in a task and
            a context of its own. A plain one that blocks, blocks the whole loop.
        max_size: as in ``pollwait.Batcher``.
        max_delay: as in ``pollwait.Batcher``; 0 sends what has come by the next turn of the loop.
        idle_delay: as in ``pollwait.Batcher``.
        max_in_flight: as in ``pollwait.Batcher``.
        max_pending: as in ``pollwait.Batcher``.
        when_full: as in ``pollwait.Batcher``, for ``load`` and ``load_many``; ``submit`` always
            raises.
        isolate: as in ``pollwait.Batcher``; a plain function.
        clock: tells the time and sleeps; by default that of the running loop.
        on_event: as in ``pollwait.Batcher``; a plain function. What it raises is handed to the
            exception handler of the loop.

    Raises:
        TypeError, ValueError: an argument is not as above.

    Timing:
        Any number of tasks may share it, on one loop. From another loop or thread every method
        raises RuntimeError. A forked process starts with an empty one.

    Example:
        >>> import asyncio
        >>> from pollwait.testing import run
        >>> async def fetch(ids):
        ...     print("one call for", sorted(ids))
        ...     return {id: id.upper() for id in ids}
        >>> async def main():
        ...     batcher = Batcher(fetch, max_size=500)
        ...     return await asyncio.gather(*map(batcher.load, ["vol-1", "vol-2", "vol-1"]))
        >>> run(main())
        one call for ['vol-1', 'vol-2']
        ['VOL-1', 'VOL-2', 'VOL-1']
    """

    def __init__(
        self,
        fetch: Callable[[list[K]], Answers[K, V] | Awaitable[Answers[K, V]]],
        *,
        max_size: int,
        max_delay: Duration = 0.05,
        idle_delay: Duration | None = None,
        max_in_flight: int = 4,
        max_pending: int = 10_000,
        when_full: WhenFull = "block",
        isolate: Callable[[Exception, list[K]], Collection[K] | None] | None = None,
        clock: AsyncClock | None = None,
        on_event: BatchHook | None = None,
    ) -> None:
        limits = Limits(max_size, max_delay, idle_delay, max_in_flight, max_pending, when_full)
        self._isolate = callable_or_none(isolate, "isolate")
        super().__init__(fetch, "fetch", limits, clock, on_event)

    async def load(self, key: K, timeout: Duration | None = None) -> V:
        """Return the value of a key, once a call has answered it.

        Args:
            key: what to ask for; anything hashable.
            timeout: the most seconds to wait for that; None for as long as it takes.

        Returns:
            The value.

        Raises:
            Exception: as ``pollwait.Batcher.load`` does.
            RuntimeError: awaited by ``fetch``, which would wait for itself; or the batcher belongs
                to another event loop.

        Timing:
            A task that is cancelled leaves at once, and a key that nobody waits for is not sent.
        """
        value: V = await self._load(key, timeout)
        return value

    def submit(self, key: K) -> asyncio.Future[V]:
        """Ask for a key and return the future of its value: a plain call, to be awaited later.

        Returns:
            A future of the caller's own, which may be cancelled. Its errors are those of ``load``.

        Raises:
            BatcherFull: there is no room for the key; a plain call cannot wait for it.
            BatcherClosed, RuntimeError, TypeError: as ``load`` does.
        """
        return self._submit(key)

    async def load_many(
        self, keys: Iterable[K], timeout: Duration | None = None
    ) -> dict[K, V | Exception]:
        """Return what many keys are answered, their errors included.

        It takes less time and memory than a task or a future for each.

        Args:
            keys: what to ask for, in any number.
            timeout: the most seconds to wait for all of them; None for as long as it takes.

        Returns:
            For each key its value or its error, a TimeoutError if there was no answer in time. The
            keys are in the order in which they first occur.

        Raises:
            BatcherClosed, RuntimeError, TypeError: as ``load`` does.
        """
        limit = None if timeout is None else seconds(timeout, "timeout")
        wanted = list(dict.fromkeys(keys))
        loop = self._here()
        many = Many(len(wanted), loop)
        if wanted:
            try:
                self._ask_for_all(many, wanted)
                with self.waiting(many):
                    await self._within(many.complete, limit)
            finally:
                many.left = True
                if len(many.outcomes) < len(wanted):
                    self.forget(many, *(key for key in wanted if key not in many.outcomes))
        outcomes = many.outcomes
        return {
            key: own(outcomes[key]) if key in outcomes else late(self._function, key, limit)
            for key in wanted
        }

    def _ask_for_all(self, many: Many, wanted: list[K]) -> None:
        """Let many keys join; those without room stand in line, or are refused."""
        if self._line.closing:
            raise closed(self._function, wanted[0])
        place = 0
        while place < len(wanted):
            joined = self._line.join_some(wanted, place, many, self._time())
            self._look()
            if joined == place:
                key = wanted[place]
                if self._limits.when_full == "block":
                    self._line.stand_in_line(key, many, None, wanted[place + 1 :])
                    break
                many.deliver(key, full(self._function, self._line, key))
                joined += 1
            place = joined

    def _new_line(self) -> Window:
        return Window(self._limits)

    def _new_round(self, batch: Batch, now: float) -> FetchRound:
        return FetchRound(batch, now, self._isolate)
