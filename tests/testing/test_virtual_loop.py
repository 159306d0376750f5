"""VirtualTimeLoop: when its time moves, in what order timers fire, what it says when stuck."""

from __future__ import annotations

import asyncio
import math
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait import ClockStalled, aio, exponential, fixed
from pollwait.testing import Deadlock, VirtualTimeLoop, _virtual_loop, run

from_3_11 = pytest.mark.skipif(sys.version_info < (3, 11), reason="new in Python 3.11")


@pytest.fixture
def loop():
    """Make a loop and close it."""
    loop = VirtualTimeLoop()
    yield loop
    loop.close()


def now():
    """Return the time of the running loop."""
    return asyncio.get_running_loop().time()


async def sleep_and_tell(seconds):
    """Sleep and return the time at which the sleep ended."""
    await asyncio.sleep(seconds)
    return now()


def fired(loop, *times, until):
    """Set timers in the given order and return (index, time) as they fire."""
    log = []
    for index, when in enumerate(times):
        loop.call_at(when, lambda index=index: log.append((index, loop.time())))
    loop.call_at(until, loop.stop)
    loop.run_forever()
    return log


# --- what the time is


def test_time_starts_at_zero_and_stands_still_while_callbacks_run(loop):
    """The first reading is 0, and running code takes no time."""

    async def busy():
        for _ in range(100):
            await asyncio.sleep(0)

    assert loop.time() == 0.0
    loop.run_until_complete(busy())
    assert loop.time() == 0.0


@pytest.mark.parametrize("seconds", [0.25, 0.1, 3600, 90_000.5, 1e9])
def test_time_after_a_sleep_is_exact(loop, seconds):
    """A sleep ends at its own time to the last bit, also beyond a day, and takes a plain float."""
    assert loop.run_until_complete(sleep_and_tell(seconds)) == seconds
    assert type(loop.time()) is float


@pytest.mark.parametrize(("start", "when"), [(381.2, 939.15), (247.07, 906.58)])
def test_time_at_a_timer_is_the_timers_own_time(loop, start, when):
    """The time is taken from the timer, not added up: start + (when - start) is another number."""
    assert start + (when - start) != when
    loop.call_at(start, int)
    assert fired(loop, when, until=1000) == [(0, when)]


def test_time_goes_on_from_run_to_run(loop):
    """A second run of the loop starts where the first one ended."""
    loop.run_until_complete(asyncio.sleep(2))
    assert loop.run_until_complete(sleep_and_tell(0.5)) == 2.5


@pytest.mark.parametrize("start", [0.0, 1.0, 1e9])
def test_timers_fire_at_their_own_time_however_close(loop, start):
    """Timers a bit apart, less than any clock resolves, fire one after the other, none early."""
    after = math.nextafter(start, math.inf)
    log = fired(loop, math.nextafter(after, math.inf), after, start, until=start + 1)
    assert log == [(2, start), (1, after), (0, math.nextafter(after, math.inf))]


@given(st.lists(st.floats(0, 1e12) | st.sampled_from([0.0, 0.25, 0.5]), max_size=30))
def test_timers_fire_in_order_of_time_then_of_setting(times):
    """Timers fire by time, those of one time as they were set, and each reads its own time."""
    loop = VirtualTimeLoop()
    log = fired(loop, *times, until=2e12)
    loop.close()
    assert log == sorted(enumerate(times), key=lambda timer: timer[1])


def test_timers_of_one_instant_fire_as_they_were_set(loop):
    """However many timers are set for one instant, they keep their order."""
    assert fired(loop, *[7.5] * 20_000, until=8) == [(index, 7.5) for index in range(20_000)]


def test_timers_in_the_past_fire_at_once(loop):
    """A timer for a time that has passed fires now: time never steps back."""
    loop.run_until_complete(asyncio.sleep(10))
    assert fired(loop, 10, 5, 10.5, until=11) == [(1, 10.0), (0, 10.0), (2, 10.5)]


def test_timers_that_are_cancelled_move_nothing(loop):
    """Time does not jump to a timer that was cancelled, wherever it stands among the others."""
    handles = [loop.call_at(when, pytest.fail) for when in range(1, 200)]
    for handle in handles:
        handle.cancel()
    assert fired(loop, 150.5, until=150.75) == [(0, 150.5)]
    assert loop.time() == 150.75


def test_timer_set_by_the_callback_of_its_own_instant_fires_in_it(loop):
    """What a callback sets for the present fires in the present, after those that were due."""
    log = []
    loop.call_at(1, lambda: loop.call_later(0, lambda: log.append(("late", loop.time()))))
    loop.call_at(1, lambda: log.append(("due", loop.time())))
    loop.call_at(1.25, loop.stop)
    loop.run_forever()
    assert log == [("due", 1.0), ("late", 1.0)]


