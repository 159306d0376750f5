"""A clock whose time moves only when somebody sleeps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from .._core.callables import refuse_coroutine_function, refuse_generator_function
from .._core.duration import at_least_one
from .._core.duration import seconds as in_seconds
from ._threads import ClockThread, Registration, run
from ._turns import Turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .._clock import Event
    from .._core.duration import Duration

T = TypeVar("T")


class FakeClock:
    """A clock for tests: sleeping costs no time, and what happens is the same in every run.

    Pass it as ``clock`` to whatever waits. Code that reads ``time.monotonic`` or calls
    ``time.sleep`` by itself does not see it; under freezegun, which has a time of its own, use
    ``FreezegunClock``.

    One thread: a sleep moves the time and returns at once.

    Several threads: start them by ``run`` or ``thread``, or let them enter ``registered``. These
    registered threads take turns. One runs until it sleeps or ends, then the next; the time moves
    only when all of them sleep, and then wakes one at a time, in the order of (time due, order of
    arrival). So they run in the same order in every run, and a run in which all wait for each other
    ends with a ``Deadlock`` that names them.

    Time under control: with ``auto=False`` whoever sleeps blocks until another thread calls
    ``advance``.

    Threads that are not registered may use the clock too. Once such a thread is woken, nothing else
    happens until it sleeps again or ends, or a tenth of a second of real time has passed; but what
    it does before its first sleep, and after that tenth, runs free. So a test that must not depend
    on chance registers its threads.

    Args:
        start: the first reading, in seconds.
        auto: whether time moves by itself when all sleep.
        watchdog: real seconds for which the clock may be at a standstill, because a registered
            thread is blocked on something that is not this clock (a lock, a queue, ``join``, a real
            sleep), or because nobody calls ``advance``. After that all who sleep get a
            ``Deadlock``. Raise it to step through a test in a debugger.

    Raises:
        TypeError, ValueError: an argument is not as above.

    Example:
        >>> from pollwait import fixed, poll
        >>> clock = FakeClock()
        >>> poll(lambda: clock.monotonic() >= 5, schedule=fixed(2), timeout=60, clock=clock)
        True
        >>> clock.sleeps
        [2.0, 2.0, 2.0]
    """

    def __init__(self, start: float = 0.0, *, auto: bool = True, watchdog: Duration = 10.0) -> None:
        limit = in_seconds(watchdog, "watchdog")
        if not limit:
            raise ValueError(f"watchdog must be > 0 seconds: got watchdog={watchdog!r}")
        self._turns = Turns(_reading(start, "start"), auto=auto, watchdog=limit)

    @property
    def sleeps(self) -> list[float]:
        """The seconds of each sleep so far, over all threads, in the order in which they ended.

        A wait for an event counts as a sleep of the time that it took; one for an event that was
        set already counts as none. Sleeps that an error ended are left out, and so are ``advance``
        and ``join``.
        """
        return self._turns.sleeps

    def monotonic(self) -> float:
        """Return the time, in seconds."""
        return self._now

    def sleep(self, seconds: Duration) -> None:
        """Sleep for that many seconds of this clock; 0 lets those run whose time has come.

        Raises:
            Deadlock: nobody can go on, or nobody has for as long as ``watchdog`` says. The thread
                should end: a registered one gets this error from every further sleep.
            ClockStalled: threads sleep for 0 seconds again and again.
        """
        duration = in_seconds(seconds, "seconds")
        if self._turns.alone():
            self.advance(duration)
            self.sleeps.append(duration)
        else:
            self._turns.block(self._turns.current(), "sleep", duration)

    def wait(self, event: Event, seconds: Duration) -> bool:
        """Sleep for that many seconds, or until the event is set; tell whether it is.

        That the event is set is noticed when the thread that has set it sleeps or ends. One that is
        set and cleared in between is missed. When only threads outside can set it, real time
        decides: set it before the others sleep, or let them wait for ``MAX_DELAY``, which on
        registered threads means for ever.

        Args:
            event: a ``threading.Event``, or anything else with ``is_set``.
            seconds: the most seconds to wait.

        Raises:
            Deadlock, ClockStalled: as ``sleep`` does.
        """
        duration = in_seconds(seconds, "seconds")
        if event.is_set():
            return True
        if self._turns.alone():
            return self._wait_alone(event, duration)
        return self._turns.block(self._turns.current(), "wait", duration, event) or event.is_set()

    def advance(self, seconds: Duration) -> None:
        """Move the time, and wake each sleeper and make each call at its own time meanwhile.

        It returns at the end of these seconds, when all whose time has come have been woken; one
        who sleeps again is woken again. With threads that take turns it acts as a sleep that does
        not count, so a check may call it to say how long it takes.

        Raises:
            Deadlock, ClockStalled: as ``sleep`` does.
        """
        duration = in_seconds(seconds, "seconds")
        if not self._turns.alone():
            self._turns.block(self._turns.current(), "advance", duration)
            return
        end = self._now + duration
        while self._call_next(end):
            pass
        self._turns.move_to(end)

    def call_at(self, when: float, function: Callable[[], object]) -> None:
        """Have a function called when the time reaches ``when``, in the midst of a sleep or not.

        It is called in the thread that moves the time, before those whose sleep ends then. What it
        raises comes out of that thread's sleep. It may not sleep itself while threads take turns.

        Args:
            when: a reading of this clock, in seconds; one that has passed is due at the next move.
            function: what to call, such as the ``set`` of a ``threading.Event``. Calls that are due
                at the same time happen in the order in which they were asked for.
        """
        with self._turns.lock:
            self._turns.roster.call_at(_reading(when, "when"), function)

    def run(self, *functions: Callable[[], T]) -> list[T]:
        """Run each function in a registered thread, and wait until all have ended.

        They begin in the order given. It also waits for the threads that they start by ``thread``,
        daemons excepted. When a function raises, the others are released: their sleep, or their
        next one, ends with an error that is no ``Exception``.

        Args:
            functions: what to run, called without arguments.

        Returns:
            What the functions returned, in their order.

        Raises:
            BaseException: the first one that a function raised, as it is. What others raise on
                their way out is noted on it.
            Deadlock: nobody can go on, or a function has not come back to the clock for as long as
                ``watchdog`` says. That one's thread is left behind as a daemon.
            RuntimeError: called by a registered thread, or while another run is on.

        Example:
            >>> clock = FakeClock()
            >>> def nap(seconds):
            ...     clock.sleep(seconds)
            ...     return clock.monotonic()
            >>> clock.run(lambda: nap(2), lambda: nap(1))
            [2.0, 1.0]
        """
        for function in functions:
            refuse_generator_function(function, "function")
            refuse_coroutine_function(function, "function")
        return run(self._turns, functions)

    def thread(
        self,
        target: Callable[..., object] | None = None,
        *,
        name: str | None = None,
        args: Iterable[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
        daemon: bool = False,
    ) -> ClockThread:
        """Make a thread that is registered from the moment at which it is started.

        It takes the place of ``threading.Thread`` in code under test, by being passed in or
        patched. Its ``join`` waits on this clock. Its errors go where those of other threads go.

        Args:
            target: what to run.
            name: what reports call it; by default the name of the target.
            args: the target's arguments.
            kwargs: the target's keyword arguments.
            daemon: the time does not move for this thread alone: it rests when all others have
                ended. Give this to workers that loop for ever.

        Returns:
            The thread, not started.
        """
        return ClockThread(self._turns, target, args, kwargs, name=name, daemon=daemon)

    def registered(self, name: str | None = None) -> Registration:
        """Register the calling thread for the duration of a ``with`` block.

        The place is held from this call on, not only from the start of the block. So for a job of a
        pool, call it where the job is submitted, and enter it in the job. Threads that are still
        there when the block ends go on without it.

        Args:
            name: what reports call the thread; by default the name of the calling one.

        Returns:
            A context manager, to be entered once, in any thread.
        """
        return Registration(self._turns, name)

    def wait_for_sleepers(self, number: int, timeout: Duration = 5.0) -> None:
        """Block until that many threads sleep or wait on this clock.

        Threads that are not registered come to the clock when they like; this waits for them, in a
        test as well as in a registered thread, whose turn it is meanwhile.

        Args:
            number: how many, from 1 up.
            timeout: the most real seconds to block.

        Raises:
            TimeoutError: too few have come; the text names them.
        """
        least = at_least_one(number, "number")
        self._turns.arrivals.expect(least, in_seconds(timeout, "timeout"))

    @property
    def _now(self) -> float:
        return self._turns.roster.now

    def _wait_alone(self, event: Event, duration: float) -> bool:
        began = self._now
        while self._call_next(began + duration):
            if event.is_set():
                self.sleeps.append(self._now - began)
                return True
        self._turns.move_to(began + duration)
        self.sleeps.append(duration)
        return event.is_set()

    def _call_next(self, end: float) -> bool:
        """Move the time to the next call that is due by ``end`` and make it, if there is one."""
        with self._turns.lock:
            function = self._turns.roster.take_call(end)
        if function is None:
            return False
        function()
        return True

    def __repr__(self) -> str:
        mode = "" if self._turns.auto else ", auto=False"
        return f"FakeClock(start={self._now!r}{mode})"


def _reading(value: float, what: str) -> float:
    if type(value) is bool or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(f"{what} must be a finite number of seconds: got {what}={value!r}")
    return float(value)
