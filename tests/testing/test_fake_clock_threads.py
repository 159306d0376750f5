"""Threads that take turns on a clock: their order, their ends, and what becomes of stuck ones."""

from __future__ import annotations

import heapq
import queue
import random
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait import MAX_DELAY, ClockStalled, PollCancelled, Poller, PollTimeout, fixed, poll
from pollwait.testing import Deadlock, FakeClock
from pollwait.testing import _stops as stops


@pytest.fixture(autouse=True)
def _no_thread_is_left(monkeypatch):
    """Hide the threads of other tests, which might wake somebody for all a clock knows."""
    old, everybody = set(threading.enumerate()) - {threading.main_thread()}, threading.enumerate
    monkeypatch.setattr(
        threading, "enumerate", lambda: [one for one in everybody() if one not in old]
    )
    yield
    left = [thread for thread in everybody() if thread not in old | {threading.main_thread()}]
    for thread in left:
        threading.Thread.join(thread, 5)
    assert not [thread for thread in left if threading.Thread.is_alive(thread)]


def oracle(scripts):
    """Return who wakes when, if each sleeps so often and so long, by (time, order of arrival)."""
    order, log = count(), []
    due = [(0.0, next(order), who, 0) for who in range(len(scripts))]
    while due:
        now, _, who, step = heapq.heappop(due)
        log.append((who, now))
        if step < len(scripts[who]):
            heapq.heappush(due, (now + scripts[who][step], next(order), who, step + 1))
    return log


def run_sleeps(scripts):
    """Return who wakes when on a clock."""
    clock, log = FakeClock(), []

    def sleeper(who):
        def sleep():
            log.append((who, clock.monotonic()))
            for length in scripts[who]:
                clock.sleep(length)
                log.append((who, clock.monotonic()))

        return sleep

    clock.run(*[sleeper(who) for who in range(len(scripts))])
    return log


@given(st.lists(st.lists(st.integers(0, 8).map(lambda it: it / 4), max_size=5), max_size=5))
def test_turns_agree_with_oracle(scripts):
    """Threads begin in order and wake by (time due, order of arrival), zero sleeps included."""
    assert run_sleeps(scripts) == oracle(scripts)


def test_run_returns_results_in_order():
    """The results stand in the order of the functions, whoever ended first."""
    clock = FakeClock()

    def nap(seconds):
        clock.sleep(seconds)
        return clock.monotonic()

    assert clock.run(lambda: nap(2), lambda: nap(1), lambda: "at once") == [2.0, 1.0, "at once"]
    assert clock.sleeps == [1.0, 2.0]
    assert clock.run() == []


def test_one_thread_runs_at_a_time():
    """Whoever runs is not disturbed before it sleeps, however long that takes in real time."""
    clock, running = FakeClock(), []

    def work():
        for _ in range(20):
            running.append(threading.get_ident())
            sum(range(2000))
            assert running == [threading.get_ident()]
            running.clear()
            clock.sleep(1)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        clock.run(*[work] * 5)
    finally:
        sys.setswitchinterval(interval)


def chaos(seed):
    """Run a random script and return all that can be seen of it."""
    rng, clock, log = random.Random(seed), FakeClock(watchdog=30), []
    events = [threading.Event() for _ in range(3)]

    def act(name, draw):
        for step in range(draw.randint(1, 8)):
            event, seconds = draw.choice(events), draw.choice([0, 0, 0.5, 1, 2])
            match draw.randrange(8):
                case 0 | 1:
                    clock.sleep(seconds)
                case 2 | 3:
                    log.append(clock.wait(event, seconds))
                case 4:
                    event.set()
                case 5:
                    event.clear()
                case 6:
                    clock.call_at(clock.monotonic() + seconds, event.set)
                    clock.advance(seconds)
                case 7 if len(name) < 5:
                    inner = f"{name}.{step}"
                    thread = clock.thread(act, args=(inner, random.Random(inner)), name=inner)
                    thread.start()
                    thread.join(draw.choice([None, 1]))
            log.append((name, step, clock.monotonic()))

    names = [str(number) for number in range(rng.randint(2, 6))]
    seeds = [rng.random() for _ in names]
    clock.run(
        *[lambda n=n, s=s: act(n, random.Random(s)) for n, s in zip(names, seeds, strict=True)]
    )
    return log, clock.monotonic(), clock.sleeps


@pytest.mark.parametrize("seed", range(5))
def test_random_script_has_one_order(seed):
    """Twenty runs of a script with events, calls, advances and new threads are all the same."""
    first = chaos(seed)
    assert len(first[0]) > 5
    assert all(chaos(seed) == first for _ in range(19))


