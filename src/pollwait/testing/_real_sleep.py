"""Real sleeps as errors: what the marker ``no_real_sleep`` of the pytest plugin does."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

from .._aio.backend import AsyncioBackend
from .._clock import SystemClock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from typing_extensions import Self

    from .._clock import AsyncEvent, Event

# `subprocess` sleeps between two looks at a process that it waits for, which is no nap.
_MAY_SLEEP = frozenset({"subprocess"})

# Whose lines nobody looks for who looks for a sleep of his own.
_PASSED_OVER = frozenset({"asyncio", "pollwait"})

_ON_THREADS = (
    "let it wait on another clock, such as clock=pollwait.testing.FakeClock() (the fixture"
    " fake_clock)"
)
_ON_LOOPS = "run it by pollwait.testing.run or the fixture virtual_loop"
_MEANT = "where the sleep is meant, mark the test with @pytest.mark.no_real_sleep(enabled=False)"


class RealSleepGuard:
    """Makes real sleeps errors while its ``with`` block runs.

    Guarded are ``time.sleep`` and, on a loop with real time, ``asyncio.sleep``, also where a module
    has imported them by name; and the waits for an event by which a poll with ``cancel`` sleeps. A
    sleep of no length passes, and so do the threads that ran before.

    Not guarded are waits with a timeout (``Event.wait``, ``Queue.get``, ``Future.result``): there
    it is mostly a limit that is not meant to be reached.

    Attributes:
        active: the block runs; a guard that a monkeypatch has put back later does nothing.
        found: a sentence about each sleep.
    """

    def __init__(self) -> None:
        self.active = False
        self.found: list[str] = []
        self._old_threads: frozenset[threading.Thread] = frozenset()
        self._put: list[tuple[Any, str, Any, Any]] = []

    def __enter__(self) -> Self:
        self._old_threads = frozenset(threading.enumerate()) - {threading.current_thread()}
        for owner, name, original, guarded in list(self._places()):
            setattr(owner, name, guarded)
            self._put.append((owner, name, original, guarded))
        self.active = True
        return self

    def __exit__(self, *_: object) -> None:
        self.active = False
        for owner, name, original, guarded in self._put:
            if getattr(owner, name) is guarded:
                setattr(owner, name, original)
        self._put.clear()

    def _places(self) -> Iterator[tuple[Any, str, Any, Any]]:
        """Yield all that is to be replaced: where it is, its name, what it is, and by what."""
        for sleep, guarding_sleep in (
            (time.sleep, self._sleep),
            (asyncio.sleep, self._async_sleep),
        ):
            original = _bare(sleep)
            guarded = self._mark(guarding_sleep(original), original)
            for module in list(sys.modules.values()):
                if _bare(getattr(module, "__dict__", {}).get("sleep")) is original:
                    yield module, "sleep", original, guarded
        for owner, guarding_wait in (
            (SystemClock, self._wait),
            (AsyncioBackend, self._async_wait),
        ):
            original = _bare(owner.wait)
            yield owner, "wait", original, self._mark(guarding_wait(original), original)

    def _mark(self, guarded: Any, original: Any) -> Any:
        guarded = wraps(original)(guarded)
        guarded.guard = self
        return guarded

    def _sleep(self, sleep: Callable[..., Any]) -> Callable[..., Any]:
        def guarded_sleep(seconds: float, /) -> None:
            __tracebackhide__ = True
            if self._forbids(seconds) and _caller() not in _MAY_SLEEP:
                self._fail(f"time.sleep({seconds!r})", _ON_THREADS)
            sleep(seconds)

        return guarded_sleep

    def _wait(self, wait: Callable[..., Any]) -> Callable[..., Any]:
        def guarded_wait(clock: SystemClock, event: Event, seconds: float) -> Any:
            __tracebackhide__ = True
            if self._forbids(seconds) and not event.is_set():
                self._fail(f"a wait of {seconds!r} s for a cancel event", _ON_THREADS)
            return wait(clock, event, seconds)

        return guarded_wait

    def _async_sleep(self, sleep: Callable[..., Any]) -> Callable[..., Any]:
        async def guarded_sleep(delay: float, result: Any = None) -> Any:
            __tracebackhide__ = True
            if self._forbids(delay) and _has_real_time():
                self._fail(f"asyncio.sleep({delay!r}) on a loop with real time", _ON_LOOPS)
            return await sleep(delay, result)

        return guarded_sleep

    def _async_wait(self, wait: Callable[..., Any]) -> Callable[..., Any]:
        async def guarded_wait(backend: AsyncioBackend, event: AsyncEvent, seconds: float) -> Any:
            __tracebackhide__ = True
            if self._forbids(seconds) and not event.is_set() and _has_real_time():
                what = f"a wait of {seconds!r} s for a cancel event on a loop with real time"
                self._fail(what, _ON_LOOPS)
            return await wait(backend, event, seconds)

        return guarded_wait

    def _forbids(self, seconds: Any) -> bool:
        try:
            sleeps = bool(seconds > 0)
        except TypeError:  # no number at all: what is guarded says so
            return False
        return sleeps and self.active and threading.current_thread() not in self._old_threads

    def _fail(self, what: str, remedy: str) -> None:
        """Fail the test: by what is raised here, or in the end if that goes no further."""
        __tracebackhide__ = True
        self.found.append(f"a real sleep, {what}, {_call_site()}: {remedy}; {_MEANT}")
        pytest.fail(self.found[-1])


def _bare(function: Any) -> Any:
    """Take off the guards that are over: a monkeypatch made under one has put it back."""
    while (guard := getattr(function, "guard", None)) is not None and not guard.active:
        function = function.__wrapped__
    return function


def _has_real_time() -> bool:
    """Tell whether the running loop is asyncio's own in what its time is, or is none of asyncio."""
    loop = asyncio.get_running_loop()
    return (
        not isinstance(loop, asyncio.BaseEventLoop) or type(loop).time is asyncio.BaseEventLoop.time
    )


def _caller() -> str:
    """Return the module of what called the function that asks."""
    frame = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    return str(frame.f_globals.get("__name__"))


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__")).partition(".")[0]


def _call_site() -> str:
    """Say where the sleep comes from: the innermost line that is neither pollwait's nor asyncio's.

    A coroutine that a task runs by itself has no such line; then it is where the loop was run.
    """
    frame = sys._getframe(3)  # pyright: ignore[reportPrivateUsage]
    while (back := frame.f_back) and _package(frame) in _PASSED_OVER:
        frame = back
    code = frame.f_code
    return f"in {code.co_name} ({code.co_filename}:{frame.f_lineno})"
