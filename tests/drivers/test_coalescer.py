"""Merging requests on threads."""

from __future__ import annotations

import threading

import pytest

from pollwait._core.batched import Batched
from pollwait._errors import BatcherClosed, BatcherFull, FetchError
from pollwait._sync.coalescer import Coalescer
from pollwait.testing import FakeClock

PATIENCE = 10  # real seconds after which a test fails rather than hangs


@pytest.fixture
def clock():
    """A clock on which threads take turns."""
    return FakeClock()


def update(pending, request):
    """Merge changes into one dict, save for those that contradict each other."""
    merged = dict(pending or {})
    for name, value in request.items():
        if merged.setdefault(name, value) != value:
            raise ValueError(f"{name} is {merged[name]} already")
    return merged


class Execute:
    """Record the calls, each of which takes a second or raises what it is told."""

    def __init__(self, clock, errors=()):
        self.clock = clock
        self.calls = []
        self.errors = list(errors)

    def __call__(self, key, merged):
        self.calls.append((self.clock.monotonic(), key, merged))
        self.clock.sleep(1)
        if self.errors:
            raise self.errors.pop()
        return f"{key} done"


def make(clock, execute, **options):
    """Return a coalescer of changes."""
    return Coalescer(update, execute, **{"max_delay": 0.5, "clock": clock, **options})


def asking(clock, seconds, ask):
    """Return a function that asks at a time, and returns the answer and when it came."""

    def run():
        clock.sleep(seconds)
        try:
            answer = ask()
        except Exception as error:
            answer = error
        return answer, clock.monotonic()

    return run


def test_requests_for_a_key_are_merged(clock):
    """One call for each key and window, and its result is everybody's."""
    execute = Execute(clock)
    coalescer = make(clock, execute)
    results = clock.run(
        asking(clock, 0, lambda: coalescer.load("a", {"size": 1})),
        asking(clock, 0.25, lambda: coalescer.load("b", {"size": 2})),
        asking(clock, 0.25, lambda: coalescer.load("a", {"iops": 3})),
    )
    assert execute.calls == [(0.5, "a", {"size": 1, "iops": 3}), (0.75, "b", {"size": 2})]
    assert results == [("a done", 1.5), ("b done", 1.75), ("a done", 1.5)]


def test_request_that_cannot_be_merged_is_its_own_callers_error(clock):
    """The error is the very one that merge raised, and the others go on without that request."""
    execute = Execute(clock)
    coalescer = make(clock, execute)
    results = clock.run(
        asking(clock, 0, lambda: coalescer.load("a", {"size": 1})),
        asking(clock, 0.25, lambda: coalescer.load("a", {"size": 2})),
        asking(clock, 0.25, lambda: coalescer.submit("a", {"size": 3})),
    )
    assert execute.calls == [(0.5, "a", {"size": 1})]
    assert results[0][0] == "a done"
    assert [str(answer) for answer, _ in results[1:]] == ["size is 1 already"] * 2


def test_calls_for_a_key_do_not_overlap(clock):
    """B3: what is asked during a call is merged for the next, which waits for it to end."""
    execute = Execute(clock)
    coalescer = make(clock, execute)
    clock.run(
        asking(clock, 0, lambda: coalescer.load("a", {"size": 1})),
        asking(clock, 0.75, lambda: coalescer.load("a", {"size": 2})),
        asking(clock, 1.375, lambda: coalescer.load("a", {"iops": 3})),
    )
    assert execute.calls == [(0.5, "a", {"size": 1}), (1.5, "a", {"size": 2, "iops": 3})]


@pytest.mark.parametrize("error", [OSError("down"), GeneratorExit()])
def test_callers_have_exceptions_of_their_own(clock, error):
    """B4, B6: copies where there can be some, and the next call is made as if nothing had been."""
    coalescer = make(clock, Execute(clock, [error]))
    results = clock.run(
        *(asking(clock, 0, lambda: coalescer.load("a", {"size": 1})) for _ in range(3))
    )
    expected = OSError if isinstance(error, OSError) else FetchError
    assert [type(answer) for answer, _ in results] == [expected] * 3
    assert len({id(answer) for answer, _ in results}) == 3
    assert all(answer.__cause__ is error for answer, _ in results)
    assert coalescer.load("a", {"size": 2}) == "a done"


def test_asynchronous_execute_is_a_type_error(clock):
    """It answers nobody on threads, and does not warn that it was never awaited."""

    async def execute(key, merged):
        return key

    with pytest.raises(TypeError, match=r"execute returned .* use pollwait\.aio\.Coalescer"):
        make(clock, execute).load("a", {})


