"""What batchers on an event loop have in common: how one asks, waits, leaves and closes."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from .._core.callables import describe, refuse_generator_function
from .._core.duration import seconds
from .._core.limits import callable_or_none
from .._core.line import FILLED, FULL, JOINED
from .._core.nesting import Waiting, waits_for_itself
from .._core.refusals import circular, closed, full, late
from .calls import CURRENT, Calls
from .waiters import Answer, NestedAnswer, OneTurn, ring

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import TracebackType

    from typing_extensions import Self

    from .._clock import AsyncClock
    from .._core.batched import BatchHook
    from .._core.duration import Duration
    from .._core.limits import Limits
    from .._core.line import Line
    from .waiters import Caller


class Crew(Calls):
    """A batcher for anything: what its windows and its rounds are, subclasses say.

    Args:
        function: the user's function, which makes the calls.
        what: its name as an argument.
        limits: the bounds.
        clock: tells the time; None for that of the loop.
        on_event: told of each batch.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        what: str,
        limits: Limits,
        clock: AsyncClock | None,
        on_event: BatchHook | None,
    ) -> None:
        refuse_generator_function(function, what)
        callable_or_none(on_event, "on_event")
        self._limits = limits
        self._process = 0
        super().__init__(function, clock, on_event)

    def flush(self) -> Awaitable[None]:
        """Send what is queued, as soon as ``max_in_flight`` allows, and wait for nothing.

        Nothing happens if nothing is queued.

        Returns:
            Something that need not be awaited. Where it is, the calls have begun after that.
        """
        self._here()
        self._line.flush()
        self._look()
        return OneTurn()

    async def close(self, drain: bool = True, timeout: Duration | None = None) -> None:
        """Refuse new keys, and see the callers off that there are. More calls do no harm.

        Args:
            drain: answer those who wait, first; else they get ``BatcherClosed`` at once.
            timeout: the most seconds to wait for that. Who is not answered by then gets
                ``BatcherClosed``; None, the default, for as long as it takes.

        Raises:
            TypeError, ValueError: ``timeout`` is no length of time.

        Timing:
            Calls that are not waited for are cancelled. A fetch that closes its own batcher is
            neither waited for nor cancelled.
        """
        limit = None if timeout is None else seconds(timeout, "timeout")
        loop = self._here()
        self._line.closing = True
        self._look()
        if drain and not self._line.is_empty() and CURRENT.get() not in self._line.flying:
            ended: asyncio.Future[bool] = loop.create_future()
            self._closers.append(ended)
            drain = await self._within(ended, limit)
        if not drain:
            self._answer_all(
                (caller, key, closed(self._function, key)) for caller, key in self._line.give_up()
            )
            for task in self._tasks.values():
                if task is not asyncio.current_task():
                    task.cancel()
        if self._timer is not None and self._line.is_empty():
            self._timer.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close(drain=kind is None)

    def forget(self, caller: Caller, *keys: Any) -> None:
        """Let a caller go that waits no more."""
        now = self._time()
        for key in keys:
            self._line.leave(key, caller, now)
        self._look()
        self._notice_end()

    def waiting(self, caller: Caller) -> Waiting:
        """Return a context in which a caller waits, perhaps in a call of its own batcher."""
        return Waiting(self, caller, CURRENT.get())

    def refuse_circle(self, caller: Caller) -> None:
        """Raise if a caller, in a call, would wait for ever."""
        if waits_for_itself(self._line, caller):
            raise circular(self._function, self._line)

    def place_of(self, caller: Caller) -> tuple[Line, Caller]:
        """Return what a call that waits for a caller has in its ``waits``."""
        return self._line, caller

    async def _load(self, key: Any, timeout: Duration | None, request: Any = None) -> Any:
        limit = None if timeout is None else seconds(timeout, "timeout")
        answer: asyncio.Future[Any] = self._here().create_future()
        self._ask(answer, key, request, block=self._limits.when_full == "block")
        try:
            if limit is None and CURRENT.get() is None:
                return await answer
            return await self._load_carefully(answer, key, limit)
        except BaseException:
            self._leave(answer, key)
            raise

    async def _load_carefully(
        self, answer: asyncio.Future[Any], key: Any, limit: float | None
    ) -> Any:
        """Wait for an answer that may be too late, or never come."""
        alarm = None if limit is None else self._alarm(limit, self._expire, answer, key, limit)
        try:
            with self.waiting(answer):
                return await answer
        finally:
            if alarm is not None:
                alarm.cancel()

    def _submit(self, key: Any, request: Any = None) -> Answer:
        loop = self._here()
        answer = (Answer if CURRENT.get() is None else NestedAnswer)(loop=loop)
        answer.key = key
        answer.crew = self
        self._ask(answer, key, request, block=False)
        return answer

    def _ask(self, answer: asyncio.Future[Any], key: Any, request: Any, *, block: bool) -> None:
        line = self._line
        if line.closing:
            raise closed(self._function, key)
        joined = line.join(key, answer, self._time(), request)
        if joined == FILLED:
            self._look()
        elif joined == FULL:
            if not block:
                raise full(self._function, line, key)
            line.stand_in_line(key, answer, request)
        elif joined != JOINED:
            self._arm()

    def _leave(self, answer: asyncio.Future[Any], key: Any) -> None:
        """Let the caller of a load go, unless it has its answer, which may be an error."""
        if not answer.done() or answer.cancelled():
            answer.cancel()
            self.forget(answer, key)

    def _expire(self, answer: asyncio.Future[Any], key: Any, limit: float) -> None:
        if not answer.done():
            answer.set_exception(late(self._function, key, limit))
            self.forget(answer, key)

    def _here(self) -> asyncio.AbstractEventLoop:
        """Return the running loop, to which the batcher is bound from its first use on."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                f"the aio batcher of {describe(self._function)!r} is used where no asyncio event"
                " loop runs: on threads use the one of pollwait"
            ) from None
        if loop is not self._loop:
            self._bind(loop)
        return loop

    def _bind(self, loop: asyncio.AbstractEventLoop) -> None:
        process = os.getpid()
        if self._loop is not None and self._process != process:
            self._start_clean()
        elif self._loop is not None:
            raise RuntimeError(
                f"the aio batcher of {describe(self._function)!r} belongs to the event loop that"
                " used it first, and this is another one: make one for each loop"
            )
        self._loop, self._process = loop, process
        self._time = loop.time if self._clock is None else self._clock.monotonic

    async def _within(self, future: asyncio.Future[bool], limit: float | None) -> bool:
        """Return the result of a future, or False if it has none after that many seconds."""
        alarm = None if limit is None else self._alarm(limit, ring, future, False)
        try:
            return await future
        finally:
            if alarm is not None:
                alarm.cancel()
