"""The calls of a batcher on an event loop: when they start, how they run, whom they answer.

All of it runs on one loop, so there is no lock. A timer is set when a window opens and is then left
alone (B2): when it goes off too early, for another window by then, it is set again.
"""

from __future__ import annotations

import asyncio
from contextvars import Context, ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from .._core.callables import describe, is_awaitable
from .backend import refuse_blocking
from .waiters import deliver, ring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .._clock import AsyncClock
    from .._core.batch import Batch
    from .._core.batched import BatchHook
    from .._core.line import Line
    from .._core.round import Round
    from .waiters import Caller

# The call in whose function the current code runs, if any.
CURRENT: ContextVar[Batch | None] = ContextVar("pollwait_aio_call", default=None)

# What goes on its way when the callers have been told of it.
_LEAVING = (KeyboardInterrupt, SystemExit, asyncio.CancelledError)

# Seconds without further calls after somebody has cancelled one. Mostly that is a loop that cancels
# all there is before it ends, and what was started then would be left half done.
PAUSE = 0.01


class Alarm(Protocol):
    """What goes off later, unless it is cancelled."""

    def cancel(self) -> object:
        """Let it not go off."""
        ...


class Calls:
    """The calls, and the machine that tells when to make them.

    Args:
        function: the user's function, which makes the calls.
        clock: tells the time; None for that of the loop.
        on_event: told of each batch.
    """

    def __init__(
        self, function: Callable[..., Any], clock: AsyncClock | None, on_event: BatchHook | None
    ) -> None:
        refuse_blocking(clock)
        self._function = function
        self._clock = clock
        self._tell = on_event
        self._line = self._new_line()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._time: Callable[[], float] = float
        self._timer: Alarm | None = None
        self._timer_due = 0.0
        self._timer_context = Context()
        self._tasks: dict[Batch, asyncio.Task[None]] = {}
        self._alarms: set[asyncio.Task[None]] = set()
        self._closers: list[asyncio.Future[bool]] = []

    if TYPE_CHECKING:  # what the classes that derive from it have

        def _new_line(self) -> Line: ...

        def _new_round(self, batch: Batch, now: float) -> Round: ...

    def _start_clean(self) -> None:
        """Start anew in a forked process, where the loop of the other one does not run."""
        closing = self._line.closing
        self._line = self._new_line()
        self._line.closing = closing
        self._timer = None
        self._tasks.clear()
        self._alarms.clear()
        self._closers.clear()

    def _look(self, now: float | None = None) -> None:
        """Start the calls that are due, and come back when the next one is."""
        line = self._line
        now = self._time() if now is None else now
        while (batch := line.take(now)) is not None:
            self._start(batch)
        line.admitted.clear()
        if line.rejected:
            rejected, line.rejected = line.rejected, []
            self._answer_all(rejected)
        self._arm()

    def _arm(self) -> None:
        due = self._line.due()
        if due is None or (self._timer is not None and self._timer_due <= due):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer_due = due
        if self._clock is None:
            assert self._loop is not None
            self._timer = self._loop.call_at(due, self._go_off, context=self._timer_context)
        else:
            self._timer = self._alarm(max(due - self._time(), 0.0), self._go_off)

    def _go_off(self) -> None:
        self._timer = None
        self._look(max(self._time(), self._timer_due))  # a coarse clock may be a little behind

    def _alarm(self, delay: float, function: Callable[..., object], *arguments: Any) -> Alarm:
        assert self._loop is not None
        if self._clock is None:
            return self._loop.call_later(delay, function, *arguments)
        task = self._loop.create_task(_call_after(self._clock, delay, function, *arguments))
        self._alarms.add(task)
        task.add_done_callback(self._alarms.discard)
        return task

    def _start(self, batch: Batch) -> None:
        assert self._loop is not None
        context = Context()
        context.run(CURRENT.set, batch)
        task: asyncio.Task[None] = context.run(self._loop.create_task, self._make(batch))
        self._tasks[batch] = task
        task.add_done_callback(lambda task: self._ended(batch, task))

    def _ended(self, batch: Batch, task: asyncio.Task[None]) -> None:
        """Answer those whom the task of a batch left unanswered: it was cancelled, or broke."""
        self._tasks.pop(batch, None)
        error = None if task.cancelled() else task.exception()
        if batch in self._line.flying:
            self._line.finished(batch)
            error = error or asyncio.CancelledError()
            self._deliver(batch, dict.fromkeys(list(batch.callers), error))
            self._notice_end()
        assert self._loop is not None
        if task.cancelled():
            self._loop.call_later(PAUSE, self._look)
        else:
            self._look()

    async def _make(self, batch: Batch) -> None:
        """Make the calls for a batch, and answer its callers."""
        assert self._loop is not None
        try:
            round_ = self._new_round(batch, self._time())
            while round_.arguments is not None:
                await self._call(batch, round_)
        except Exception as error:  # of a hook, mostly
            message = f"error in the batcher of {describe(self._function)!r}"
            self._loop.call_exception_handler({"message": message, "exception": error})
            raise

    async def _call(self, batch: Batch, round_: Round) -> None:
        passing: BaseException | None = None
        try:
            answer = self._function(*(round_.arguments or ()))
            if is_awaitable(answer):
                answer = await answer
        except Exception as error:
            outcomes = round_.failed(_trimmed(error))
        except GeneratorExit:  # the loop is gone, and so are all who wait
            raise
        except BaseException as error:
            outcomes = round_.broke(_trimmed(error))
            if isinstance(error, _LEAVING):
                passing = error
        else:
            outcomes = round_.answered(answer)
        try:
            if round_.arguments is None:
                self._line.finished(batch)
                self._tell_of(round_)
        finally:
            self._deliver(batch, outcomes)
            if not isinstance(passing, asyncio.CancelledError):
                self._look()
            self._notice_end()
        if passing is not None:
            raise passing

    def _tell_of(self, round_: Round) -> None:
        if self._tell is not None:
            event = round_.event(self._time())
            if event is not None:
                self._tell(event)

    def _deliver(self, batch: Batch, outcomes: dict[Any, Any]) -> None:
        self._answer_all(batch.settle(outcomes))

    def _answer_all(self, answers: Iterable[tuple[Caller, Any, Any]]) -> None:
        for caller, key, outcome in answers:
            deliver(caller, key, outcome)

    def _notice_end(self) -> None:
        if self._line.closing and self._line.is_empty():
            for ended in self._closers:
                ring(ended, True)
            self._closers.clear()


async def _call_after(
    clock: AsyncClock, delay: float, function: Callable[..., object], *arguments: Any
) -> None:
    await clock.sleep(delay)
    function(*arguments)


def _trimmed(error: Any) -> Any:
    """Return an error without the frame of the driver, which holds all callers."""
    trace = error.__traceback__
    return error.with_traceback(trace and trace.tb_next)
