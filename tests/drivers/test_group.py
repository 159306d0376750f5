"""Poll groups on threads: the threads that wait make the calls, in the time of a fake clock."""

from __future__ import annotations

import contextvars
import gc
import os
import threading

import pytest

from pollwait import (
    Checked,
    ClockStalled,
    Finished,
    PollCancelled,
    PollExhausted,
    PollFailed,
    PollTimeout,
    fixed,
)
from pollwait._core.group import LINGER
from pollwait._errors import BatcherClosed, FetchError, MissingKey
from pollwait._group_events import Called
from pollwait._sync.group import PollGroup
from pollwait.testing import FakeClock


class Service:
    """Something that knows when each key is ready, and takes its time to say so.

    Attributes:
        calls: the start and the keys of each call.
    """

    def __init__(self, clock, ready=None, duration=0.0):
        self.clock, self.ready, self.duration = clock, ready or {}, duration
        self.calls = []

    def __call__(self, keys):
        now = self.clock.monotonic()
        self.calls.append((now, keys))
        if self.duration:
            self.clock.sleep(self.duration)
        return {key: self.ready.get(key, 1e9) <= now for key in keys}

    @property
    def starts(self):
        return [start for start, _ in self.calls]


@pytest.fixture
def clock():
    """A clock that moves when somebody sleeps."""
    return FakeClock()


def group_of(service, **options):
    """Return a group for a service, on its clock."""
    return PollGroup(
        service, **{"max_size": 100, "schedule": fixed(1), "clock": service.clock, **options}
    )


def left(group):
    """Return how many waits a group holds."""
    group._lead.abandon(type("Nobody", (), {"live": ()}))  # sweeps
    return group._lead._group.waiting


# One thread.


def test_wait_returns_the_good_value(clock):
    """A wait is asked about on its schedule until its value is good, and returns that."""
    service = Service(clock, {"a": 2})
    assert group_of(service).wait("a", timeout=60) is True
    assert service.calls == [(LINGER + n, ["a"]) for n in range(3)]


def test_wait_many_shares_calls(clock):
    """Many keys cost as many calls as the slowest of them alone (G7)."""
    service = Service(clock, {key: key / 250 for key in range(500)})
    before = threading.active_count()
    found = group_of(service, max_size=500).wait_many(range(500), timeout=60)
    assert found == dict.fromkeys(range(500), True)
    assert list(found) == list(range(500))
    assert service.starts == [LINGER, LINGER + 1, LINGER + 2]
    assert threading.active_count() <= before


def test_wait_many_gives_values_and_errors(clock):
    """What one key comes to is no other's business; equal keys count once."""

    def fetch(keys):
        return {"bad": ValueError("no such id"), "good": 1, "late": 0}

    group = PollGroup(fetch, max_size=9, clock=clock, schedule=fixed(1))
    found = group.wait_many(["bad", "late", "good", "gone", "bad"], timeout=2)
    assert list(found) == ["bad", "late", "good", "gone"]
    assert found["good"] == 1
    assert isinstance(found["bad"], ValueError)
    assert isinstance(found["late"], PollTimeout)
    assert isinstance(found["gone"], PollFailed)
    assert isinstance(found["gone"].__cause__, MissingKey)
    assert all(found[key].__traceback__ is None for key in ("bad", "late", "gone"))


def test_no_keys_make_no_call(clock):
    """Waiting for nothing is done at once."""
    service = Service(clock)
    group = group_of(service)
    assert group.wait_many([], timeout=None) == {}
    assert list(group.as_completed([], timeout=None)) == []
    assert service.calls == []


def test_as_completed_gives_results_in_their_order(clock):
    """Each key comes as soon as it is ready, and a timeout in its turn."""
    service = Service(clock, {"a": 3, "b": 1})
    group = group_of(service)
    results = group.as_completed(["d", "a", "b", "c", "a"], timeout=4)
    seen = [(key, clock.monotonic()) for key, _ in results]
    assert [key for key, _ in seen] == ["b", "a", "d", "c"]
    assert [at for _, at in seen] == [LINGER + 1, LINGER + 3, 4, 4]