def test_order_of_events_is_the_same_in_every_run():
    """Tasks, timers and queues interleave in one way only."""

    async def scenario():
        log, queue = [], asyncio.Queue(3)

        async def producer(name):
            for step in range(20):
                await asyncio.sleep(0.25 * (step % 3))
                await queue.put((name, step))

        async def consumer(name):
            while True:
                log.append((now(), name, await queue.get()))
                await asyncio.sleep(0.125)

        consumers = [asyncio.create_task(consumer(name)) for name in "xyz"]
        await asyncio.gather(*(producer(name) for name in "abcdef"))
        for task in consumers:
            task.cancel()
        return log

    first = run(scenario())
    assert len(first) > 100
    assert all(run(scenario()) == first for _ in range(19))


# --- what asyncio builds on it


def test_wait_for_times_out_at_its_deadline():
    """A wait for something that does not come ends exactly at the timeout."""

    async def scenario():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), timeout=2.5)
        return now()

    assert run(scenario()) == 2.5


@from_3_11
def test_timeout_and_task_group_end_on_time():
    """A timeout around a task group cancels its tasks at the deadline."""

    async def scenario():
        ends = []

        async def child(seconds):
            try:
                await asyncio.sleep(seconds)
            finally:
                ends.append(now())

        async def family():
            async with asyncio.timeout(5), asyncio.TaskGroup() as group:
                for seconds in (1, 3, 10, math.inf):
                    group.create_task(child(seconds))

        with pytest.raises(TimeoutError):
            await family()
        return ends

    assert run(scenario()) == [1.0, 3.0, 5.0, 5.0]