def test_caller_that_leaves_disturbs_nobody(clock):
    """B5: a key that nobody waits for is not sent; for others, what was merged stays merged."""
    execute = Execute(clock)
    coalescer = make(clock, execute)
    results = clock.run(
        asking(clock, 0, lambda: coalescer.load("a", {"size": 1}, timeout=0.25)),
        asking(clock, 0, lambda: coalescer.load("a", {"iops": 2})),
        asking(clock, 0, lambda: coalescer.load("b", {"size": 3}, timeout=0.25)),
        asking(clock, 0, lambda: coalescer.submit("c", {"size": 3}).cancel()),
    )
    assert [type(answer) for answer, _ in results] == [TimeoutError, str, TimeoutError, bool]
    assert execute.calls == [(0.5, "a", {"size": 1, "iops": 2})]


def test_key_without_room_waits_or_is_refused(clock):
    """B8: as in a batcher; what cannot be merged when there is room fails its caller then."""
    execute = Execute(clock)
    coalescer = make(clock, execute, max_pending=1)
    results = clock.run(
        asking(clock, 0, lambda: coalescer.load("a", {"size": 1})),
        asking(clock, 0.125, lambda: coalescer.load("b", {"size": 2})),
        asking(clock, 0.25, lambda: coalescer.load("b", {"size": 3})),
    )
    assert execute.calls == [(0.5, "a", {"size": 1}), (1.0, "b", {"size": 2})]
    assert [when for _, when in results] == [1.5, 2.0, 0.5]
    assert str(results[2][0]) == "size is 2 already"
    refusing = make(clock, execute, max_pending=1, when_full="raise")
    with clock.registered():
        refusing.submit("a", {})
        with pytest.raises(BatcherFull, match="no room for 'b'"):
            refusing.load("b", {})


def test_request_that_comes_in_when_another_caller_leaves_may_be_rejected(clock):
    """B5, B8: who stood in line and cannot be merged hears so when there is room, and goes."""
    execute = Execute(clock)
    coalescer = make(clock, execute, max_pending=1, max_delay=4)
    results = clock.run(
        asking(clock, 0, lambda: coalescer.load("a", {"size": 1}, timeout=1)),
        asking(clock, 0.25, lambda: coalescer.load("b", {"size": 2})),
        asking(clock, 0.5, lambda: coalescer.load("b", {"size": 3})),
    )
    assert [when for _, when in results] == [1.0, 6.0, 1.0]
    assert str(results[2][0]) == "size is 2 already"


def test_merge_must_not_use_the_coalescer(clock):
    """It would wait for the lock that it holds; others may merge at the same time."""
    coalescer = Coalescer(
        lambda pending, request: coalescer.load("b", request), Execute(clock), clock=clock
    )
    with pytest.raises(RuntimeError, match="merge must not use its own coalescer"):
        coalescer.load("a", 1)
    coalescer.close()


@pytest.mark.parametrize(("slots", "suffix"), [(1, "x"), (4, ""), (3, "x")])
def test_execute_that_would_wait_for_itself_is_told_so(clock, slots, suffix):
    """B8: for a slot, or for its own key, as calls for one key do not overlap."""

    def execute(key, merged):
        return coalescer.load(key + suffix, {})

    coalescer = make(clock, execute, max_in_flight=slots)
    with pytest.raises(RuntimeError, match="would wait for itself"):
        coalescer.load("a", {})


def test_flush_and_close_send_what_is_queued(clock):
    """B10: without waiting for the windows; a closed coalescer refuses requests."""
    execute = Execute(clock)
    with clock.registered(), make(clock, execute, max_delay=60) as coalescer:
        flushed = coalescer.submit("a", {"size": 1})
        coalescer.flush()
        assert flushed.result() == "a done"
        drained = coalescer.submit("b", {"size": 2})
        coalescer.close()
        assert drained.result() == "b done"
        with pytest.raises(BatcherClosed):
            coalescer.load("c", {})
    assert [key for _, key, _ in execute.calls] == ["a", "b"]


def test_events_tell_of_each_call(clock):
    """One event for each key and window."""
    events = []
    coalescer = make(clock, Execute(clock, [OSError("down")]), on_event=events.append)
    with pytest.raises(OSError, match="down") as caught:
        coalescer.load("a", {})
    assert events == [Batched(1, "delay", 0.5, 1.0, errors=1, error=caught.value.__cause__)]


def test_works_on_real_threads():
    """Without a clock of its own it takes that of the system."""
    with Coalescer(lambda pending, request: (pending or 0) + request, lambda *call: call) as adder:
        futures = [adder.submit("a", number) for number in range(5)]
        adder.flush()
        assert {future.result(PATIENCE) for future in futures} == {("a", 10)}
    assert not [thread for thread in threading.enumerate() if "lambda" in thread.name]


def test_arguments_are_checked():
    """What cannot work is refused when the coalescer is made."""
    with pytest.raises(TypeError, match="merge must be callable: got merge=5"):
        Coalescer(5, print, max_delay=1)
    with pytest.raises(TypeError, match="execute must be callable: got 5"):
        Coalescer(print, 5, max_delay=1)
    with pytest.raises(ValueError, match="max_delay must be finite"):
        Coalescer(print, print, max_delay=-1)
    assert Coalescer[str, int, int, str](max, print, max_delay=1)