def test_iterator_asks_nothing_while_its_user_is_busy(clock):
    """Between two steps no calls are made, and the time that passes counts all the same."""
    service = Service(clock, {"a": 0, "b": 10})
    results = group_of(service).as_completed(["a", "b"], timeout=20)
    assert next(results) == ("a", True)
    clock.advance(10)
    assert next(results) == ("b", True)
    assert service.starts == [LINGER, LINGER + 10]
    assert list(results) == []


@pytest.mark.parametrize("how", ["close", "with", "drop"])
def test_iterator_leaves_no_keys_behind(clock, how):
    """An iterator that is closed or dropped gives up its keys."""
    service = Service(clock, {"a": 0, "z": 2})
    group = group_of(service)
    results = group.as_completed(["a", "b"], timeout=None)
    assert next(results) == ("a", True)
    if how == "drop":
        del results
        gc.collect()
    elif how == "with":
        with results:
            pass
        assert list(results) == []
    else:
        results.close()
        results.close()
        assert list(results) == []
    assert left(group) == 0
    group.wait("z", timeout=9)
    assert all(keys == ["z"] for _, keys in service.calls[1:])


def test_iterator_may_be_dropped_at_any_point(clock):
    """The collector may find an iterator while the group is busy: it is forgotten later."""
    group = group_of(Service(clock))
    results = group.as_completed(["a"], timeout=None)
    with group._lead._lock:
        del results
        gc.collect()
        assert group._lead._group.waiting == 1
    service = group._settings.fetch
    service.ready["b"] = 0
    group.wait("b", timeout=9)
    assert [keys for _, keys in service.calls] == [["b"]]


def test_failed_value_ends_the_wait(clock):
    """``fail`` is asked before ``until`` (O3)."""
    group = PollGroup(lambda keys: dict.fromkeys(keys, "error"), max_size=1, clock=clock)
    with pytest.raises(PollFailed, match="'vol-1' failed after 1 check"):
        group.wait("vol-1", until="error".__eq__, fail="error".__eq__, timeout=9)


def test_timeout_says_what_was_seen(clock):
    """An error of a group's wait has the text and the fields of a poll's (O7)."""
    group = PollGroup(lambda keys: dict.fromkeys(keys, "creating"), max_size=1, clock=clock)
    with pytest.raises(PollTimeout) as caught:
        group.wait("vol-1", until="available".__eq__, timeout=1, name="vol-1 available")
    error = caught.value
    assert str(error).startswith(
        "'vol-1 available' not ready after 3 checks in 1.004 s (timeout 1 s)"
    )
    assert (error.name, error.attempts, error.elapsed) == ("vol-1 available", 3, 1 + LINGER)
    assert error.last == "creating"
    assert error.history.total == 3


def test_schedule_may_end_a_wait(clock):
    """No timeout is needed where the schedule ends, and then that ends the wait."""
    service = Service(clock)
    with pytest.raises(PollExhausted):
        group_of(service, schedule=fixed(1).times(2)).wait("a")
    assert len(service.calls) == 3


def test_timeout_is_required(clock):
    """A wait that nothing would end is refused before any call (T1)."""
    service = Service(clock)
    group = group_of(service)
    with pytest.raises(TypeError, match="timeout is required"):
        group.wait("a")
    with pytest.raises(ValueError, match="timeout"):
        group.wait_many(["a"], timeout=-1)
    with pytest.raises(TypeError, match="unhashable"):
        group.wait(["a"], timeout=1)
    with pytest.raises(TypeError, match="not a single one"):
        group.wait_many("vol-1", timeout=1)
    assert service.calls == []
    assert left(group) == 0


def test_error_of_the_call_is_the_callers_own(clock):
    """What ``fetch`` raises leaves the wait as a copy, with the original as its cause (O2)."""
    original = OSError(5, "down")

    def fetch(keys):
        raise original

    with pytest.raises(OSError, match="down") as caught:
        PollGroup(fetch, max_size=1, clock=clock).wait("a", timeout=9)
    assert caught.value is not original
    assert caught.value.__cause__ is original


def test_answer_that_is_no_mapping_is_an_error(clock):
    """An answer must map keys to values."""
    with pytest.raises(TypeError, match="must return a mapping"):
        PollGroup(lambda keys: [1], max_size=1, clock=clock).wait("a", timeout=9)