def test_many_polls_share_a_clock():
    """Waits in a thousand threads check in one order, and each keeps its own deadline."""

    def hours():
        clock, order = FakeClock(), []

        def wait(number):
            with pytest.raises(PollTimeout) as caught:
                poll(lambda: order.append(number), schedule=fixed(60), timeout=300, clock=clock)
            return caught.value.attempts

        assert set(clock.run(*[lambda n=n: wait(n) for n in range(1000)])) == {6}
        assert clock.monotonic() == 300.0
        return order

    first = hours()
    assert first == list(range(1000)) * 6
    assert hours() == first


def test_poller_is_shared_by_threads():
    """One Poller on one clock serves several threads, which see one another's effects."""
    clock, volumes = FakeClock(), {}
    patient = Poller(schedule=fixed(1), timeout=60, clock=clock)

    def create():
        clock.sleep(2.5)
        volumes["vol-1"] = "available"

    def wait():
        return patient.poll(lambda: volumes.get("vol-1")), clock.monotonic()

    assert clock.run(wait, create, wait) == [("available", 3.0), None, ("available", 3.0)]


def test_cancel_is_noticed_at_the_time_when_it_is_set():
    """An event that another thread sets ends a wait at that virtual time, with no further check."""
    clock, stop = FakeClock(), threading.Event()

    def wait():
        with pytest.raises(PollCancelled) as caught:
            poll(lambda: False, schedule=fixed(1), timeout=60, cancel=stop, clock=clock)
        return clock.monotonic(), caught.value.attempts

    def cancel():
        clock.sleep(2.5)
        stop.set()

    assert clock.run(wait, cancel) == [(2.5, 3), None]
    assert clock.sleeps == [0.0, 1.0, 1.0, 2.5, 0.5]


def test_wait_wakes_behind_those_who_are_due():
    """Who waits for an event comes after those whose sleep has ended by then."""
    clock, event, log = FakeClock(), threading.Event(), []

    def wait():
        log.append(("wait", clock.wait(event, 10)))

    def sleep():
        clock.sleep(1)
        log.append("sleep")

    def set_it():
        clock.sleep(1)
        event.set()
        log.append("set")

    clock.run(wait, set_it, sleep)
    assert log == ["set", "sleep", ("wait", True)]


def test_wait_ends_at_its_deadline():
    """A wait whose event is not set takes all its seconds and says so."""
    clock, event = FakeClock(), threading.Event()
    assert clock.run(lambda: clock.wait(event, 2.5), lambda: clock.sleep(9)) == [False, None]
    assert clock.sleeps == [2.5, 9.0]


def test_wait_that_has_ended_is_over_for_its_event():
    """An event that is set after a wait for it has ended does not disturb what comes then."""
    clock, event = FakeClock(), threading.Event()

    def wait():
        first = clock.wait(event, 1)
        clock.sleep(9)
        return first, clock.monotonic()

    def set_it():
        clock.sleep(2)
        event.set()

    assert clock.run(wait, set_it) == [(False, 10.0), None]


def test_event_wakes_all_who_still_wait():
    """Of three who wait for one event, one gives up before; the others wake when it is set."""
    clock, event = FakeClock(), threading.Event()

    def wait(seconds):
        return clock.wait(event, seconds), clock.monotonic()

    def set_it():
        clock.sleep(2)
        event.set()

    ends = clock.run(lambda: wait(5), lambda: wait(1), lambda: wait(MAX_DELAY), set_it)
    assert ends == [(True, 2.0), (False, 1.0), (True, 2.0), None]


def test_anything_with_is_set_is_an_event():
    """A wait needs no more of an event than ``is_set``."""
    clock = FakeClock()

    class After:
        def is_set(self):
            return clock.monotonic() >= 3

    clock.run(lambda: clock.wait(After(), 60), lambda: [clock.sleep(1) for _ in range(5)])
    assert clock.sleeps == [1.0, 1.0, 1.0, 3.0, 1.0, 1.0]


def test_event_that_cannot_be_asked_fails_its_own_wait():
    """An event whose ``is_set`` raises ends the wait for it, not somebody else's sleep."""
    clock = FakeClock()

    class Broken:
        def is_set(self):
            if clock.monotonic() >= 1:
                raise LookupError("no such job")
            return False

    def wait():
        with pytest.raises(LookupError, match="no such job"):
            clock.wait(Broken(), 60)
        return clock.monotonic()

    def other():
        clock.sleep(1)
        clock.sleep(1)
        return clock.monotonic()

    assert clock.run(wait, other) == [1.0, 2.0]