@from_3_11
@pytest.mark.parametrize("debug", [False, True])
def test_loop_serves_a_runner(debug):
    """``asyncio.Runner`` takes the class as its factory, and closes what it made."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop, debug=debug) as runner:
        assert runner.run(sleep_and_tell(60)) == 60.0
        assert runner.run(asyncio.to_thread(threading.active_count)) > 1
        loop = runner.get_loop()
    assert loop.is_closed()


def test_a_poll_sleeps_on_virtual_time():
    """A wait of ``pollwait.aio`` makes its checks at the times of its schedule."""

    async def scenario():
        checks = []

        async def ready():
            checks.append(now())
            return len(checks) == 4

        schedule = exponential(0.5, factor=1.5).after(1.25)
        await aio.poll(ready, schedule=schedule, timeout=60)
        return checks

    assert run(scenario()) == [1.25, 1.75, 2.5, 3.625]


def test_many_polls_share_one_virtual_hour():
    """1,000 tasks that poll every 300 s end together after an hour, each with its 13 checks."""

    async def scenario():
        async def one():
            checks = iter(range(13))
            await aio.poll(lambda: next(checks) == 12, schedule=fixed(300), timeout=7200)
            return now()

        return await asyncio.gather(*(one() for _ in range(1000)))

    assert set(run(scenario())) == {3600.0}


# --- errors of callbacks, stopping, closing


def test_error_of_a_callback_goes_to_the_exception_handler(loop):
    """A callback that raises stops neither the loop nor its time."""
    seen = []
    loop.set_exception_handler(lambda _, context: seen.append(type(context["exception"])))
    loop.call_at(1, lambda: 1 / 0)
    assert loop.run_until_complete(sleep_and_tell(2)) == 2.0
    assert seen == [ZeroDivisionError]


def test_stop_ends_the_run_though_nothing_is_left(loop):
    """A loop that was told to stop stops, and does not call it a deadlock."""
    loop.call_later(3, loop.stop)
    loop.run_forever()
    assert loop.time() == 3.0


def test_close_within_a_callback_is_refused(loop):
    """A running loop cannot be closed, and goes on."""

    async def close():
        with pytest.raises(RuntimeError):
            loop.close()
        return await sleep_and_tell(1)

    assert loop.run_until_complete(close()) == 1.0


# --- nothing left to wait for


async def never():
    """Wait for what nobody sends."""
    await asyncio.Event().wait()


def test_deadlock_names_the_tasks_and_where_they_wait(loop):
    """The error names each pending task, the calls that it waits in, and the time."""

    async def main():
        await asyncio.sleep(2.5)
        sleeper = asyncio.create_task(never(), name="a sleeper")
        await sleeper

    with pytest.raises(Deadlock) as caught:
        loop.run_until_complete(main())
    text = str(caught.value)
    assert text.startswith("nothing is left to wait for at 2.5 s: no timer, executor job")
    assert "'a sleeper' in never (test_virtual_loop.py:" in text
    assert "> wait (locks.py:" in text
    assert "' in main (test_virtual_loop.py:" in text
    assert text.count(" in ") == 2
    cancel_all(loop)


def test_deadlock_is_short_however_many_wait(loop):
    """Of many tasks and long chains of calls the first and the last are named."""

    async def deep(levels):
        await (deep(levels - 1) if levels else never())

    async def main():
        await asyncio.gather(*(deep(9) for _ in range(50)))

    with pytest.raises(Deadlock, match=r"deep \(\S+ > … > never .*; and 46 more$") as caught:
        loop.run_until_complete(main())
    assert len(str(caught.value)) < 1000
    cancel_all(loop)


def test_deadlock_names_the_oldest_tasks_first(loop):
    """Of the names that asyncio gives, the one with the lower number comes first."""

    async def main():
        await asyncio.wait([asyncio.create_task(never(), name=f"Task-{n}") for n in (1000000, 9)])

    with pytest.raises(Deadlock, match="'Task-9' in .*'Task-1000000' in "):
        loop.run_until_complete(main())
    cancel_all(loop)


def test_deadlock_without_a_task_says_so(loop):
    """A bare future that nobody sets is a deadlock without tasks."""
    with pytest.raises(Deadlock, match="no task is pending"):
        loop.run_until_complete(loop.create_future())


def test_deadlock_of_an_idle_loop_that_runs_for_ever(loop):
    """A loop that was not told when to stop, and has nothing to do, does not hang."""
    with pytest.raises(Deadlock):
        loop.run_forever()


def test_deadlock_of_a_sleep_without_end(loop):
    """A timer at infinity never fires, so it is nothing to wait for."""
    with pytest.raises(Deadlock, match=r"at 0\.0 s.* in sleep "):
        loop.run_until_complete(asyncio.sleep(math.inf))
    cancel_all(loop)


def test_deadlock_leaves_a_loop_that_can_go_on(loop):
    """After the error the tasks are as they were, and can still be woken."""
    event = asyncio.Event()
    waiter = loop.create_task(event.wait())
    with pytest.raises(Deadlock):
        loop.run_until_complete(waiter)
    loop.call_later(4, event.set)
    assert loop.run_until_complete(waiter)
    assert loop.time() == 4.0


def test_deadlock_comes_at_once_though_a_foreign_thread_would_answer(loop):
    """Without ``inhibit`` the loop does not wait for a thread that it does not know."""
    go = threading.Event()
    answer = loop.create_future()

    def foreign():
        go.wait(10)
        loop.call_soon_threadsafe(answer.set_result, "late")

    thread = threading.Thread(target=foreign)
    thread.start()
    with pytest.raises(Deadlock):
        loop.run_until_complete(answer)
    go.set()
    thread.join()
    assert loop.run_until_complete(answer) == "late"


def cancel_all(loop):
    """Cancel what waits, so that the loop can be closed."""
    for task in asyncio.all_tasks(loop):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            loop.run_until_complete(task)


# --- time that cannot move


def test_busy_task_that_keeps_time_from_moving_is_an_error(loop, monkeypatch):
    """A task that yields in a circle until a timer fires is named instead of spinning for ever."""
    monkeypatch.setattr(_virtual_loop, "MOST_ROUNDS", 1000)
    done = asyncio.Event()

    async def spin():
        while not done.is_set():
            await asyncio.sleep(0)

    loop.call_later(5, done.set)
    with pytest.raises(ClockStalled, match=r"at 0\.0 s: 1,000 rounds .*' in spin "):
        loop.run_until_complete(spin())
    cancel_all(loop)


def test_busy_task_may_wait_for_a_job(loop, monkeypatch):
    """While a job runs, time has a reason to stand still, and rounds are not counted."""
    monkeypatch.setattr(_virtual_loop, "MOST_ROUNDS", 1000)
    gate = threading.Event()

    async def scenario():
        loop.call_later(60, pytest.fail)
        job = loop.run_in_executor(None, gate.wait, 10)
        for _ in range(3000):
            await asyncio.sleep(0)
        gate.set()
        return await job

    assert loop.run_until_complete(scenario())
    loop.run_until_complete(loop.shutdown_default_executor())


def test_busy_tasks_are_left_alone_while_time_moves_or_no_timer_is_set(loop, monkeypatch):
    """The rounds count from the last move of time, and only while timers are pending."""
    monkeypatch.setattr(_virtual_loop, "MOST_ROUNDS", 1000)

    async def spin(rounds):
        for _ in range(rounds):
            await asyncio.sleep(0)

    async def scenario():
        await spin(3000)
        ticking = asyncio.create_task(asyncio.sleep(2))
        await spin(600)
        await asyncio.sleep(1)
        await spin(600)
        await ticking
        return now()

    assert loop.run_until_complete(scenario()) == 2.0