def test_asynchronous_fetch_is_refused(clock):
    """An async fetch is named as such when given, or when its answer shows it (O4)."""

    async def fetch(keys):
        return {}

    with pytest.raises(TypeError, match="async"):
        PollGroup(fetch, max_size=1)
    with pytest.raises(TypeError, match="aio.PollGroup"):
        PollGroup(lambda keys: fetch(keys), max_size=1, clock=clock).wait("a", timeout=9)


@pytest.mark.parametrize("which", ["until", "fail"])
def test_asynchronous_predicate_is_refused(clock, which):
    """A predicate that would have to be awaited is an error, and nothing warns of it (O3)."""

    async def predicate(value):
        return True

    group = group_of(Service(clock, {"a": 0}))
    with pytest.raises(TypeError, match="aio.PollGroup"):
        group.wait("a", timeout=9, **{which: predicate})


def test_cancel_beforehand_means_no_call(clock):
    """A wait whose event is set already makes no call (T7)."""
    service, cancel = Service(clock, {"a": 0}), threading.Event()
    cancel.set()
    group = group_of(service)
    with pytest.raises(PollCancelled):
        group.wait("a", timeout=9, cancel=cancel)
    found = group.wait_many(["a", "b"], timeout=9, cancel=cancel)
    assert [type(error) for error in found.values()] == [PollCancelled] * 2
    assert service.calls == []


def test_cancel_ends_a_sleep_at_once(clock):
    """An event that is set meanwhile ends the wait, without a further check (T7)."""
    service, cancel = Service(clock), threading.Event()
    clock.call_at(1.5, cancel.set)
    group = group_of(service)
    with pytest.raises(PollCancelled, match="after 2 checks in 1.5 s"):
        group.wait("a", timeout=9, cancel=cancel)
    assert left(group) == 0


def test_good_value_goes_before_cancel(clock):
    """A good value in hand wins over an event that was set during its call (T7)."""
    cancel = threading.Event()

    def fetch(keys):
        cancel.set()
        return dict.fromkeys(keys, 1)

    assert PollGroup(fetch, max_size=1, clock=clock).wait("a", timeout=9, cancel=cancel) == 1


def test_interrupt_leaves_no_key_behind(clock):
    """Ctrl-C in a call leaves at once, and takes its waits along."""

    def fetch(keys):
        raise KeyboardInterrupt

    group = PollGroup(fetch, max_size=1, clock=clock, retry_on=lambda error: True)
    with pytest.raises(KeyboardInterrupt):
        group.wait_many(["a", "b"], timeout=9)
    assert left(group) == 0


def test_interrupt_of_an_iterator_passes(clock):
    """Ctrl-C in a call that an iterator makes passes, and its waits end as FetchErrors."""

    def fetch(keys):
        raise KeyboardInterrupt

    group = PollGroup(fetch, max_size=1, clock=clock)
    results = group.as_completed(["a"], timeout=9)
    with pytest.raises(KeyboardInterrupt):
        next(results)
    ((key, error),) = results
    assert key == "a"
    assert isinstance(error, FetchError)


def test_predicate_that_exits_ends_its_wait(clock):
    """SystemExit out of a predicate goes on its way, and its wait does not stay behind."""

    def exiting(value):
        raise SystemExit(3)

    group = group_of(Service(clock, {"a": 0}))
    with pytest.raises(SystemExit):
        group.wait("a", until=exiting, timeout=9)
    assert left(group) == 0


def test_predicate_may_wait_on_the_group(clock):
    """A predicate may add waits, and even wait for them."""
    service = Service(clock, {"a": 0, "b": 2})
    group = group_of(service)

    def attached(value):
        return value and group.wait("b", timeout=9)

    assert group.wait("a", until=attached, timeout=30) is True
    assert clock.monotonic() >= 2


def test_predicates_may_wait_one_inside_the_other(clock):
    """While predicates are asked their call is over, so any number may make calls in them."""
    group = group_of(Service(clock, dict.fromkeys(range(9), 0)))

    def ready(key):
        return lambda value: key == 8 or group.wait(key + 1, until=ready(key + 1), timeout=60)

    assert group.wait(0, until=ready(0), timeout=60) is True


