"""What batchers and coalescers on threads have in common: how one asks, waits, leaves and closes.

Callers wait by the clock if it makes threads of its own, as ``FakeClock`` does. Else they wait by
real time: a clock that moves whenever somebody waits would be moved by each of them.
"""

from __future__ import annotations

from _thread import allocate_lock

from .._core.answer import private
from .._core.callables import refuse_generator_function
from .._core.duration import seconds
from .._core.limits import callable_or_none
from .._core.line import FULL, JOINED
from .._core.nesting import Waiting, waits_for_itself
from .._core.refusals import circular, closed, forked, full, late
from .._core.rules import MAX_DELAY
from .calls import CURRENT, Calls
from .waiters import Flag, Waiter, answer_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    from typing_extensions import Self

    from .._clock import Clock, Event
    from .._core.batched import BatchHook
    from .._core.duration import Duration
    from .._core.limits import Limits
    from .._core.line import Line
    from .futures import Answer
    from .waiters import Caller

# Real seconds for which `close` waits, when all is done, for its threads to be gone.
PARTING = 1.0


class Crew(Calls):
    """A batcher for anything: what its windows and its rounds are, subclasses say.

    Args:
        function: the user's function, which makes the calls.
        what: its name as an argument.
        limits: the bounds.
        clock: tells the time of the windows; None for that of the system.
        on_event: told of each batch.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        what: str,
        limits: Limits,
        clock: Clock | None,
        on_event: BatchHook | None,
    ) -> None:
        from .lives import watch

        refuse_generator_function(function, what)
        callable_or_none(on_event, "on_event")
        self._limits = limits
        super().__init__(function, clock, on_event)
        watch(self)

    def flush(self) -> None:
        """Send what is queued, as soon as ``max_in_flight`` allows, and wait for nothing.

        Nothing happens if nothing is queued.
        """
        with self._lock:
            self._line.flush()
            self._rouse(self._clock.monotonic())
        self._start()

    def close(self, drain: bool = True, timeout: Duration | None = None) -> None:
        """Refuse new keys, and see the callers off that there are. More calls do no harm.

        Args:
            drain: answer those who wait, first; else they get ``BatcherClosed`` at once.
            timeout: the most seconds to wait for that. Who is not answered by then gets
                ``BatcherClosed``; None, the default, for as long as it takes.

        Raises:
            TypeError, ValueError: ``timeout`` is no length of time.

        Timing:
            A call that is out cannot be cut: its thread ends when it returns, and what it answers
            too late is ignored. A fetch that closes its own batcher is not waited for.
        """
        limit = None if timeout is None else seconds(timeout, "timeout")
        ended = Flag()
        with self._lock:
            self._line.closing = True
            self._closers.append(ended)
            self._rouse(self._clock.monotonic())
            self._notice_end()
        self._start()
        if drain and not self._is_inside():
            drain = self._pause(ended, limit)
        if not drain:
            self._close_on_callers()
        if self._make_thread is None and ended.is_set():
            self._part()

    def _close_on_callers(self) -> None:
        left = self._give_up()
        answer_all([(caller, key, closed(self._function, key)) for caller, key in left])

    def _part(self) -> None:
        """Wait until the workers are gone, all of which have nothing to do but to end."""
        from threading import current_thread

        for thread in self._threads:
            if thread.is_alive() and thread is not current_thread():
                thread.join(PARTING)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close(drain=kind is None)

    def after_fork(self) -> None:
        """Start anew in a forked process, which has none of the threads: neither ours nor others.

        Raises nothing and waits for nothing.
        """
        self._lock = allocate_lock()  # a thread that is gone may have held the other one
        line, self._line = self._line, self._new_line()
        self._line.closing = line.closing
        self._leader = None
        self._summoned = self._unstarted = 0
        self._taken.clear()
        self._delivering.clear()
        self._idle.clear()
        self._closers.clear()
        self._threads.clear()
        for caller, key in line.give_up():
            caller.orphan(forked(self._function, key))

    def forget(self, answer: Answer) -> bool:
        """Let the caller go that cancels a future; tell whether it is the first to hear of it."""
        with self._lock:
            if answer.is_forgotten:
                return False
            answer.is_forgotten = True
        self._drop(answer, answer.key)
        return True

    def waiting(self, caller: Caller) -> Waiting:
        """Return a context in which a caller waits, perhaps in a call of its own batcher."""
        return Waiting(self, caller, CURRENT.get())

    def refuse_circle(self, caller: Caller) -> None:
        """Raise if a caller, in a call, would wait for ever."""
        with self._lock:
            if waits_for_itself(self._line, caller):
                raise circular(self._function, self._line)

    def place_of(self, caller: Caller) -> tuple[Line, Caller]:
        """Return what a call that waits for a caller has in its ``waits``."""
        return self._line, caller

    def wait_by_clock(self, event: Event, timeout: float | None) -> float | None:
        """Wait for an event if callers wait by the clock; return the timeout that is left."""
        if self._make_thread is None:
            return timeout
        self._pause(event, timeout)
        return 0.0

    def _load(self, key: Any, timeout: Duration | None, request: Any = None) -> Any:
        limit = None if timeout is None else seconds(timeout, "timeout")
        waiter = Waiter()
        self._join(waiter, key, request)
        try:
            answered = self._await(waiter, waiter, limit)
        except BaseException:
            self._leave(waiter, key)
            raise
        if not answered and self._leave(waiter, key):
            raise late(self._function, key, limit)
        outcome = waiter.outcome
        if isinstance(outcome, BaseException):
            raise private(outcome)
        return outcome

    def _submit(self, key: Any, request: Any = None) -> Answer:
        from .futures import Answer

        answer = Answer(self, key)
        if not self._join(answer, key, request):
            door = answer.door = Flag()
            if not (answer.is_admitted or answer.done()):
                try:
                    self._await(answer, door, None)
                except BaseException:
                    answer.cancel()
                    raise
        return answer

    def _join(self, caller: Caller, key: Any, request: Any) -> bool:
        """Let a caller join a window, or stand in line for one; tell which."""
        with self._lock:
            if self._line.closing:
                raise closed(self._function, key)
            now = self._clock.monotonic()
            joined = self._line.join(key, caller, now, request)
            if joined == JOINED:
                return True
            if joined == FULL:
                if self._limits.when_full == "raise":
                    raise full(self._function, self._line, key)
                self._line.stand_in_line(key, caller, request)
                return False
            self._rouse(now)
        if self._unstarted:
            self._start()
        return True

    def _await(self, caller: Caller, flag: Flag, limit: float | None) -> bool:
        if CURRENT.get() is None:
            return self._pause(flag, limit)
        with self.waiting(caller):
            return self._pause(flag, limit)

    def _pause(self, flag: Event, limit: float | None) -> bool:
        """Block until a flag is set, at most that many seconds; tell whether it is."""
        if self._make_thread is None:
            return flag.wait(limit)
        if limit is not None:
            return self._clock.wait(flag, limit)
        while not self._clock.wait(flag, MAX_DELAY):
            pass
        return True

    def _leave(self, waiter: Waiter, key: Any) -> bool:
        """Let a caller go that waits no more; tell whether it had no answer yet."""
        with self._lock:
            if waiter.done():
                return False
            waiter.outcome = None
        self._drop(waiter, key)
        return True

    def _drop(self, caller: Caller, *keys: Any) -> None:
        with self._lock:
            now = self._clock.monotonic()
            for key in keys:
                self._line.leave(key, caller, now)
            self._rouse(now)
            rejected = self._take_news()
            self._notice_end()
        answer_all(rejected)
        self._start()

    def _is_inside(self) -> bool:
        """Tell whether a call of this batcher asks."""
        return CURRENT.get() in self._line.flying
