"""The driver of a poll group on an event loop: one task that sleeps, and one for each call.

It mirrors the driver on threads, but for what must be awaited. The task that sleeps is there while
anybody waits. Predicates that must be awaited have tasks of their own, so that one that takes long
holds up nobody else.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from contextvars import Context
from typing import TYPE_CHECKING, Any

from .._clock import hint
from .._core.answer import private
from .._core.callables import close_coroutine, is_awaitable
from .._core.duration import INFINITY
from .._core.group import Group
from .._errors import BatcherClosed
from .._group_events import dismiss, outcome, tell_call, tell_check
from .backend import AsyncioBackend
from .callers import Caller, either

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable
    from typing import TypeAlias

    from .._clock import AsyncClock, AsyncEvent
    from .._core.call import Call
    from .._core.group_settings import GroupSettings
    from .._core.judge import Judging
    from .._core.rules import Rng
    from .._core.seat import Seat
    from .._core.settings import Settings
    from .._group_events import GroupHook

    Task: TypeAlias = asyncio.Task[None]

# What a call may end with without anybody but its waits being told of it. The loop lets the others
# through to whoever runs it.
_PASSES = (KeyboardInterrupt, SystemExit, asyncio.CancelledError)


class Runner:
    """The group, and the tasks that serve it.

    Args:
        settings: what is said of the group.
        rng: draws the jitter of its waits.
        closed: no waits may begin.
    """

    def __init__(self, settings: GroupSettings, rng: Rng, *, closed: bool = False) -> None:
        self._settings = settings
        self._group = Group(settings, rng, hint)
        self._group.closed = closed
        self._tell: GroupHook | None = settings.waits.on_event
        self._loop: asyncio.AbstractEventLoop | None = None
        self._clock: AsyncClock = settings.waits.clock
        self._news = asyncio.Event()
        self._driver: Task | None = None
        self._wakes_at = INFINITY  # when the driver will look
        self._calls: set[Task] = set()
        self._fetching: set[Any] = set()  # those of these tasks that are inside ``fetch``
        self._judgings: dict[Seat, Task] = {}

    def open(self, keys: Iterable[Any], settings: Settings, cancel: AsyncEvent | None) -> Caller:
        """Begin a wait for each key.

        Raises:
            BatcherClosed: the group is closed.
            RuntimeError: the group is used on another loop, or by its own ``fetch``.
        """
        self._bind()
        if asyncio.current_task() in self._fetching:
            raise RuntimeError("fetch must not wait on its own poll group: it would call itself")
        if self._group.closed:
            raise BatcherClosed("the poll group is closed")
        caller = Caller(cancel)
        now = self._clock.monotonic()
        seats = [self._group.seat(key, settings, now, caller) for key in keys]
        caller.hold(seats)
        self._group.join(seats)
        self._rouse()
        return caller

    async def attend(self, caller: Caller) -> None:
        """Return once the caller has a result.

        Raises:
            RuntimeError: another task is at the same iterator.
        """
        if caller.waiter is not None:
            raise RuntimeError("another task is awaiting this iterator's next result already")
        try:
            while not caller.done:
                if caller.cancel is not None and caller.cancel.is_set():
                    self._cancel(caller)
                    continue
                assert self._loop is not None
                caller.waiter = self._loop.create_future()
                if caller.cancel is None:
                    await caller.waiter
                else:
                    await either(caller.waiter, caller.cancel)
        finally:
            caller.waiter = None

    def leave(self, caller: Caller, error: BaseException | None = None) -> None:
        """Forget the waits of a caller that is gone, by an error or because it has enough."""
        cancelled = isinstance(error, asyncio.CancelledError)
        for seat in self._withdraw(caller):
            now = self._clock.monotonic()
            dismiss(seat, now, self._tell, error, "cancelled" if cancelled else "error")

    def abandon(self, caller: Caller) -> None:
        """Forget the waits of a caller soon; for finalizers, which may run at any point."""
        assert self._loop is not None
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            self._loop.call_soon_threadsafe(self._withdraw, caller)

    async def close(self, timeout: float | None) -> None:
        """End the waits that no call carries, and let the calls that are under way end."""
        if self._loop is not None:
            self._bind()
        self._conclude(self._settled(self._group.close()))
        self._rouse()
        tasks = {*self._calls, *self._judgings.values()}
        if not tasks or asyncio.current_task() in tasks:
            return  # nothing is under way, or it is the caller's own call
        _, late = await asyncio.wait(tasks, timeout=timeout)
        self._conclude(self._settled(self._group.leave(self._group.everyone())))
        for task in late:
            task.cancel()

    def _bind(self) -> None:
        """Use the running loop from now on.

        Raises:
            RuntimeError: another one is used already.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                "an aio.PollGroup is used where no asyncio event loop runs: on threads use"
                " pollwait.PollGroup"
            ) from None
        if self._loop is None:
            self._loop = loop
            if self._settings.waits.clock is None:
                self._clock = AsyncioBackend()
        elif self._loop is not loop:
            raise RuntimeError(
                "the aio.PollGroup belongs to the event loop that used it first, and this is"
                " another one: make one for each loop"
            )

    def _rouse(self) -> None:
        """Have the driver look, if there is something to do sooner than it knew, or no more."""
        if self._driver is None or self._driver.done():
            if self._group.waiting:
                self._driver = self._task(self._drive())
            return
        now = self._clock.monotonic()
        delay = self._group.delay(now)
        sooner = delay is not None and now + delay < self._wakes_at
        if sooner or not self._group.waiting:
            self._news.set()

    def _task(self, work: Coroutine[Any, Any, None]) -> Task:
        assert self._loop is not None
        return Context().run(self._loop.create_task, work)

    async def _drive(self) -> None:
        """Take the steps of the group while anybody waits."""
        try:
            while self._group.waiting:
                self._news.clear()
                now = self._clock.monotonic()
                over, call = self._group.step(now)
                self._conclude(self._settled(over))
                if call is not None:
                    task = self._task(self._make(call))
                    self._calls.add(task)
                    task.add_done_callback(self._calls.discard)
                if call is None and not over:
                    await self._sleep(now)
        except BaseException as error:  # such as the end of the loop: nobody is to wait for ever
            seats = self._settled(self._group.leave(self._group.everyone()))
            for seat in seats:
                seat.passes(private(error), self._clock.monotonic())
            self._conclude(seats)
            if not isinstance(error, Exception):
                raise

    async def _sleep(self, now: float) -> None:
        delay = self._group.delay(now)
        self._wakes_at = INFINITY if delay is None else now + delay
        if delay is None:
            await self._news.wait()
        elif not await self._clock.wait(self._news, delay):
            self._conclude(self._settled(self._group.slept(delay, now, self._clock.monotonic())))

    async def _make(self, call: Call) -> None:
        """Make a call, and those that find its poison keys, and judge what they bring."""
        try:
            keys = call.next()
            while keys is not None:
                found = await self._ask(call, keys)
                keys = call.next()
                if keys is None:
                    self._group.ended(call, self._clock.monotonic())
                self._judge(call, found)
            self._judge(call, call.rest())
        except _PASSES:
            raise
        except BaseException:
            return  # all who wait for the call know of it
        finally:
            over = self._group.put_back(call, self._clock.monotonic())
            self._conclude(self._settled(over))
            self._rouse()

    async def _ask(self, call: Call, keys: list[Any]) -> dict[Any, Any]:
        """Fetch some keys, and return what is certain of each."""
        me, began, raised = asyncio.current_task(), self._clock.monotonic(), None
        self._fetching.add(me)
        try:
            answer = self._settings.fetch([*keys])
            if is_awaitable(answer):
                answer = await answer
            found = call.passed(answer, keys)
        except Exception as error:
            raised = error
            found = call.failed(error)
        except BaseException as error:
            self._judge(call, call.broken(error))
            raise
        finally:
            self._fetching.discard(me)
        seconds = self._clock.monotonic() - began
        return tell_call(call, keys, found, seconds, raised, self._group.pace.gap, self._tell)

    def _judge(self, call: Call, found: dict[Any, Any]) -> None:
        """Have the waits for some keys take in what was found, and keep those that go on."""
        now = self._clock.monotonic()
        judged: list[Seat] = []
        try:
            for seat, what in call.answered(found):
                judged.append(seat)
                judging = call.judge.weigh(seat, what, now)
                said = None if judging is None else next(judging, None)
                if judging is not None and said is not None:
                    judged.pop()
                    self._hear_later(seat, judging, said)
                elif self._tell is not None:
                    tell_check(seat, now, self._tell)
        finally:
            self._settle(judged)

    def _hear_later(self, seat: Seat, judging: Judging, said: Any) -> None:
        """Have a task await what predicates say of one value."""
        task = self._judgings[seat] = self._task(self._hear(seat, judging, said))
        # If it was never begun, nobody is to be warned of that.
        task.add_done_callback(lambda _: close_coroutine(said))

    async def _hear(self, seat: Seat, judging: Judging, said: Any) -> None:
        """Await what predicates say of one value."""
        try:
            while True:
                said = await self._hear_one(judging, said)
        except StopAsyncIteration:
            if self._tell is not None and seat.stage == "asked":
                tell_check(seat, self._clock.monotonic(), self._tell)
        finally:
            self._judgings.pop(seat, None)
            self._settle([seat])

    async def _hear_one(self, judging: Judging, said: Any) -> Any:
        """Await an answer, and go on to the next; raise StopAsyncIteration after the last."""
        try:
            try:
                answer = await said
            except BaseException as error:
                return judging.throw(error)
            return judging.send((answer, self._clock.monotonic()))
        except StopIteration:
            raise StopAsyncIteration from None

    def _settle(self, judged: list[Seat]) -> None:
        self._conclude(self._settled(self._group.settle(judged)))
        self._rouse()

    def _settled(self, over: list[Seat]) -> list[Seat]:
        for seat in over:
            del seat.owner.live[seat]
            if seat in self._judgings:
                self._judgings.pop(seat).cancel()
        return over

    def _conclude(self, over: Iterable[Seat]) -> None:
        """Hand out what waits came to."""
        failure: BaseException | None = None
        for seat in over:
            try:
                result = outcome(seat, self._clock.monotonic(), self._tell)
            except BaseException as error:  # of a hook; the other callers are to be told too
                result, failure = private(error), error
            seat.owner.give(seat.key, result)
        if failure is not None:
            raise failure

    def _cancel(self, caller: Caller) -> None:
        now = self._clock.monotonic()
        seats = self._withdraw(caller)
        for seat in seats:
            seat.cancel(now)
        self._conclude(seats)

    def _withdraw(self, caller: Caller) -> list[Seat]:
        seats = self._settled(self._group.leave([*caller.live]))
        self._rouse()
        return seats