def test_fetch_may_not_wait_on_the_group(clock):
    """A fetch that would wait for itself gets an error."""

    def fetch(keys):
        return group.wait_many(keys, timeout=9)

    group = PollGroup(fetch, max_size=1, clock=clock)
    with pytest.raises(RuntimeError, match="its own poll group"):
        group.wait("a", timeout=9)
    assert left(group) == 0


def test_fetch_runs_in_a_context_of_its_own(clock):
    """What a fetch does to context variables nobody else sees."""
    variable = contextvars.ContextVar("variable", default=0)

    def fetch(keys):
        variable.set(variable.get() + 1)
        return dict.fromkeys(keys, variable.get())

    variable.set(7)
    group = PollGroup(fetch, max_size=1, clock=clock)
    assert [group.wait("a", timeout=9) for _ in range(2)] == [1, 1]
    assert variable.get() == 7


def test_clock_that_stands_still_is_an_error():
    """A clock that never moves ends the waits, rather than hang them."""

    class Still(FakeClock):
        def wait(self, event, seconds):
            return event.is_set()

    group = group_of(Service(Still()), schedule=fixed(8))
    with pytest.raises(ClockStalled):
        group.wait("a", timeout=60)


def test_events_tell_of_calls_and_waits(clock):
    """A hook hears of each call, each check and each end."""
    events = []
    group = group_of(Service(clock, {"a": 0, "b": 1}, duration=0.25), on_event=events.append)
    group.wait_many(["a", "b"], timeout=9)
    assert events == [
        Called(1, 2, 0.25, None, 0.5),
        Checked("a", 1, 0.25 + LINGER, True),
        Checked("b", 1, 0.25 + LINGER, False, next_delay=1.0),
        Finished("a", "ready", 1, 0.25 + LINGER, True),
        Called(2, 1, 0.25, None, 0.5),
        Checked("b", 2, 1.5 + LINGER, True),
        Finished("b", "ready", 2, 1.5 + LINGER, True),
    ]


def test_events_tell_of_errors(clock):
    """A hook hears of errors of calls and of keys, and of waits that were given up."""
    events = []

    def fetch(keys):
        if "down" in keys:
            raise OSError("down")
        return {key: KeyError(key) for key in keys}

    group = PollGroup(fetch, max_size=1, clock=clock, on_event=events.append)
    group.wait_many(["down", "bad"], timeout=9)
    group.as_completed(["c"], timeout=9).close()
    assert [type(event).__name__ for event in events] == [
        *("Called", "Checked", "Finished") * 2,
        "Finished",
    ]
    assert isinstance(events[0].error, OSError)
    assert [event.reason for event in events if isinstance(event, Finished)] == [
        "error",
        "error",
        "cancelled",
    ]


@pytest.mark.parametrize("kind", [Called, Checked, Finished])
def test_hook_that_raises_ends_the_waits_it_was_told_of(clock, kind):
    """What a hook raises surfaces where it was told."""

    def hook(event):
        if isinstance(event, kind):
            raise ZeroDivisionError

    group = group_of(Service(clock, {"a": 0}), on_event=hook)
    with pytest.raises(ZeroDivisionError):
        group.wait("a", timeout=9)
    assert left(group) == 0


def test_hook_that_exits_takes_nobody_along(clock):
    """What is no ``Exception`` out of a hook goes on its way; the other waits are told."""

    def hook(event):
        if isinstance(event, Finished) and event.name == "a":
            raise SystemExit(3)

    group = group_of(Service(clock, {"a": 0, "b": 0}), on_event=hook)
    results = group.as_completed(["a", "b"], timeout=9)
    with pytest.raises(SystemExit):
        next(results)
    found = dict(results)
    assert isinstance(found["a"], FetchError)
    assert found["b"] is True


def test_hook_that_exits_loses_no_call(clock):
    """A call that a hook's exit prevented is made by whoever waits next (G8)."""

    def hook(event):
        if isinstance(event, Finished) and event.name == "c":
            raise SystemExit(3)

    service = Service(clock, {"b": 0})
    group = group_of(service, max_size=1, on_event=hook)
    first = group.as_completed(["a", "b"], timeout=9)
    second = group.as_completed(["c"], timeout=LINGER)  # over as b's call is to start
    service.ready["a"] = 0
    assert next(first) == ("a", True)
    with pytest.raises(SystemExit):
        next(first)
    assert next(first) == ("b", True)
    assert [keys for _, keys in service.calls] == [["a"], ["b"]]
    assert isinstance(dict(second)["c"], FetchError)


