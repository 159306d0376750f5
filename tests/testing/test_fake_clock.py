"""A clock whose time moves when a lone thread sleeps, or when somebody advances it."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from pollwait import PollCancelled, fixed, poll
from pollwait.testing import Deadlock, FakeClock

NOT_A_DURATION = [-1, float("nan"), float("inf"), True, "5"]


@pytest.fixture
def clock():
    """Return a clock that only ``advance`` moves."""
    return FakeClock(auto=False)


@pytest.fixture
def spawn(clock):
    """Start a function in an ordinary thread and wait until it sleeps on the clock."""
    threads = []

    def start(function):
        thread = threading.Thread(target=function)
        threads.append(thread)
        thread.start()
        clock.wait_for_sleepers(len(threads))
        return thread

    yield start
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()


def sleeper(clock, log, name, *lengths):
    """Return a function that sleeps again and again, and logs when it wakes."""

    def sleep():
        for length in lengths:
            clock.sleep(length)
            log.append((name, clock.monotonic()))

    return sleep


def test_sleep_moves_the_time_at_once():
    """A lone thread's sleep takes no time but the clock's own."""
    clock = FakeClock(2.5)
    clock.sleep(3)
    clock.sleep(timedelta(seconds=0.25))
    assert clock.monotonic() == 5.75
    assert clock.sleeps == [3.0, 0.25]


def test_wait_takes_the_seconds_until_its_event():
    """A wait ends when a call sets its event, counts what it took, and counts nothing if set."""
    clock, event = FakeClock(), threading.Event()
    assert not clock.wait(event, 1)
    clock.call_at(1.25, lambda: None)
    clock.call_at(1.5, event.set)
    assert clock.wait(event, 10)
    assert clock.wait(event, 10)
    assert (clock.monotonic(), clock.sleeps) == (1.5, [1.0, 0.5])


def test_advance_makes_calls_and_is_no_sleep():
    """The calls that are due meanwhile are made at their times, in order; nothing was slept."""
    clock, times = FakeClock(), []
    for when in (3, 1, 1, 9):
        clock.call_at(when, lambda when=when: times.append((when, clock.monotonic())))
    clock.advance(5)
    assert times == [(1, 1.0), (1, 1.0), (3, 3.0)]
    assert (clock.monotonic(), clock.sleeps) == (5.0, [])


def test_call_may_move_the_time_and_time_never_steps_back():
    """A call that sleeps for longer than the sleep it is made in ends later, and that counts."""
    clock = FakeClock()
    clock.call_at(1, lambda: clock.sleep(10))
    clock.sleep(5)
    assert (clock.monotonic(), clock.sleeps) == (11.0, [10.0, 5.0])


@pytest.mark.parametrize("value", NOT_A_DURATION)
@pytest.mark.parametrize("auto", [True, False])
def test_durations_are_checked(value, auto):
    """What is no duration is refused by name, whatever the clock's mode."""
    clock = FakeClock(auto=auto)
    for method in (clock.sleep, clock.advance, lambda it: clock.wait(threading.Event(), it)):
        with pytest.raises((TypeError, ValueError), match="seconds must be"):
            method(value)
    with pytest.raises((TypeError, ValueError), match="timeout must be"):
        clock.wait_for_sleepers(1, timeout=value)
    assert clock.sleeps == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "5", None])
def test_readings_are_checked(value):
    """A start and the time of a call must be finite numbers."""
    with pytest.raises(ValueError, match="start must be a finite number of seconds: got start="):
        FakeClock(value)
    with pytest.raises(ValueError, match="when must be a finite number of seconds: got when="):
        FakeClock().call_at(value, print)


@pytest.mark.parametrize("value", [0, *NOT_A_DURATION])
def test_watchdog_is_checked(value):
    """The watchdog's patience is a duration above 0."""
    with pytest.raises((TypeError, ValueError), match="watchdog must be"):
        FakeClock(watchdog=value)


def test_repr_evaluates_back():
    """The repr shows the time as the start of an equal clock, and the mode if it is not usual."""
    clock = FakeClock()
    clock.sleep(2)
    assert repr(clock) == "FakeClock(start=2.0)"
    assert repr(FakeClock(auto=False)) == "FakeClock(start=0.0, auto=False)"


