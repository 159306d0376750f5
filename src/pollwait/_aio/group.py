"""The public face of poll groups on an event loop."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from .._core.duration import seconds as in_seconds
from .._core.group_settings import RIDING, GroupSettings, distinct
from .._core.no_foresight import CALL_COST
from .._core.schedule import DEFAULT
from .._core.settings import UNSET
from .backend import refuse_blocking
from .completions import Completions
from .runner import Runner

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from types import TracebackType
    from typing import TypedDict, TypeGuard

    from typing_extensions import Self, TypeIs, Unpack

    from .._clock import AsyncClock, AsyncEvent
    from .._core.duration import Duration
    from .._core.group_settings import Riding
    from .._core.isolation import Isolate
    from .._core.latency import Latency
    from .._core.rules import Rng
    from .._core.schedule import Schedule
    from .._core.settings import Predicate, RetryOn, Unset
    from .._group_events import GroupHook
    from .callers import Caller

    S = TypeVar("S")

    class WaitOptions(TypedDict, total=False):
        """The keyword arguments of ``wait`` that do not bear on the type of its value."""

        fail: Predicate | None
        timeout: Duration | None
        cancel: AsyncEvent | None
        name: str | None


K = TypeVar("K")
V = TypeVar("V")


class PollGroup(Generic[K, V]):
    """Many waits on an event loop that share each call.

    In all but what is said below it is ``pollwait.PollGroup``, awaited. It runs on asyncio, on the
    loop that uses it first, and on no other. While anybody waits it has one task that sleeps and
    one for each call; ``wait_many`` and ``as_completed`` need none for each key.

    Args:
        fetch: as in ``pollwait.PollGroup``; a plain or an asynchronous function.
        max_size: as in ``pollwait.PollGroup``.
        min_gap: as in ``pollwait.PollGroup``.
        riding: as in ``pollwait.PollGroup``.
        schedule: as in ``pollwait.PollGroup``.
        retry_on: as in ``pollwait.PollGroup``; its predicates are plain functions.
        is_throttle: as in ``pollwait.PollGroup``; its predicates are plain functions.
        isolate: as in ``pollwait.PollGroup``; a plain function.
        missing_grace: as in ``pollwait.PollGroup``.
        latency: as in ``pollwait.PollGroup``.
        call_cost: as in ``pollwait.PollGroup``.
        learn: as in ``pollwait.PollGroup``. The model may take some 50 ms to make up its mind after
            much news, in which the loop stands still.
        clock: tells the time and sleeps; by default that of the running loop.
        rng: as in ``pollwait.PollGroup``.
        on_event: as in ``pollwait.PollGroup``; a plain function.

    Raises:
        TypeError, ValueError: an argument is not as above.

    Timing:
        As in ``pollwait.PollGroup``, but that calls are made whoever waits, up to four at a time,
        and a caller that is cancelled leaves at once while its call goes on for the others.

    Example:
        >>> import asyncio
        >>> from pollwait.testing import run
        >>> async def states(volumes):
        ...     now = asyncio.get_running_loop().time()
        ...     return {volume: "available" if now > 2 else "creating" for volume in volumes}
        >>> async def main():
        ...     async with PollGroup(states, max_size=500) as group:
        ...         return await group.wait("vol-1", until="available".__eq__, timeout=60)
        >>> run(main())
        'available'
    """

    def __init__(
        self,
        fetch: Callable[
            [list[K]], Awaitable[Mapping[K, V | Exception]] | Mapping[K, V | Exception]
        ],
        *,
        max_size: int,
        min_gap: Duration | None = None,
        riding: Riding = RIDING,
        schedule: Schedule = DEFAULT,
        retry_on: RetryOn | Iterable[RetryOn] = (),
        is_throttle: RetryOn | Iterable[RetryOn] | None = None,
        isolate: Isolate | None = None,
        missing_grace: Duration = 0.0,
        latency: Latency | None = None,
        call_cost: Duration = CALL_COST,
        learn: bool = False,
        clock: AsyncClock | None = None,
        rng: Rng | None = None,
        on_event: GroupHook | None = None,
    ) -> None:
        refuse_blocking(clock)
        self._settings = GroupSettings(
            fetch,
            max_size=max_size,
            min_gap=min_gap,
            riding=riding,
            schedule=schedule,
            retry_on=retry_on,
            is_throttle=is_throttle,
            isolate=isolate,
            missing_grace=missing_grace,
            latency=latency,
            call_cost=call_cost,
            learn=learn,
            clock=clock,
            rng=rng,
            on_event=on_event,
        )
        self._closed = False
        self._start()

    @overload
    async def wait(
        self, key: K, *, until: Callable[[V], TypeIs[S]], **options: Unpack[WaitOptions]
    ) -> S: ...
    @overload
    async def wait(
        self, key: K, *, until: Callable[[V], TypeGuard[S]], **options: Unpack[WaitOptions]
    ) -> S: ...
    @overload
    async def wait(
        self, key: K, *, until: Callable[[V], object] = ..., **options: Unpack[WaitOptions]
    ) -> V: ...
    async def wait(
        self,
        key: Any,
        *,
        until: Predicate = bool,
        fail: Predicate | None = None,
        timeout: Duration | Unset | None = UNSET,
        cancel: AsyncEvent | None = None,
        name: str | None = None,
    ) -> Any:
        """Wait until the value of a key is good, and return that value.

        Args:
            key: as in ``pollwait.PollGroup.wait``.
            until: as there; may be asynchronous, and is awaited without holding up other waits.
            fail: as there; may be asynchronous.
            timeout: as there.
            cancel: an event such as ``asyncio.Event``; the wait ends at once when it is set.
            name: as there.

        Returns:
            The first good value.

        Raises:
            Exception: as ``pollwait.PollGroup.wait`` does.
            RuntimeError: another event loop used the group first; or called by its own ``fetch``.
        """
        runner, caller = self._open([key], until, fail, timeout, cancel, name)
        try:
            await runner.attend(caller)
        except BaseException as error:
            runner.leave(caller, error)
            raise
        _, result = caller.take()
        if isinstance(result, Exception):
            raise result
        return result

    async def wait_many(
        self,
        keys: Iterable[K],
        *,
        until: Predicate = bool,
        fail: Predicate | None = None,
        timeout: Duration | Unset | None = UNSET,
        cancel: AsyncEvent | None = None,
    ) -> dict[K, V | Exception]:
        """Wait for many keys at once, as ``pollwait.PollGroup.wait_many`` does.

        Args:
            keys: as there.
            until: as in ``wait``.
            fail: as in ``wait``.
            timeout: as there.
            cancel: as in ``wait``; it ends those that are not over.

        Returns:
            For each key, in the order given, the good value or the error that ``wait`` would have
            raised.

        Raises:
            BatcherClosed, RuntimeError, TypeError, ValueError: as ``wait`` does before any call.
        """
        wanted = distinct(keys)
        results: dict[Any, Any] = dict.fromkeys(wanted)
        runner, caller = self._open(wanted, until, fail, timeout, cancel)
        try:
            while caller.left:
                await runner.attend(caller)
                while caller.done:
                    key, result = caller.take()
                    results[key] = result
        except BaseException as error:
            runner.leave(caller, error)
            raise
        return results

    def as_completed(
        self,
        keys: Iterable[K],
        *,
        until: Predicate = bool,
        fail: Predicate | None = None,
        timeout: Duration | Unset | None = UNSET,
        cancel: AsyncEvent | None = None,
    ) -> Completions[K, V]:
        """Wait for many keys, and give each result as soon as it is there.

        A plain method: the waits begin with this call, and go on while the user of the iterator is
        busy elsewhere.

        Args:
            keys: as in ``wait_many``.
            until: as in ``wait``.
            fail: as in ``wait``.
            timeout: as in ``wait_many``.
            cancel: as in ``wait_many``.

        Returns:
            An asynchronous iterator over pairs of a key and its good value or error, in the order
            in which the waits ended. Closing or dropping it gives up the waits that are left.

        Raises:
            BatcherClosed, RuntimeError, TypeError, ValueError: as ``wait`` does before any call.
        """
        return Completions(*self._open(distinct(keys), until, fail, timeout, cancel))

    async def close(self, timeout: Duration | None = None) -> None:
        """End all waits, and refuse new ones, as ``pollwait.PollGroup.close`` does.

        Args:
            timeout: seconds to wait for the calls that are under way; after that they are
                cancelled, and their waits end with ``BatcherClosed`` too. None waits for as long as
                they take.
        """
        limit = None if timeout is None else in_seconds(timeout, "timeout")
        self._closed = True
        await self._current().close(limit)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close(None if kind is None else 0.0)

    def __repr__(self) -> str:
        return f"{self._settings!r}".replace("GroupSettings", "PollGroup", 1)

    def _open(
        self,
        keys: Iterable[Any],
        until: Predicate,
        fail: Predicate | None,
        timeout: Duration | Unset | None,
        cancel: AsyncEvent | None,
        name: str | None = None,
    ) -> tuple[Runner, Caller]:
        refuse_blocking(None, cancel)
        changes = {"until": until, "fail": fail, "timeout": timeout, "name": name}
        runner = self._current()
        return runner, runner.open(keys, self._settings.waits.replaced(changes), cancel)

    def _start(self) -> None:
        self._process = os.getpid()
        rng = self._settings.waits.rng
        rng = random if rng is None else rng
        self._runner = Runner(self._settings, rng, closed=self._closed)

    def _current(self) -> Runner:
        """Return the runner; a fresh one in a forked child, where nobody waits yet."""
        if self._process != os.getpid():
            self._start()  # pragma: no cover - nobody measures a forked child
        return self._runner