def test_repr_shows_the_settings(clock):
    """A group shows what it was made of."""
    shown = repr(PollGroup(len, max_size=7))
    assert shown.startswith("PollGroup(fetch=<built-in function len>, max_size=7, min_gap=0.5")


# Closing.


def test_closed_group_refuses(clock):
    """A closed group takes no waits, and closing it again does nothing."""
    service = Service(clock, {"a": 0})
    with group_of(service) as group:
        pass
    group.close()
    for call in (group.wait_many, group.as_completed):
        with pytest.raises(BatcherClosed):
            call(["a"], timeout=1)
    assert service.calls == []


def test_close_in_a_predicate_ends_the_waits(clock):
    """Whoever closes the group from inside a call does not wait for that call."""
    group = group_of(Service(clock, {"a": 9}))
    with pytest.raises(BatcherClosed, match="'a' was not ready"):
        group.wait("a", until=lambda value: group.close(), timeout=9)
    assert clock.monotonic() == LINGER


def test_iterator_of_a_closed_group_ends(clock):
    """Waits of an iterator come out as errors once the group is closed."""
    group = group_of(Service(clock))
    results = group.as_completed(["a", "b"], timeout=None)
    group.close()
    assert [(key, type(error)) for key, error in results] == [
        ("a", BatcherClosed),
        ("b", BatcherClosed),
    ]


def test_close_waits_for_a_call(clock):
    """What a call that is under way brings still counts (B10)."""
    group = group_of(Service(clock, {"a": 0}, duration=4))

    def closing():
        clock.sleep(1)
        group.close()
        return clock.monotonic()

    def waiting():
        found = group.wait_many(["a", "b"], timeout=None)
        return found["a"], type(found["b"])

    assert clock.run(waiting, closing) == [(True, BatcherClosed), 4 + LINGER]


def test_close_waits_no_longer_than_it_is_told(clock):
    """At its timeout closing ends the waits of a call that hangs, though not the call."""
    group = group_of(Service(clock, {"a": 0}, duration=60))

    def closing():
        clock.sleep(1)
        group.close(timeout=2)
        return clock.monotonic()

    def waiting():
        with pytest.raises(BatcherClosed):
            group.wait("a", timeout=None)
        return clock.monotonic()

    # The first makes the call, and cannot leave it.
    assert clock.run(waiting, waiting, closing) == [60 + LINGER, 3, 3]


# Several threads.


def test_threads_share_calls(clock):
    """Waits of several threads travel together, and each returns as soon as it is ready."""
    service = Service(clock, {number: number for number in range(5)})
    group = group_of(service)

    def waiting(number):
        def wait():
            group.wait(number, timeout=60)
            return clock.monotonic()

        return wait

    assert clock.run(*map(waiting, range(5))) == [LINGER + number for number in range(5)]
    assert service.starts == [LINGER + number for number in range(5)]


def test_newcomer_is_served_by_the_sleeping_leader(clock):
    """A thread that joins while the leader sleeps for long is asked for at once."""
    service = Service(clock, {"b": 0})
    group = group_of(service, schedule=fixed(50))

    def first():
        with pytest.raises(PollTimeout):
            group.wait("a", timeout=60)

    def second():
        clock.sleep(5)
        group.wait("b", timeout=9)
        return clock.monotonic()

    assert clock.run(first, second) == [None, 5]
    assert service.calls[1] == (5, ["b", "a"])


def test_a_leader_that_leaves_hands_on_the_lead(clock):
    """When the thread that leads is done or cancelled, another makes the calls."""
    service, cancel = Service(clock, {"b": 3}), threading.Event()
    group = group_of(service)
    clock.call_at(1.5, cancel.set)

    def cancelled():
        with pytest.raises(PollCancelled):
            group.wait("a", timeout=60, cancel=cancel)
        return clock.monotonic()

    def waiting():
        group.wait("b", timeout=60)
        return clock.monotonic()

    assert clock.run(cancelled, waiting) == [1.5, 3 + LINGER]
    assert service.calls[2:] == [(2 + LINGER, ["b"]), (3 + LINGER, ["b"])]