def test_advance_wakes_each_sleeper_at_its_own_time(clock, spawn):
    """Sleepers wake in the order of (time, arrival), read their own times, and wake again."""
    log = []
    spawn(sleeper(clock, log, "a", 2, 2, 2))
    spawn(sleeper(clock, log, "b", 3, 3))
    clock.advance(7)
    assert log == [("a", 2.0), ("b", 3.0), ("a", 4.0), ("b", 6.0), ("a", 6.0)]
    assert clock.monotonic() == 7.0
    assert clock.sleeps == [2.0, 3.0, 2.0, 3.0, 2.0]


def test_advance_wakes_whoever_is_due_at_its_end(clock, spawn):
    """A sleep that ends exactly when the advance does is over when that returns."""
    log = []
    spawn(sleeper(clock, log, "a", 1, 1, 1))
    clock.advance(2)
    assert log == [("a", 1.0), ("a", 2.0)]
    clock.advance(1)


def test_advance_falls_short_of_a_sleeper(clock, spawn):
    """A sleeper whose time has not come sleeps on."""
    log = []
    spawn(sleeper(clock, log, "a", 2))
    clock.advance(1.75)
    assert log == []
    clock.advance(0.25)
    assert log == [("a", 2.0)]


def test_woken_thread_has_its_time_until_it_sleeps_again(clock, spawn):
    """Time waits for a woken thread that is a little slow in real time."""
    log = []

    def slow():
        for _ in range(2):
            clock.sleep(1)
            threading.Event().wait(0.01)
            log.append(clock.monotonic())

    spawn(slow)
    clock.advance(5)
    assert log == [1.0, 2.0]


def test_advance_does_not_wait_for_ever_for_a_thread_that_blocks(clock, spawn):
    """A woken thread that blocks on something real holds the time up only for a moment."""
    gate, log = threading.Event(), []

    def block():
        clock.sleep(1)
        gate.wait()
        log.append(clock.monotonic())

    spawn(block)
    clock.advance(5)
    assert (clock.monotonic(), log) == (5.0, [])
    gate.set()


def test_sleep_of_no_length_needs_no_advance(clock):
    """Sleeping for 0 seconds returns at once, also where only an advance moves the time."""
    clock.sleep(0)
    assert not clock.wait(threading.Event(), 0)
    assert clock.sleeps == [0.0, 0.0]


def test_poll_runs_under_control(clock, spawn):
    """A wait in another thread makes its checks as the test advances the time."""
    times, stop = [], threading.Event()

    def check():
        times.append(clock.monotonic())
        return False

    def wait():
        with pytest.raises(PollCancelled):
            poll(check, schedule=fixed(2), timeout=60, cancel=stop, clock=clock)

    thread = spawn(wait)
    assert times == [0.0]
    clock.advance(5)
    assert times == [0.0, 2.0, 4.0]
    stop.set()
    thread.join(5)
    assert (times, clock.monotonic()) == ([0.0, 2.0, 4.0], 5.0)


def test_wait_for_sleepers_says_who_is_there(clock, spawn):
    """Too few sleepers in the real time given are an error that names them."""

    def nap():
        threading.current_thread().name = "napper"
        clock.sleep(3)

    spawn(nap)
    with pytest.raises(TimeoutError, match=r"1 of 2 sleepers after 0.01 .*'napper' sleeps until 3"):
        clock.wait_for_sleepers(2, timeout=0.01)
    clock.advance(3)


@pytest.mark.parametrize("number", [0, -1, True, 1.0])
def test_wait_for_sleepers_wants_a_count(clock, number):
    """The number of sleepers is an int from 1 up."""
    with pytest.raises((TypeError, ValueError), match="number must be"):
        clock.wait_for_sleepers(number)


def test_sleeper_whom_nobody_wakes_gets_an_error():
    """A sleep without anybody's advance ends with an error, and the clock is as good as before."""
    clock = FakeClock(auto=False, watchdog=0.02)
    with pytest.raises(Deadlock, match=r"advance\(\).*'MainThread' sleeps until 3\.0"):
        clock.sleep(3)
    assert (clock.monotonic(), clock.sleeps) == (0.0, [])
    clock.advance(1)
    assert clock.monotonic() == 1.0