def test_waits_that_are_cut_short_leave_nothing_behind():
    """Long waits that an event ends again and again come to their times as short ones do."""
    clock, events = FakeClock(), [threading.Event() for _ in range(300)]

    def wait():
        return all(clock.wait(event, 1000) for event in events)

    def set_them():
        for event in events:
            clock.sleep(0.25)
            event.set()

    assert clock.run(wait, set_them) == [True, None]
    assert clock.monotonic() == 75.0
    assert len(clock._turns.roster._sleepers) < 100


def test_calls_are_made_while_threads_sleep():
    """A call is made at its time, before those whose sleep ends then."""
    clock, event, log = FakeClock(), threading.Event(), []
    clock.call_at(2, lambda: log.append("call"))
    clock.call_at(2.5, event.set)

    def sleep():
        clock.sleep(2)
        log.append("sleep")

    assert clock.run(sleep, lambda: clock.wait(event, MAX_DELAY)) == [None, True]
    assert (log, clock.monotonic()) == (["call", "sleep"], 2.5)


def test_failing_call_ends_the_run():
    """What a call raises comes out of the sleep of the thread that moves the time."""
    clock = FakeClock()
    clock.call_at(1, lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        clock.run(lambda: clock.sleep(5), lambda: clock.sleep(5))


def test_failing_call_of_one_who_ends_fails_the_run():
    """A call that fails when a thread's end moves the time is an error of that run, too."""
    clock = FakeClock()
    with pytest.raises(ZeroDivisionError):
        clock.run(lambda: clock.sleep(5), lambda: clock.call_at(1, lambda: 1 / 0))
    assert clock.monotonic() == 1.0


def test_failing_call_comes_out_of_the_block_that_ends():
    """A call that fails when a registered block ends comes out of it; the others sleep on."""
    clock, ends = FakeClock(), []
    thread = clock.thread(lambda: ends.append(clock.sleep(5)))
    with pytest.raises(ZeroDivisionError), clock.registered():  # noqa: PT012
        thread.start()
        clock.sleep(1)
        clock.call_at(2, lambda: 1 / 0)
    thread.join()
    assert (ends, clock.monotonic()) == ([None], 5.0)


def test_call_must_not_sleep_while_threads_take_turns():
    """A call that sleeps would sleep in the place of a thread that sleeps already."""
    clock = FakeClock()
    clock.call_at(1, lambda: clock.sleep(1))
    with pytest.raises(RuntimeError, match="call_at must not sleep"):
        clock.run(lambda: clock.sleep(5))


def test_advance_in_a_thread_is_a_sleep_that_does_not_count():
    """A check that takes 5 seconds lets others run meanwhile, and nothing was slept."""
    clock, log = FakeClock(), []

    def check():
        clock.advance(5)
        log.append(("check", clock.monotonic()))

    def other():
        for _ in range(2):
            clock.sleep(2.5)
            log.append(("other", clock.monotonic()))

    clock.run(check, other)
    assert log == [("other", 2.5), ("check", 5.0), ("other", 5.0)]
    assert clock.sleeps == [2.5, 2.5]


def test_first_error_ends_the_run():
    """The first error passes as it is; the others are released where they sleep, then joined."""
    clock, error = FakeClock(), KeyError("first")

    def fail():
        clock.sleep(1)
        raise error

    def stubborn():
        while True:
            with suppress(Exception):
                clock.sleep(9)

    def fail_too():
        try:
            clock.sleep(9)
        finally:
            raise ValueError("second")

    with pytest.raises(KeyError) as caught:
        clock.run(stubborn, fail, fail_too)
    assert caught.value is error
    assert error.__notes__ == ["then 'fail_too' ended with ValueError: second"]
    assert clock.monotonic() == 1.0


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_error_that_is_no_exception_passes(kind):
    """What is no ``Exception`` leaves the run as it is, too."""
    clock = FakeClock()

    def leave():
        raise kind

    with pytest.raises(kind):
        clock.run(lambda: clock.sleep(5), leave)


def test_clock_serves_again_after_a_failed_run():
    """Nothing of a failed run is left on the clock."""
    clock = FakeClock()
    with pytest.raises(ZeroDivisionError):
        clock.run(lambda: clock.sleep(5), lambda: 1 / 0)
    assert clock.run(lambda: clock.sleep(2) or clock.monotonic()) == [2.0]
    clock.sleep(1)
    assert clock.monotonic() == 3.0


def test_thread_that_has_not_begun_never_does():
    """When the first function fails at once, the others are not called."""
    clock, called = FakeClock(), []
    with pytest.raises(ZeroDivisionError):
        clock.run(lambda: 1 / 0, lambda: called.append(1))
    assert called == []


def test_thread_started_on_the_way_out_never_begins():
    """A released function may try to start a thread; the run does not wait for what it would do."""
    clock, called = FakeClock(), []

    def fail_late():
        try:
            clock.sleep(9)
        finally:
            clock.thread(lambda: called.append(1)).start()

    with pytest.raises(ZeroDivisionError):
        clock.run(fail_late, lambda: 1 / 0)
    assert called == []


def test_thread_that_cannot_be_started_ends_the_run(monkeypatch):
    """Where the system has no more threads, those that have begun are released."""
    clock, begin, ends = FakeClock(), threading.Thread.start, []

    def start(thread):
        if thread.name == "second":
            raise RuntimeError("can't start new thread")
        begin(thread)

    def first():
        try:
            clock.sleep(MAX_DELAY)
        finally:
            ends.append("first")

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        clock.run(first, named("second", lambda: 1), lambda: 1)
    assert ends in ([], ["first"])  # it may not have come as far as its function
    assert clock.run(lambda: "again") == ["again"]


def test_interrupt_releases_the_threads():
    """Ctrl-C in the thread that called ``run`` ends the others and goes on its way."""
    clock, ends = FakeClock(), []

    def endless():
        try:
            threading.Event().wait(0.01)  # until the run has begun to wait
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            while True:
                clock.sleep(1)
        finally:
            ends.append("endless")

    def other():
        try:
            clock.sleep(MAX_DELAY)
        finally:
            ends.append("other")

    with pytest.raises(KeyboardInterrupt):
        clock.run(other, endless)
    assert sorted(ends) == ["endless", "other"]
    assert clock.run(lambda: "again") == ["again"]


def test_run_is_refused_inside_a_run():
    """A registered thread that called ``run`` would wait without sleeping."""
    clock = FakeClock()
    with pytest.raises(RuntimeError, match=r"'outer', which is registered"):
        clock.run(outer := named("outer", lambda: clock.run(lambda: 1)))
    assert outer.__name__ == "outer"


def test_run_is_refused_during_another():
    """Two runs on one clock are one too many: the error says to put them together."""
    clock, refused = FakeClock(), queue.Queue()

    def second():
        try:
            clock.run(lambda: 1)
        except RuntimeError as error:
            refused.put(str(error))

    def first():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()

    clock.run(first)
    assert "another run is on" in refused.get_nowait()


def test_functions_are_checked():
    """What cannot be run is refused before any thread begins."""
    clock, called = FakeClock(), []

    async def coroutine():
        """Do nothing."""

    for wrong in (5, coroutine):
        with pytest.raises(TypeError, match="function"):
            clock.run(lambda: called.append(1), wrong)
    assert called == []


def test_two_clocks_know_nothing_of_each_other():
    """A thread of one clock may sleep, and run threads, on another."""
    clock, other = FakeClock(), FakeClock()

    def both():
        clock.sleep(1)
        ends = other.run(lambda: other.sleep(5), lambda: other.monotonic())
        return ends, clock.monotonic(), other.monotonic()

    assert clock.run(both, lambda: clock.sleep(3)) == [([None, 0.0], 1.0, 5.0), None]


def named(name, function):
    """Give a function a name for reports."""
    function.__name__ = function.__qualname__ = name
    return function


def test_waits_for_each_other_are_a_deadlock():
    """Two threads that wait for ever for each other are reported at once, by name and event."""
    clock, left, right = FakeClock(watchdog=30), threading.Event(), threading.Event()

    def a():
        clock.wait(left, MAX_DELAY)
        right.set()

    def b():
        clock.sleep(5)
        clock.wait(right, MAX_DELAY)
        left.set()

    with pytest.raises(Deadlock, match=r"5\.0 s: 'a' waits for <threading.Event.*'b' waits for"):
        clock.run(a, b)
    assert clock.run(lambda: clock.sleep(1) or clock.monotonic()) == [6.0]


def test_joins_of_each_other_are_a_deadlock():
    """Threads that join each other are reported at once."""
    clock, threads = FakeClock(watchdog=30), {}

    def main():
        threads["x"] = clock.thread(lambda: threads["y"].join(), name="x")
        threads["y"] = clock.thread(lambda: threads["x"].join(), name="y")
        for thread in threads.values():
            thread.start()
        threads["x"].join()

    with pytest.raises(
        Deadlock, match="'x' waits for the end of 'y', 'y' waits for the end of 'x'"
    ):
        clock.run(main)


def test_nobody_to_advance_is_a_deadlock():
    """With auto=False and all threads asleep nothing moves the time, which is reported at once."""
    clock = FakeClock(auto=False, watchdog=30)
    with pytest.raises(Deadlock, match=r"auto=False only advance\(\) .*'nap' sleeps until 5\.0"):
        clock.run(named("nap", lambda: clock.sleep(5)))


def test_names_are_told_apart():
    """Threads of one function are numbered in a report."""
    clock, never = FakeClock(watchdog=30), threading.Event()
    wait = named("wait", lambda: clock.wait(never, MAX_DELAY))
    with pytest.raises(Deadlock, match="'wait' waits .*'wait #2' waits .*'wait #3' waits"):
        clock.run(wait, wait, wait)


def test_daemons_that_lead_nowhere_are_a_deadlock(monkeypatch):
    """A thread that waits for ever while only a daemon moves is reported after many turns."""
    monkeypatch.setattr(stops, "MOST_DAEMON_TURNS", 50)
    clock, never = FakeClock(watchdog=30), threading.Event()

    def beat():
        while True:
            clock.sleep(1)

    def main():
        clock.thread(beat, daemon=True).start()
        clock.wait(never, MAX_DELAY)

    with pytest.raises(Deadlock, match="'main' waits for"):
        clock.run(main)


def test_daemons_may_move_for_long_while_others_sleep(monkeypatch):
    """A thread that sleeps for a time that comes is no deadlock, however often a daemon wakes."""
    monkeypatch.setattr(stops, "MOST_DAEMON_TURNS", 50)
    clock, beats = FakeClock(), []

    def beat():
        for _ in range(200):
            clock.sleep(1)
            beats.append(clock.monotonic())

    def main():
        clock.thread(beat, daemon=True).start()
        clock.sleep(1000)

    clock.run(main)
    assert len(beats) == 200


def test_time_that_stands_still_is_an_error(monkeypatch):
    """Threads that sleep for 0 seconds for ever keep the time from moving, and are named."""
    monkeypatch.setattr(stops, "MOST_TURNS", 50)
    clock = FakeClock()

    def hot():
        while True:
            clock.sleep(0)

    with pytest.raises(ClockStalled, match=r"50 sleeps of 0 s.*'cold' sleeps until 1\.0.*'hot'"):
        clock.run(hot, named("cold", lambda: clock.sleep(1)))


def test_time_that_moves_is_no_error(monkeypatch):
    """Turns count only as long as the time stands still."""
    monkeypatch.setattr(stops, "MOST_TURNS", 50)
    clock = FakeClock()

    def warm():
        for _ in range(40):
            clock.sleep(1)
            clock.sleep(0)

    clock.run(warm, warm)
    assert clock.monotonic() == 40.0


def test_thread_that_blocks_is_named_with_its_stack():
    """A thread that blocks on a queue is reported with the line at which it stands."""
    clock, jobs, ends = FakeClock(watchdog=0.02), queue.Queue(), []

    def consumer():
        jobs.get()  # blocks for real
        clock.sleep(1)

    def producer():
        clock.sleep(5)
        ends.append("must not happen")

    with pytest.raises(Deadlock) as caught:
        clock.run(consumer, producer)
    text = str(caught.value)
    assert text.startswith("'consumer' has not come back to the clock for 0.02 real seconds")
    assert "jobs.get()  # blocks for real" in text
    assert "_bootstrap" not in text
    assert ends == []
    jobs.put("a job")  # what it gets from its next sleep ends it


def test_thread_that_blocks_is_reported_to_all():
    """Without a run, the error reaches whoever sleeps on the clock."""
    clock, jobs = FakeClock(watchdog=0.02), queue.Queue()
    with clock.registered("test"):
        clock.thread(jobs.get, name="worker").start()
        for _ in range(2):  # it lasts until the block ends
            with pytest.raises(Deadlock, match="'worker' has not come back"):
                clock.sleep(1)
    jobs.put("a job")
    clock.sleep(1)
    assert clock.monotonic() == 1.0


def test_thread_that_blocks_is_reported_to_those_who_register():
    """Who waits for a first turn hears of the thread that does not give up its own."""
    clock, jobs = FakeClock(watchdog=0.02), queue.Queue()
    clock.thread(jobs.get, name="worker").start()
    with pytest.raises(Deadlock, match="'worker' has not come back"), clock.registered():
        pytest.fail("must not begin")
    jobs.put("a job")
    assert clock.run(lambda: "again") == ["again"]


def test_thread_that_died_is_reported():
    """A thread that ended without leaving its registration is told from one that blocks."""
    clock = FakeClock(watchdog=0.02)
    thread = threading.Thread(target=lambda: clock.registered("careless").__enter__())
    thread.start()
    thread.join()
    with pytest.raises(Deadlock, match=r"(?s)'careless' has not .* its thread has ended"):
        clock.run(lambda: 1)


def test_call_that_blocks_is_reported():
    """A function of ``call_at`` that blocks on something real is named with its stack."""
    clock, jobs = FakeClock(watchdog=0.02), queue.Queue()
    clock.call_at(1, lambda: jobs.get())
    with pytest.raises(Deadlock, match=r"(?s)'a function of call_at' has not .*jobs\.get\(\)"):
        clock.run(lambda: clock.sleep(5), lambda: clock.sleep(6))
    jobs.put("a job")


def test_places_that_nobody_takes_fall_with_the_others():
    """A standstill also gives up a place that is held for a thread which has not come."""
    clock, jobs = FakeClock(watchdog=0.02), queue.Queue()

    def block():
        clock.registered("ghost")
        jobs.get()

    with pytest.raises(Deadlock, match="'block' has not .*'ghost' is about to begin"):
        clock.run(block)
    jobs.put("a job")
    assert clock.run(lambda: "again") == ["again"]


def test_sleepers_of_another_clock_wake_nobody():
    """A daemon at rest on one clock does not put off the report of a deadlock on another."""
    idle, clock, stop = FakeClock(), FakeClock(watchdog=30), threading.Event()
    worker = idle.thread(lambda: idle.wait(stop, MAX_DELAY), daemon=True)
    worker.start()
    with idle.registered():
        idle.sleep(1)  # it rests now
    with pytest.raises(Deadlock, match="every thread is blocked"):
        clock.run(lambda: clock.wait(stop, MAX_DELAY))
    stop.set()
    worker.join()


def test_report_of_many_is_short():
    """A report names the first twenty sleepers and counts the rest."""
    clock, never = FakeClock(watchdog=30), threading.Event()
    with pytest.raises(Deadlock, match=r"'w #20' waits [^']*, and 5 more$"):
        clock.run(*[named("w", lambda: clock.wait(never, MAX_DELAY)) for _ in range(25)])


def test_threads_end_quietly_when_the_test_hears_of_it(monkeypatch):
    """One report is enough: where the test gets the error, the clock's own threads just end."""
    clock, jobs, reported = FakeClock(watchdog=0.02), queue.Queue(), []
    monkeypatch.setattr(threading, "excepthook", lambda what: reported.append(what.exc_type))
    other = clock.thread(lambda: clock.sleep(9))
    worker = clock.thread(jobs.get, name="worker", daemon=True)
    with pytest.raises(Deadlock, match="'worker' has not come back"), clock.registered():  # noqa: PT012
        other.start()
        worker.start()
        clock.sleep(1)
    other.join()
    jobs.put("a job")
    worker.join()
    assert reported == []


def test_release_does_not_wait_for_ever_for_a_thread_that_blocks():
    """A thread that blocks while it is released is left behind; the first error stands."""
    clock, jobs = FakeClock(watchdog=0.02), queue.Queue()

    def block():
        try:
            clock.sleep(9)
        finally:
            jobs.get()

    with pytest.raises(ZeroDivisionError) as caught:
        clock.run(block, lambda: 1 / 0)
    jobs.put("a job")
    assert isinstance(caught.value, ZeroDivisionError)


def test_registration_that_is_never_entered_is_reported():
    """A place that is held for a thread which does not come is named, then given up."""
    clock = FakeClock(watchdog=0.02)
    clock.registered("ghost")
    with pytest.raises(Deadlock, match="'ghost' has not come back .* never entered"):
        clock.run(lambda: clock.sleep(1))
    assert clock.run(lambda: clock.sleep(1) or clock.monotonic()) == [1.0]


def test_event_that_a_thread_outside_sets_is_noticed():
    """Threads that wait for ever wait for those outside too, who may set the event."""
    clock, event = FakeClock(), threading.Event()
    asked = threading.Event()

    def outside():
        asked.wait()
        event.set()

    thread = threading.Thread(target=outside)
    thread.start()

    def wait():
        asked.set()
        return clock.wait(event, MAX_DELAY), clock.monotonic()

    assert clock.run(wait) == [(True, 0.0)]
    thread.join()


def test_event_that_nobody_outside_sets_is_reported():
    """A thread outside that does nothing is waited for only as long as the watchdog says."""
    clock, event, done = FakeClock(watchdog=0.02), threading.Event(), threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    with pytest.raises(
        Deadlock, match=r"nobody has set an event for 0\.02 real seconds.*'a' waits"
    ):
        clock.run(named("a", lambda: clock.wait(event, MAX_DELAY)))
    done.set()


def test_thread_begins_when_its_starter_sleeps():
    """A thread that is started runs at that time, behind its starter, and is waited for."""
    clock, log = FakeClock(), []

    def inner():
        log.append(("inner", clock.monotonic()))
        clock.sleep(3)
        log.append(("inner", clock.monotonic()))

    def outer():
        clock.sleep(1)
        clock.thread(inner).start()
        log.append(("outer", clock.monotonic()))
        clock.sleep(0.5)
        log.append(("outer", clock.monotonic()))

    clock.run(outer)
    assert log == [("outer", 1.0), ("inner", 1.0), ("outer", 1.5), ("inner", 4.0)]


def test_thread_has_the_name_of_its_target():
    """A thread is named after its target, or as it is told; for Python it is a daemon."""
    clock = FakeClock()

    def work():
        return None

    assert clock.thread(work).name == "work"
    assert clock.thread(work, name="worker").name == "worker"
    assert clock.thread().name.startswith("Thread-")
    assert clock.thread(work).daemon


def test_join_takes_the_time_of_the_clock():
    """Joining a thread waits on the clock, at most the seconds given, and is no sleep."""
    clock = FakeClock()

    def main():
        thread = clock.thread(clock.sleep, args=(5,), name="nap")
        thread.start()
        thread.join(2)
        seen = [(thread.is_alive(), clock.monotonic())]
        thread.join()
        thread.join()
        return [*seen, (thread.is_alive(), clock.monotonic())]

    assert clock.run(main) == [[(True, 2.0), (False, 5.0)]]
    assert clock.sleeps == [5.0]


def test_thread_takes_the_place_of_a_thread(monkeypatch):
    """Code that starts threads by itself runs in turns when ``threading.Thread`` is replaced."""
    clock, log = FakeClock(), []

    def code_under_test():
        workers = [
            threading.Thread(target=work, name=str(n), kwargs={"seconds": n}, daemon=True)
            for n in (2, 1)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def work(*, seconds):
        clock.sleep(seconds)
        log.append((threading.current_thread().name, clock.monotonic()))

    def test():
        with monkeypatch.context() as patch:
            patch.setattr(threading, "Thread", clock.thread)
            code_under_test()

    clock.run(test)
    assert log == [("1", 1.0), ("2", 2.0)]


def test_thread_misused_as_ordinary_ones_are_refused():
    """Starting twice, joining oneself and joining what was not started are errors as ever."""
    clock = FakeClock()
    thread = clock.thread()
    with pytest.raises(RuntimeError, match="before it is started"):
        thread.join()
    thread.start()
    thread.join()
    with pytest.raises(RuntimeError, match="only be started once"):
        thread.start()

    def join_itself():
        with pytest.raises(RuntimeError, match="cannot join current thread"):
            threading.current_thread().join()
        return "refused"

    assert clock.run(join_itself) == ["refused"]


def test_daemon_rests_when_all_others_have_ended():
    """Time does not move for a daemon alone, moves on with the next sleeper, and with a run."""
    clock, beats = FakeClock(), []
    stop = threading.Event()

    def beat():
        while not clock.wait(stop, 1):
            beats.append(clock.monotonic())

    worker = clock.thread(beat, daemon=True)
    worker.start()
    clock.run(lambda: clock.sleep(2.5))
    assert (beats, clock.monotonic()) == ([1.0, 2.0], 2.5)
    clock.sleep(1)
    assert (beats, clock.monotonic()) == ([1.0, 2.0, 3.0], 3.5)
    stop.set()
    worker.join()
    assert clock.monotonic() == 3.5


def test_daemon_may_rest_for_long():
    """The watchdog does not bark at daemons at rest."""
    clock, wake = FakeClock(watchdog=0.01), threading.Event()
    worker = clock.thread(lambda: clock.wait(wake, MAX_DELAY), daemon=True)
    worker.start()
    clock.run(lambda: clock.sleep(1))
    threading.Event().wait(0.03)
    assert worker.is_alive()
    wake.set()
    worker.join()


def test_thread_outside_may_register_after_a_sleep():
    """A test that has slept beside a worker hands on its turn when it registers."""
    clock, wake = FakeClock(), threading.Event()
    worker = clock.thread(lambda: clock.wait(wake, MAX_DELAY), daemon=True)
    worker.start()
    clock.sleep(1)
    with clock.registered():
        clock.sleep(1)
        wake.set()
        worker.join()
    assert clock.monotonic() == 2.0


def test_daemon_serves_threads_outside():
    """A test that is not registered may wait, on the clock, for what a worker does."""
    clock, wake, done = FakeClock(), threading.Event(), threading.Event()

    def work():
        clock.wait(wake, MAX_DELAY)
        clock.sleep(0.5)
        done.set()

    worker = clock.thread(work, daemon=True)
    worker.start()
    wake.set()
    assert clock.wait(done, 60)
    worker.join()
    assert clock.monotonic() == 0.5


def test_registered_block_takes_turns():
    """A test may take turns itself, and sees others exactly as far as its own time has come."""
    clock, log = FakeClock(), []

    def work():
        for _ in range(3):
            clock.sleep(2)
            log.append(clock.monotonic())

    with clock.registered():
        thread = clock.thread(work)
        thread.start()
        assert log == []
        clock.sleep(4.5)
        assert log == [2.0, 4.0]
        thread.join()
    assert (log, clock.monotonic()) == ([2.0, 4.0, 6.0], 6.0)


def test_registered_holds_the_place_of_a_job():
    """Jobs of a pool that are registered where they are submitted run in turns."""
    clock = FakeClock()

    def job(place, seconds):
        with place:
            clock.sleep(seconds)
            return clock.monotonic()

    def main(pool):
        jobs = [pool.submit(job, clock.registered(f"job {n}"), n) for n in (3, 1, 2)]
        clock.sleep(10)
        return [job.result() for job in jobs]

    with ThreadPoolExecutor(3) as pool:
        assert clock.run(lambda: main(pool)) == [[3.0, 1.0, 2.0]]
    assert clock.sleeps == [1.0, 2.0, 3.0, 10.0]


def test_registration_is_entered_once_and_not_inside_another():
    """A second entry, and a registration of a thread that has one, are errors that name it."""
    clock = FakeClock()
    with clock.registered("test") as place:
        with pytest.raises(RuntimeError, match="'test' was entered before"), place:
            pass
        with pytest.raises(RuntimeError, match="'test' is registered"), clock.registered():
            pass
        with pytest.raises(RuntimeError, match="'test', which is registered"):
            clock.run(lambda: 1)
        clock.sleep(1)
    assert clock.monotonic() == 1.0


def test_advance_from_outside_runs_registered_threads_in_turns():
    """With auto=False a test moves registered threads along step by step, without any waiting."""
    clock, log = FakeClock(auto=False), []

    def worker(name, seconds):
        def work():
            for _ in range(3):
                clock.sleep(seconds)
                log.append((name, clock.monotonic()))

        return clock.thread(work, name=name)

    workers = [worker("a", 2), worker("b", 3)]
    for one in workers:
        one.start()
    clock.advance(6)
    assert log == [("a", 2.0), ("b", 3.0), ("a", 4.0), ("b", 6.0), ("a", 6.0)]
    clock.advance(3)
    assert log[-1] == ("b", 9.0)
    for one in workers:
        one.join()


def test_advance_from_outside_moves_a_run():
    """With auto=False a run in another thread goes as far as it is advanced."""
    clock, ends = FakeClock(auto=False), []
    runner = threading.Thread(
        target=lambda: ends.extend(clock.run(lambda: clock.sleep(2), lambda: clock.sleep(4)))
    )
    runner.start()
    clock.wait_for_sleepers(2)
    clock.advance(3)
    assert (clock.sleeps, ends) == ([2.0], [])
    clock.advance(1)
    runner.join(5)
    assert ends == [None, None]


def test_advance_by_a_registered_thread_moves_the_others():
    """With auto=False one of the threads may be the one that moves the time."""
    clock, log = FakeClock(auto=False), []

    def work():
        for _ in range(3):
            clock.sleep(2)
            log.append(clock.monotonic())

    def control():
        clock.advance(4)
        log.append("advanced")
        clock.advance(2)

    clock.run(work, control)
    assert log == [2.0, 4.0, "advanced", 6.0]


def test_thread_that_is_not_registered_sleeps_along():
    """An ordinary thread sleeps its time while registered ones take turns."""
    clock, log = FakeClock(), []

    def outside():
        clock.sleep(2)
        log.append(("outside", clock.monotonic()))

    def main():
        thread = threading.Thread(target=outside)
        thread.start()
        clock.wait_for_sleepers(1)
        clock.sleep(3)
        log.append(("main", clock.monotonic()))
        thread.join()

    clock.run(main)
    assert log == [("outside", 2.0), ("main", 3.0)]


def test_error_of_a_thread_goes_where_errors_of_threads_go(monkeypatch):
    """A thread that fails ends like any other: its error is reported, and the run goes on."""
    clock, reported = FakeClock(), []
    monkeypatch.setattr(threading, "excepthook", lambda what: reported.append(what.exc_type))

    def main():
        clock.thread(lambda: 1 / 0).start()
        clock.sleep(5)

    clock.run(main)
    assert (reported, clock.monotonic()) == ([ZeroDivisionError], 5.0)