def test_slow_call_does_not_hold_up_another_thread(clock):
    """While one thread's call hangs, others make theirs (B7, C13)."""
    slow = Service(clock, {"a": 0}, duration=60)
    quick = Service(clock, {"b": 0})
    group = PollGroup(lambda keys: (slow if "a" in keys else quick)(keys), max_size=9, clock=clock)

    def first():
        group.wait("a", timeout=None)
        return clock.monotonic()

    def second():
        clock.sleep(1)
        group.wait("b", timeout=None)
        return clock.monotonic()

    assert clock.run(first, second) == [60 + LINGER, 1]


def test_waits_for_one_key_are_judged_one_by_one(clock):
    """Threads that wait for the same key with other predicates share its place."""
    states = ["creating", "available", "deleting"]
    service = Service(clock)

    def fetch(keys):
        service(keys)
        return dict.fromkeys(keys, states[min(len(service.calls) - 1, 2)])

    group = PollGroup(fetch, max_size=9, clock=clock, schedule=fixed(1))

    def waiting(state):
        return lambda: group.wait("vol-1", until=state.__eq__, timeout=9)

    assert clock.run(*map(waiting, states)) == states
    assert [keys for _, keys in service.calls] == [["vol-1"]] * 3


def test_interrupt_in_one_thread_resolves_the_others(clock):
    """Ctrl-C in the thread that makes a call leaves the others with a FetchError (B6, C6)."""

    def fetch(keys):
        raise KeyboardInterrupt

    group = PollGroup(fetch, max_size=9, clock=clock)

    def first():
        with pytest.raises(KeyboardInterrupt):
            group.wait("a", timeout=9)

    def second():
        with pytest.raises(FetchError) as caught:
            group.wait("b", timeout=9)
        return type(caught.value.__cause__)

    assert clock.run(first, second) == [None, KeyboardInterrupt]


def test_bug_in_one_thread_spares_the_others(clock):
    """SystemExit out of a predicate is its own wait's end; the others go on."""

    def exiting(value):
        raise SystemExit(3)

    group = group_of(Service(clock, {"b": 1}))

    def first():
        with pytest.raises(SystemExit):
            group.wait("a", until=exiting, timeout=9)

    assert clock.run(first, lambda: group.wait("b", timeout=9)) == [None, True]


def test_private_errors(clock):
    """Each of many callers gets an exception of its own (B4, C5)."""

    def fetch(keys):
        raise OSError("down")

    group = PollGroup(fetch, max_size=9, clock=clock)

    def waiting():
        with pytest.raises(OSError, match="down") as caught:
            group.wait("a", timeout=9)
        return caught.value

    errors = clock.run(*[waiting] * 20)
    assert len({id(error) for error in errors}) == 20
    assert len({id(error.__cause__) for error in errors}) == 1


def test_iterator_serves_one_thread_at_a_time(clock):
    """Two threads at the same iterator are an error, as with a generator."""
    group = group_of(Service(clock, {"a": 3}))
    results = group.as_completed(["a"], timeout=9)

    def second():
        clock.sleep(1)
        with pytest.raises(RuntimeError, match="another thread"):
            next(results)

    assert clock.run(lambda: next(results), second) == [("a", True), None]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_child_starts_clean(clock):
    """A child has a group without waits, whatever its parent's was doing."""
    service = Service(clock, {"b": 0})
    group = group_of(service)
    results = group.as_completed(["a"], timeout=None)
    group._lead._lock.acquire()  # as if another thread had it at that moment
    child = os.fork()
    if not child:
        try:
            assert group.wait("b", timeout=9) is True
            assert service.calls[-1][1] == ["b"]
            with pytest.raises(RuntimeError, match="forked"):
                next(results)
            results.close()
        except BaseException:
            os._exit(1)
        os._exit(0)
    group._lead._lock.release()
    assert os.waitpid(child, 0)[1] == 0
    group.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_closed_group_is_closed_in_a_child():
    """Forking opens nothing."""
    group = PollGroup(dict.fromkeys, max_size=1)
    group.close()
    child = os.fork()
    if not child:
        try:
            group.wait("a", timeout=9)
        except BatcherClosed:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
