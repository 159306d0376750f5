"""Waits in time that freezegun has frozen."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest
from freezegun import freeze_time
from freezegun.api import FrozenDateTimeFactory

from pollwait import (
    DEFAULT,
    ClockStalled,
    PollCancelled,
    PollTimeout,
    SystemClock,
    aio,
    decorrelated,
    exponential,
    fixed,
    poll,
)
from pollwait.testing._freezegun import AsyncFreezegunClock, FreezegunClock

NEW_YEAR = 1_704_067_200.0  # 2024-01-01


def never():
    """Return the value of a check that is not ready."""
    return False


def in_threads(function, count=1):
    """Call a function in so many threads, right below the thread's start; return the results."""
    results = []
    threads = [threading.Thread(target=lambda: results.append(function())) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.fixture
def slept(monkeypatch):
    """Let real sleeps take no time; the list of their lengths."""
    lengths = []
    monkeypatch.setattr(time, "sleep", lengths.append)
    monkeypatch.setattr(SystemClock, "wait", lambda _, event, left: lengths.append(left))
    return lengths


def test_freezegun_clock_moves_the_freeze():
    """A wait moves the time that everybody in the freeze sees, by what it sleeps."""
    with freeze_time("2024-01-01") as frozen:
        seen = []

        def check():
            seen.append(datetime.now(timezone.utc).replace(tzinfo=None) - datetime(2024, 1, 1))
            return False

        with pytest.raises(PollTimeout) as caught:
            poll(check, schedule=fixed(0.5), timeout=1.25, clock=FreezegunClock())
        assert [length.total_seconds() for length in seen] == [0, 0.5, 1, 1.25]
        assert caught.value.elapsed == 1.25
        assert frozen() == datetime(2024, 1, 1, 0, 0, 1, 250_000)


def test_freezegun_clock_reads_what_time_monotonic_shows():
    """The first reading is that of ``time.monotonic`` in the freeze, to the last bit."""
    for moment in ["2024-01-01 00:00:00.123457", "1969-12-31 23:59:59.999999", "9999-01-01"]:
        with freeze_time(moment):
            assert FreezegunClock().monotonic() == time.monotonic()


def test_freezegun_clock_works_under_the_decorator():
    """A decorated function, and a decorated test case, is a freeze like any other."""

    @freeze_time("2024-01-01", as_kwarg="frozen")
    def decorated(frozen):
        with pytest.raises(PollTimeout):
            poll(never, schedule=fixed(1), timeout=2, clock=FreezegunClock(frozen))
        return FreezegunClock(frozen).monotonic()

    @freeze_time("2024-01-01")
    class Case(unittest.TestCase):
        def test_wait(self):
            with pytest.raises(PollTimeout):
                poll(never, schedule=fixed(1), timeout=2, clock=FreezegunClock())
            assert time.monotonic() == NEW_YEAR + 2

    assert decorated() == NEW_YEAR + 2
    result = unittest.TestResult()
    Case("test_wait").run(result)
    assert result.wasSuccessful(), result.failures + result.errors


@pytest.mark.parametrize("given", [True, False])
def test_freezegun_clock_reads_the_same_in_worker_threads(given):
    """Right below a thread's start, where freezegun shows the real time, the clock does not."""
    with freeze_time("2024-01-01") as frozen:
        clock = FreezegunClock(frozen if given else None)
        assert in_threads(time.monotonic) != [NEW_YEAR]  # or there would be nothing to mend
        assert in_threads(clock.monotonic) == [NEW_YEAR]
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(clock.monotonic).result() == NEW_YEAR
            pool.submit(clock.sleep, 2).result()
        assert clock.monotonic() == NEW_YEAR + 2 == time.monotonic()


def test_freezegun_clock_polls_in_worker_threads():
    """A wait on a worker thread ends on time and moves the freeze of the main thread."""
    with freeze_time("2024-01-01"), ThreadPoolExecutor(1) as pool:
        wait = pool.submit(poll, never, schedule=fixed(1), timeout=2.5, clock=FreezegunClock())
        assert isinstance(wait.exception(), PollTimeout)
        assert time.monotonic() == NEW_YEAR + 2.5


@pytest.mark.parametrize("kind", [{}, {"auto_tick_seconds": 1e-6}])
def test_freezegun_clock_loses_no_move_of_threads(kind):
    """Moves from many threads, by many clocks, all count, each once."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with freeze_time("2024-01-01", **kind) as frozen:
            shared = FreezegunClock()

            def sleep_often():
                own = FreezegunClock(frozen)
                for _ in range(50):
                    shared.sleep(1)
                    own.sleep(1)

            in_threads(sleep_often, count=4)
            assert frozen().replace(microsecond=0) == datetime(2024, 1, 1, 0, 6, 40)
    finally:
        sys.setswitchinterval(interval)


def test_freezegun_clock_moves_one_at_a_time(monkeypatch):
    """Two clocks in two threads do not read the time before the other has written it."""
    arrived = threading.Event()

    def slow_tick(freeze, delta):
        before = freeze.time_to_freeze
        if arrived.is_set():
            arrived.clear()  # the second: the first has written already, or is about to be undone
        else:
            arrived.set()
            threading.Event().wait(0.005)
        freeze.time_to_freeze = before + delta

    monkeypatch.setattr(FrozenDateTimeFactory, "tick", slow_tick)
    with freeze_time("2024-01-01") as frozen:
        in_threads(lambda: FreezegunClock().sleep(1), count=2)
        assert frozen() == datetime(2024, 1, 1, 0, 0, 2)


def test_freezegun_clock_wait_returns_at_once_if_set():
    """An event that is set already moves nothing; one that is not takes the whole length."""
    event = threading.Event()
    with freeze_time("2024-01-01") as frozen:
        clock = FreezegunClock()
        assert not clock.wait(event, 2)
        assert frozen() == datetime(2024, 1, 1, 0, 0, 2)
        event.set()
        assert clock.wait(event, 2)
        assert frozen() == datetime(2024, 1, 1, 0, 0, 2)


def test_freezegun_clock_polls_with_a_cancel_event():
    """A cancel event that a check sets ends the wait before the next sleep."""
    cancel = threading.Event()
    with freeze_time("2024-01-01"):
        with pytest.raises(PollCancelled) as caught:
            poll(cancel.set, schedule=fixed(1), timeout=9, cancel=cancel, clock=FreezegunClock())
        assert (caught.value.attempts, time.monotonic()) == (1, NEW_YEAR)


def test_freezegun_clock_moves_the_innermost_freeze():
    """Without a freeze of its own the clock takes the innermost; with one, its own."""
    with freeze_time("2024-01-01") as outer:
        clock, bound = FreezegunClock(), FreezegunClock(outer)
        with freeze_time("2030-01-01") as inner:
            clock.sleep(1)
            assert inner() == datetime(2030, 1, 1, 0, 0, 1)
            bound.sleep(2)
        assert outer() == datetime(2024, 1, 1, 0, 0, 2)
        clock.sleep(1)
        assert outer() == datetime(2024, 1, 1, 0, 0, 3)


def test_freezegun_clock_counts_nothing_between_freezes():
    """A check that looks into another year does not bring the deadline, nor put it off."""
    with freeze_time("2024-01-01"):
        clock = FreezegunClock()

        def check():
            with freeze_time("2034-01-01"), pytest.raises(PollTimeout):
                poll(never, schedule=fixed(0.25), timeout=0.5, clock=clock)
            with freeze_time("2014-01-01"):
                clock.sleep(0.5)
            return False

        with pytest.raises(PollTimeout) as caught:
            poll(check, schedule=fixed(1), timeout=4, clock=clock)
        assert (caught.value.attempts, caught.value.elapsed) == (3, 5.0)


def test_freezegun_clock_never_steps_back():
    """A freeze that is moved back makes no time pass, and later moves count from there."""
    with freeze_time("2024-01-01") as frozen:
        clock = FreezegunClock()
        began = clock.monotonic()
        clock.sleep(5)
        frozen.move_to("2023-01-01")
        assert clock.monotonic() == began + 5
        clock.sleep(5)
        assert clock.monotonic() == began + 10
        frozen.move_to("2022-01-01")
        clock.sleep(5)
        frozen.tick(timedelta(days=-1))
        assert clock.monotonic() == began + 15
        assert frozen() == datetime(2021, 12, 31, 0, 0, 5)


def test_freezegun_clock_ends_waits_whose_check_moves_time_back():
    """A check that resets the date at each call cannot keep a wait from its deadline."""
    with freeze_time("2024-01-01") as frozen, pytest.raises(PollTimeout) as caught:
        poll(
            lambda: frozen.move_to("2024-01-01"),
            schedule=fixed(2),
            timeout=5,
            clock=FreezegunClock(),
        )
    assert (caught.value.attempts, caught.value.elapsed) == (4, 5.0)


def test_freezegun_clock_counts_what_the_test_moves():
    """A check that takes time, by moving the freeze, brings the deadline nearer."""
    with freeze_time("2024-01-01") as frozen, pytest.raises(PollTimeout) as caught:
        poll(lambda: frozen.tick(4) and None, schedule=fixed(1), timeout=9, clock=FreezegunClock())
    assert (caught.value.attempts, caught.value.elapsed) == (2, 9.0)


@pytest.mark.parametrize("seconds", [0, 0.0, timedelta()])
def test_freezegun_clock_does_not_move_for_nothing(seconds):
    """A sleep of no time leaves a plain freeze as it is."""
    with freeze_time("2024-01-01"):
        clock = FreezegunClock()
        clock.sleep(seconds)
        assert clock.monotonic() == NEW_YEAR


@pytest.mark.parametrize(("seconds", "moved"), [(1e-9, 1), (1.5e-6, 2), (0.3, 300_000)])
def test_freezegun_clock_counts_microseconds(seconds, moved):
    """A sleep is rounded to microseconds, but one of any length moves the time."""
    with freeze_time("2024-01-01") as frozen:
        FreezegunClock().sleep(seconds)
        assert frozen() - datetime(2024, 1, 1) == timedelta(microseconds=moved)


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf"), True, "1"])
def test_freezegun_clock_refuses_what_is_no_duration(seconds):
    """T1: a sleep of no sensible length is an error and moves nothing."""
    with freeze_time("2024-01-01"):
        with pytest.raises((TypeError, ValueError), match="seconds must be"):
            FreezegunClock().sleep(seconds)
        assert time.monotonic() == NEW_YEAR


def test_freezegun_clock_adds_to_a_ticking_freeze():
    """With tick=True sleeps move the time on top of what passes by itself, and none is lost."""
    with freeze_time("2024-01-01", tick=True) as frozen:
        clock = FreezegunClock()
        began = clock.monotonic()
        frozen.start -= timedelta(seconds=100)  # as if 100 s had passed by themselves
        clock.sleep(5)
        clock.sleep(5)
        assert 110 <= clock.monotonic() - began < 115
        assert 110 <= (frozen() - datetime(2024, 1, 1)).total_seconds() < 115
        with pytest.raises(PollTimeout) as caught:
            poll(never, schedule=fixed(30), timeout=60, clock=clock)
        assert 60 <= caught.value.elapsed < 65


def test_freezegun_clock_follows_auto_tick():
    """With auto_tick_seconds each reading moves the time, and sleeps are added."""
    with freeze_time("2024-01-01", auto_tick_seconds=15):
        clock = FreezegunClock()
        readings = [clock.monotonic() - NEW_YEAR for _ in range(3)]
        assert readings[0] < readings[1] < readings[2]
        assert [reading % 15 for reading in readings] == [0, 0, 0]
        clock.sleep(0)
        clock.sleep(100)
        # Other threads may read the time as well, and each reading counts.
        assert (clock.monotonic() - NEW_YEAR - 100) % 15 == 0
        with pytest.raises(PollTimeout):
            poll(never, schedule=fixed(1), timeout=60, clock=clock)


@pytest.mark.parametrize("use", [FreezegunClock.monotonic, lambda clock: clock.sleep(1)])
def test_freezegun_clock_needs_an_active_freeze(use):
    """Outside a freeze the clock says what to do; and so it does when its own freeze is over."""
    with pytest.raises(RuntimeError, match=r"no freeze is active: use FreezegunClock\(\) inside"):
        use(FreezegunClock())
    with freeze_time("2024-01-01") as frozen:
        clock = FreezegunClock(frozen)
    with pytest.raises(RuntimeError, match="the freeze of this clock is over: use FreezegunClock"):
        use(clock)
    with freeze_time("2024-01-01"), pytest.raises(RuntimeError, match="is over"):
        use(clock)


def test_freezegun_clock_of_a_thread_outlived_by_its_freeze_says_so():
    """A wait that goes on after the freeze has ended does not fall back to the real time."""
    go_on, in_check = threading.Event(), threading.Event()

    def check():
        in_check.set()
        assert go_on.wait(10)

    with ThreadPoolExecutor(1) as pool:
        with freeze_time("2024-01-01"):
            wait = pool.submit(poll, check, schedule=fixed(1), timeout=9, clock=FreezegunClock())
            assert in_check.wait(10)
        go_on.set()
        assert "no freeze is active" in str(wait.exception())


@pytest.mark.parametrize("wrong", [freeze_time("2024-01-01"), datetime(2024, 1, 1), "2024-01-01"])
def test_freezegun_clock_refuses_what_is_no_freeze(wrong):
    """What is not the freeze itself, such as the object before ``with``, is a TypeError."""
    with pytest.raises(TypeError, match="frozen must be what `with freeze_time"):
        FreezegunClock(wrong)


def test_freezegun_clock_shows_itself():
    """The repr says which freeze the clock moves."""
    assert repr(AsyncFreezegunClock()) == "AsyncFreezegunClock()"
    with freeze_time("2024-01-01") as frozen:
        assert repr(FreezegunClock(frozen)) == f"FreezegunClock({frozen!r})"


def test_freezegun_clock_says_what_to_install(monkeypatch):
    """Without freezegun the error names the command that installs it."""
    monkeypatch.setitem(sys.modules, "freezegun", None)
    monkeypatch.setitem(sys.modules, "freezegun.api", None)
    with pytest.raises(ImportError, match="pip install freezegun"):
        FreezegunClock()


def test_freezegun_is_not_imported_before_it_is_needed():
    """The module of the clocks does not load freezegun."""
    code = (
        "import sys, pollwait.testing._freezegun as m; assert 'freezegun' not in sys.modules;"
        "m.FreezegunClock(); assert 'freezegun' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=50)


def test_freezegun_clock_may_be_imported_inside_a_freeze():
    """A module that is first imported in frozen time works after it, too."""
    code = (
        "import freezegun\n"
        "with freezegun.freeze_time('2024-01-01'):\n"
        "    from pollwait.testing._freezegun import FreezegunClock\n"
        "    clock = FreezegunClock()\n"
        "    assert clock.monotonic() == 1704067200.0\n"
        "with freezegun.freeze_time('2020-01-01'):\n"
        "    clock.sleep(1.5)\n"
        "    assert clock.monotonic() == 1704067201.5\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=50)


@pytest.mark.parametrize(
    "schedule",
    [
        DEFAULT,
        fixed(0.25),
        fixed(1),
        fixed(3),
        exponential(0.5, factor=1.5).after(1.25),
        exponential(0.01).cap(0.1),
        decorrelated(1, cap=20),
        fixed(1).jitter("full"),
        fixed(1).from_start(),
    ],
    ids=str,
)
@pytest.mark.parametrize("cancel", [None, threading.Event()], ids=["sleep", "wait"])
def test_a_plain_freeze_is_an_error(slept, schedule, cancel):
    """A wait on the system's clock, frozen, ends in an error that names the clock to use."""
    with (
        freeze_time("2024-01-01"),
        pytest.raises(ClockStalled, match=r"clock=pollwait\.testing\.FreezegunClock\(\)"),
    ):
        poll(never, schedule=schedule, timeout=600, cancel=cancel, rng=random.Random(7))
    assert len(slept) >= 3
    assert 1 < sum(slept) < 16


def test_a_plain_freeze_is_an_error_without_a_deadline(slept):
    """A wait that may last for ever is stopped as well."""
    with freeze_time("2024-01-01"), pytest.raises(ClockStalled):
        poll(never, schedule=fixed(1), timeout=None)


def test_a_plain_freeze_that_the_check_moves_is_none(slept):
    """A test that moves the freeze by itself, at each check, gets its timeout."""
    with freeze_time("2024-01-01") as frozen, pytest.raises(PollTimeout):
        poll(lambda: frozen.tick(0.5) and None, schedule=fixed(1), timeout=9)


@pytest.mark.parametrize("kind", [{"tick": True}, {"auto_tick_seconds": 0.5}], ids=str)
def test_a_freeze_that_moves_by_itself_needs_no_clock(monkeypatch, kind):
    """With tick=True or auto_tick_seconds the system's clock goes on, and sleeps are real."""
    with freeze_time("2024-01-01", **kind) as frozen:
        # Stands for the time that really passes in a sleep.
        monkeypatch.setattr(time, "sleep", lambda left: frozen.tick(timedelta(seconds=left)))
        with pytest.raises(PollTimeout) as caught:
            poll(never, schedule=fixed(5), timeout=20)
    assert 19.9 < caught.value.elapsed < 30  # each move of a ticking freeze loses some


def test_async_freezegun_clock_moves_the_freeze():
    """A wait on an event loop in frozen time ends on time, and timers of the loop fire."""

    async def main():
        timer = asyncio.create_task(asyncio.sleep(4, "fired"))
        await asyncio.sleep(0)
        with pytest.raises(PollTimeout) as caught:
            await aio.poll(never, schedule=fixed(1), timeout=5.5, clock=AsyncFreezegunClock())
        return caught.value.attempts, await timer

    with freeze_time("2024-01-01") as frozen:
        assert asyncio.run(main()) == (7, "fired")
        assert frozen() == datetime(2024, 1, 1, 0, 0, 5, 500_000)


def test_async_freezegun_clock_lets_others_run():
    """Each sleep gives the other tasks a turn, so that one of them can be what is waited for."""

    async def main():
        ready = []

        async def work():
            for _ in range(3):
                await asyncio.sleep(0)
            ready.append(True)

        task = asyncio.create_task(work())
        clock = AsyncFreezegunClock()
        await aio.poll(lambda: ready, schedule=fixed(1), timeout=60, clock=clock)
        await task

    with freeze_time("2024-01-01"):
        asyncio.run(main())
        assert time.monotonic() < NEW_YEAR + 10


def test_async_freezegun_clock_waits_for_an_event():
    """An event ends a wait before the next sleep, and a sleep that it comes in is slept in full."""

    async def main():
        cancel = asyncio.Event()
        clock = AsyncFreezegunClock()
        asyncio.get_running_loop().call_soon(cancel.set)
        assert await clock.wait(cancel, 2)
        assert await clock.wait(cancel, 2)
        with pytest.raises(PollCancelled):
            await aio.poll(never, schedule=fixed(1), timeout=9, cancel=cancel, clock=clock)

    with freeze_time("2024-01-01"):
        asyncio.run(main())
        assert time.monotonic() == NEW_YEAR + 2


def test_async_freezegun_clock_works_on_trio():
    """On trio the clock yields to trio."""
    trio = pytest.importorskip("trio")

    async def main():
        with pytest.raises(PollTimeout):
            await aio.poll(never, schedule=fixed(1), timeout=5, clock=AsyncFreezegunClock())

    with freeze_time("2024-01-01"):
        trio.run(main)
        assert time.monotonic() == NEW_YEAR + 5


def test_async_freezegun_clock_needs_an_active_freeze():
    """Outside a freeze the clock says what to do."""
    with pytest.raises(RuntimeError, match="no freeze is active: use AsyncFreezegunClock"):
        asyncio.run(AsyncFreezegunClock().sleep(1))
