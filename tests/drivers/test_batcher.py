"""Batching on threads. Time is fake where it matters, so that nothing here depends on chance."""

from __future__ import annotations

import contextvars
import gc
import subprocess
import sys
import threading
import weakref
from concurrent.futures import CancelledError, wait
from pathlib import Path

import pytest

import pollwait
from pollwait._core.batched import Batched
from pollwait._errors import BatcherClosed, BatcherFull, FetchError, MissingKey
from pollwait._sync import workers
from pollwait._sync.batcher import Batcher
from pollwait.testing import FakeClock, RecordingFetch

SOURCE = str(Path(pollwait.__file__).parent.parent)
PATIENCE = 10  # real seconds after which a test fails rather than hangs


@pytest.fixture
def clock():
    """A clock on which threads take turns."""
    return FakeClock()


def upper(keys):
    """Answer each key by itself in capitals."""
    return {key: key.upper() for key in keys}


def at(clock, seconds, ask):
    """Return a function that asks at a time, and returns the answer and when it came."""

    def asking():
        clock.sleep(seconds)
        try:
            answer = ask()
        except Exception as error:
            answer = error
        return answer, clock.monotonic()

    return asking


def make(clock, fetch, **options):
    """Return a batcher with room for everything unless told otherwise."""
    return Batcher(fetch, **{"max_size": 100, "max_delay": 0.5, "clock": clock, **options})


def test_callers_share_calls(clock):
    """B1, B2, B3: keys of one window travel together, once; a key that is in a call waits anew."""
    fetch = RecordingFetch(str.upper, duration=1, clock=clock)
    batcher = make(clock, fetch)
    asked = [(0, "a"), (0.25, "b"), (0.25, "a"), (0.75, "a")]
    results = clock.run(
        *(at(clock, when, lambda key=key: batcher.load(key)) for when, key in asked)
    )
    assert results == [("A", 1.5), ("B", 1.5), ("A", 1.5), ("A", 2.25)]
    assert fetch.calls == [["a", "b"], ["a"]]
    assert fetch.times == [0.5, 1.25]


def test_duplicates_do_not_put_off_the_call(clock):
    """C17: a duplicate of the sole key every 0.4 s, and the window still ends after 0.5 s."""
    fetch = RecordingFetch(str.upper, clock=clock)
    batcher = make(clock, fetch)
    clock.run(*(at(clock, 0.4 * turn, lambda: batcher.load("a")) for turn in range(2)))
    assert fetch.times == [0.5]


def test_full_window_does_not_wait(clock):
    """B2: max_size keys are sent at once, the others at their time."""
    fetch = RecordingFetch(str.upper, clock=clock)
    batcher = make(clock, fetch, max_size=2)
    clock.run(
        *(
            at(clock, 0.125 * turn, lambda key=key: batcher.load(key))
            for turn, key in enumerate("abc")
        )
    )
    assert fetch.calls == [["a", "b"], ["c"]]
    assert fetch.times == [0.125, 0.75]


def test_idle_window_does_not_wait(clock):
    """B2: idle_delay after the last key is soon enough."""
    fetch = RecordingFetch(str.upper, clock=clock)
    batcher = make(clock, fetch, idle_delay=0.125)
    clock.run(
        *(
            at(clock, when, lambda key=key: batcher.load(key))
            for when, key in ((0, "a"), (0.0625, "b"))
        )
    )
    assert fetch.times == [0.1875]


def test_calls_run_at_once_and_the_window_grows_meanwhile(clock):
    """B7: up to max_in_flight; what comes meanwhile goes out in calls of max_size."""
    fetch = RecordingFetch(lambda key: key, duration=4, clock=clock)
    batcher = make(clock, fetch, max_size=3, max_in_flight=2)
    clock.run(*(at(clock, key / 8, lambda key=key: batcher.load(key)) for key in range(16)))
    assert fetch.most_in_flight == 2
    assert fetch.calls == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [12, 13, 14], [15]]
    assert fetch.times == [0.25, 0.625, 4.25, 4.625, 8.25, 8.625]


def test_load_many_answers_every_key(clock):
    """The answers are in the order of first occurrence, errors among them."""
    gone = ValueError("gone")
    fetch = RecordingFetch({"a": 1, "b": gone, "c": 3}, clock=clock)
    batcher = make(clock, fetch, max_size=2)
    answers = batcher.load_many(iter("cbazbc"))
    assert list(answers) == ["c", "b", "a", "z"]
    assert (answers["c"], answers["a"]) == (3, 1)
    assert isinstance(answers["b"], ValueError)
    assert answers["b"] is not gone
    assert isinstance(answers["z"], MissingKey)
    assert fetch.calls == [["c", "b"], ["a", "z"]]
    assert batcher.load_many([]) == {}
    assert len(fetch.calls) == 2


def test_load_many_shares_calls_with_others(clock):
    """B1: a bulk of keys is made of keys like any other."""
    fetch = RecordingFetch(str.upper, clock=clock)
    batcher = make(clock, fetch)
    results = clock.run(
        at(clock, 0, lambda: batcher.load_many("ab")), at(clock, 0.25, lambda: batcher.load("b"))
    )
    assert results == [({"a": "A", "b": "B"}, 0.5), ("B", 0.5)]
    assert fetch.calls == [["a", "b"]]


def test_flush_sends_at_once(clock):
    """What is queued goes out without waiting, and nothing goes out if nothing is queued."""
    fetch = RecordingFetch(str.upper, clock=clock)
    batcher = make(clock, fetch, max_delay=60)
    batcher.flush()
    with clock.registered():
        futures = [batcher.submit(key) for key in "ab"]
        clock.sleep(0.25)
        batcher.flush()
        clock.sleep(0)
    assert [future.result(PATIENCE) for future in futures] == ["A", "B"]
    assert fetch.times == [0.25]


def test_window_without_delay_is_sent_at_once(clock):
    """With max_delay=0 nobody lingers."""
    fetch = RecordingFetch(str.upper, clock=clock)
    assert make(clock, fetch, max_delay=0).load("a") == "A"
    assert fetch.times == [0.0]


def test_values_are_not_remembered(clock):
    """B12, C16: neither values nor errors."""
    fetch = RecordingFetch(str.upper, errors={1: OSError("once")}, clock=clock)
    batcher = make(clock, fetch)
    with pytest.raises(OSError, match="once"):
        batcher.load("a")
    assert batcher.load("a") == batcher.load("a") == "A"
    assert fetch.calls == [["a"], ["a"], ["a"]]


def test_answer_without_a_key_fails_that_key(clock):
    """B4, C2, C10: fewer results than keys shift nothing, and extra ones are ignored."""
    batcher = make(clock, lambda keys: {"b": 2, "z": 26})
    answers = batcher.load_many("abc")
    assert answers["b"] == 2
    assert [answers[key].key for key in "ac"] == ["a", "c"]
    with pytest.raises(MissingKey) as caught:
        batcher.load("a")
    assert caught.value.__cause__ is None


def test_answer_that_is_no_mapping_fails_all(clock):
    """B4: a list does not tell which value is whose."""
    answers = make(clock, lambda keys: [key.upper() for key in keys]).load_many("ab")
    assert all(isinstance(answer, TypeError) for answer in answers.values())


@pytest.mark.parametrize("isolate", [None, lambda error, keys: ()])
def test_asynchronous_fetch_is_a_type_error(clock, isolate):
    """An awaitable answers nobody, is not halved, is never awaited, and does not warn of that."""
    calls = []

    async def fetch(keys):
        return {}

    def counting(keys):
        calls.append(keys)
        return fetch(keys)

    batcher = make(clock, counting, isolate=isolate)
    answers = batcher.load_many("abc")
    assert all("use pollwait.aio.Batcher" in str(answer) for answer in answers.values())
    with pytest.raises(TypeError, match=r"fetch returned an awaitable \(coroutine\)"):
        batcher.load("a")
    assert len(calls) == 2


def test_callers_have_exceptions_of_their_own(clock):
    """B4, C5: 200 callers of a failed call have 200 errors with short tracebacks and one cause."""
    error = OSError("down")
    batcher = make(clock, RecordingFetch(str.upper, errors={1: error}, clock=clock))
    results = clock.run(*(at(clock, 0, lambda: batcher.load("a")) for _ in range(200)))
    errors = [answer for answer, _ in results]
    assert len({id(one) for one in errors}) == 200
    assert all(type(one) is OSError and one.__cause__ is error for one in errors)
    for one in (errors[0], errors[-1]):
        frames, trace = 0, one.__traceback__
        while trace:
            frames, trace = frames + 1, trace.tb_next
        assert frames < 8


def test_traceback_of_the_cause_begins_in_fetch(clock):
    """A reader sees where fetch failed, and no frame of the library that holds the others."""

    def fetch(keys):
        raise OSError("down")

    with pytest.raises(OSError, match="down") as caught:
        make(clock, fetch).load("a")
    assert caught.value.__cause__.__traceback__.tb_frame.f_code is fetch.__code__


def test_timed_out_caller_disturbs_nobody(clock):
    """B5: it gets a plain TimeoutError in time, and the others of its key their answer."""
    fetch = RecordingFetch(str.upper, duration=1, clock=clock)
    batcher = make(clock, fetch)
    results = clock.run(
        at(clock, 0, lambda: batcher.load("a", timeout=0.25)),
        at(clock, 0, lambda: batcher.load("a", timeout=1.0)),
        at(clock, 0, lambda: batcher.load("a", timeout=1.75)),
        at(clock, 0, lambda: batcher.load("b", 0.25)),
    )
    errors = [answer for answer, _ in results if type(answer) is TimeoutError]
    assert len(errors) == 3
    assert str(errors[0]).startswith("no answer for 'a' from the batcher of ")
    assert str(errors[0]).endswith(" in 0.25 s")
    assert [when for _, when in results] == [0.25, 1.0, 1.5, 0.25]
    assert results[2][0] == "A"
    assert fetch.calls == [["a"]]


def test_key_whose_callers_have_all_left_is_not_sent(clock):
    """B5, B11, C1, C4: no call is made for nobody, and the batcher goes on."""
    fetch = RecordingFetch(str.upper, clock=clock)
    batcher = make(clock, fetch)
    results = clock.run(*(at(clock, 0, lambda: batcher.load("a", timeout=0)) for _ in range(3)))
    assert all(type(answer) is TimeoutError for answer, _ in results)
    with clock.registered():
        assert batcher.submit("b").cancel()
    assert batcher.load("c") == "C"
    assert fetch.calls == [["c"]]


def test_key_that_was_left_makes_room(clock):
    """B5, B8: who waits for room comes in when a key is left, by a timeout or a cancellation."""
    fetch = RecordingFetch(str.upper, clock=clock)
    batcher = make(clock, fetch, max_pending=1, max_delay=4)
    results = clock.run(
        at(clock, 0, lambda: batcher.load("a", timeout=1)),
        at(clock, 0.5, lambda: batcher.load("b", timeout=1)),
        at(clock, 0.5, lambda: batcher.load_many("cd", timeout=1.25)),
        at(clock, 0.75, lambda: batcher.load("e")),
    )
    assert [when for _, when in results] == [1.0, 1.5, 1.75, 5.75]
    assert fetch.calls == [["e"]]
    with clock.registered():
        assert batcher.submit("f").cancel()
        assert batcher.submit("g").result(PATIENCE) == "G"


@pytest.mark.parametrize("ask", ["load", "load_many", "submit"])
def test_interrupted_caller_leaves(clock, ask, monkeypatch):
    """B5: a caller that is interrupted while it waits leaves no key behind."""
    fetch = RecordingFetch(str.upper, clock=clock)
    batcher = make(clock, fetch, max_pending=1, when_full="block", max_delay=60)
    with clock.registered():
        first = batcher.submit("a")
        with monkeypatch.context() as patched:
            patched.setattr(clock, "wait", interrupt)
            with pytest.raises(KeyboardInterrupt):
                getattr(batcher, ask)("b")
        assert batcher._line.pending == 1
        assert not batcher._line.overflow
        batcher.flush()
        assert first.result(PATIENCE) == "A"
    assert fetch.calls == [["a"]]


def interrupt(*_):
    """Stand for a Ctrl-C."""
    raise KeyboardInterrupt


def test_cancelled_future_disturbs_nobody(clock):
    """B5, C3: queued or in a call, its answer is skipped and everybody else has theirs."""
    fetch = RecordingFetch(str.upper, duration=1, clock=clock)
    batcher = make(clock, fetch)
    with clock.registered():
        queued, flying, other, alone = (batcher.submit(key) for key in "aabz")
        assert queued.cancel()
        clock.sleep(1)
        assert flying.cancel()
        assert alone.cancel()
        assert alone.cancel()
        clock.sleep(1)
    assert other.result(PATIENCE) == "B"
    assert fetch.calls == [["a", "b", "z"]]
    with pytest.raises(CancelledError):
        flying.result(PATIENCE)
    assert not other.cancel()
    assert wait([queued, flying, alone], timeout=PATIENCE).not_done == set()
    assert make(clock, fetch).load("c") == "C"


class Hostile(BaseException):
    """What is no Exception, nor one of those that end a program."""


@pytest.mark.parametrize("error", [Hostile(), GeneratorExit(), SystemExit(3), KeyboardInterrupt()])
def test_base_exception_resolves_every_caller(clock, error, monkeypatch):
    """B6, C6: all get a FetchError, those that end programs go on, and the batcher lives."""
    passed = []
    monkeypatch.setattr(threading, "excepthook", lambda args: passed.append(args.exc_type))
    fetch = RecordingFetch(str.upper, errors={1: error}, clock=clock)
    batcher = make(clock, fetch)
    results = clock.run(*(at(clock, 0, lambda key=key: batcher.load(key)) for key in "aab"))
    assert all(type(answer) is FetchError and answer.__cause__ is error for answer, _ in results)
    assert batcher.load("c") == "C"
    assert [*passed] == [type(error)] * isinstance(error, (SystemExit, KeyboardInterrupt))


def test_poison_key_fails_alone(clock):
    """B9, C7: one dead id among 500 is found in the same round; the others succeed."""

    def fetch(keys):
        calls.append(len(keys))
        if "vol-77" in keys:
            raise LookupError("InvalidVolume.NotFound: vol-77")
        return dict.fromkeys(keys, "available")

    calls = []
    ids = [f"vol-{number}" for number in range(500)]
    batcher = make(
        clock, fetch, max_size=500, isolate=lambda error, keys: [str(error).split(": ")[1]]
    )
    answers = batcher.load_many(ids)
    assert [key for key, answer in answers.items() if answer != "available"] == ["vol-77"]
    assert isinstance(answers["vol-77"], LookupError)
    assert calls == [500, 499]


def test_unnamed_poison_key_is_found_by_halving(clock):
    """B9: without a name it takes a few more calls, all in the same round."""

    def fetch(keys):
        if 77 in keys:
            raise ValueError("one of them is bad")
        return dict.fromkeys(keys, "available")

    events = []
    batcher = make(
        clock, fetch, max_size=500, isolate=lambda error, keys: set(), on_event=events.append
    )
    answers = batcher.load_many(range(500))
    assert [key for key, answer in answers.items() if answer != "available"] == [77]
    (event,) = events
    assert event.errors == 1
    assert 9 <= event.isolations <= 18
    assert str(event.error) == "one of them is bad"


def test_throttled_call_is_not_halved(clock):
    """B9: an error that is no matter of keys is everybody's, after one call."""
    fetch = RecordingFetch(str.upper, errors={1: OSError("throttled")}, clock=clock)
    answers = make(clock, fetch, isolate=lambda error, keys: None).load_many("abc")
    assert all(isinstance(answer, OSError) for answer in answers.values())
    assert len(fetch.calls) == 1


def test_keys_that_are_left_during_isolation_are_not_sent_again(clock):
    """B5: a further call carries only what somebody waits for."""

    def fetch(keys):
        calls.append("".join(keys))
        clock.sleep(1)
        if "b" in keys:
            raise ValueError("b is bad")
        return upper(keys)

    calls = []
    batcher = make(clock, fetch, isolate=lambda error, keys: ["b"])
    results = clock.run(
        at(clock, 0, lambda: batcher.load("a", timeout=1)),
        at(clock, 0, lambda: batcher.load("b")),
        at(clock, 0, lambda: batcher.load("c")),
    )
    assert calls == ["abc", "c"]
    assert [when for _, when in results] == [1.0, 1.5, 2.5]


def test_key_without_room_is_refused(clock):
    """B8: with when_full="raise" its caller hears so at once; queued keys need no room."""
    fetch = RecordingFetch(str.upper, clock=clock)
    batcher = make(clock, fetch, max_pending=2, when_full="raise")
    with clock.registered():
        first, second, again = batcher.submit("a"), batcher.submit("b"), batcher.submit("a")
        with pytest.raises(BatcherFull, match=r"no room for 'c': 2 keys wait .* \(max_pending=2\)"):
            batcher.load("c")
        answers = batcher.load_many("abcd")
        clock.sleep(1)
    assert [future.result(PATIENCE) for future in (first, second, again)] == ["A", "B", "A"]
    assert (answers["a"], answers["b"]) == ("A", "B")
    assert {type(answers[key]) for key in "cd"} == {BatcherFull}
    assert fetch.calls == [["a", "b"]]


def test_key_without_room_waits_in_order_of_arrival(clock):
    """B8: blocked callers come in one after the other, and before those who ask later."""
    fetch = RecordingFetch(str.upper, duration=1, clock=clock)
    batcher = make(clock, fetch, max_size=1, max_pending=1, max_in_flight=1)
    clock.run(
        *(
            at(clock, turn / 8, lambda key=key: batcher.load(key))
            for turn, key in enumerate("abcdef")
        )
    )
    assert fetch.calls == [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]
    assert not batcher._line.admitted  # nobody is remembered


def test_blocked_caller_times_out(clock):
    """B8: blocking counts as waiting; who has left the line does not come in."""
    fetch = RecordingFetch(str.upper, duration=4, clock=clock)
    batcher = make(clock, fetch, max_size=1, max_pending=1, max_in_flight=1)
    results = clock.run(
        at(clock, 0, lambda: batcher.load("a")),
        at(clock, 0.125, lambda: batcher.load("b")),
        at(clock, 0.25, lambda: batcher.load("c", timeout=1)),
        at(clock, 0.25, lambda: batcher.load_many("de", timeout=2)),
        at(clock, 0.375, lambda: batcher.load("f")),
    )
    assert type(results[2][0]) is TimeoutError
    assert [type(answer) for answer in results[3][0].values()] == [TimeoutError, TimeoutError]
    assert [when for _, when in results] == [4.0, 8.0, 1.25, 2.25, 12.0]
    assert fetch.calls == [["a"], ["b"], ["f"]]


def test_submit_blocks_until_there_is_room(clock):
    """B8, C14: a fast producer is slowed down to what the calls take."""
    fetch = RecordingFetch(lambda key: key, duration=1, clock=clock)
    batcher = make(clock, fetch, max_size=1, max_pending=1, max_in_flight=1)

    def produce():
        return [(batcher.submit(key), clock.monotonic()) for key in range(5)]

    (submitted,) = clock.run(produce)
    assert [when for _, when in submitted] == [0.0, 0.0, 1.0, 2.0, 3.0]
    assert [future.result(PATIENCE) for future, _ in submitted] == [*range(5)]


def test_load_many_takes_more_keys_than_there_is_room_for(clock):
    """B8: they go in as there is room."""
    fetch = RecordingFetch(lambda key: key, duration=1, clock=clock)
    batcher = make(clock, fetch, max_size=2, max_pending=3, max_in_flight=1)
    (answers,) = clock.run(lambda: batcher.load_many(range(20)))
    assert answers == dict(zip(range(20), range(20), strict=True))
    assert [len(call) for call in fetch.calls] == [2] * 10


def test_load_many_times_out_by_key(clock):
    """What is there in time counts; the others have a TimeoutError and are not sent."""
    fetch = RecordingFetch(lambda key: key, duration=1, clock=clock)
    batcher = make(clock, fetch, max_size=2, max_in_flight=1)
    (answers,) = clock.run(lambda: batcher.load_many(range(6), timeout=2.5))
    assert [*answers.values()][:4] == [0, 1, 2, 3]
    assert {type(answers[key]) for key in (4, 5)} == {TimeoutError}
    assert batcher.load(9) == 9
    assert fetch.calls == [[0, 1], [2, 3], [4, 5], [9]]


def test_unhashable_key_is_its_own_callers_error(clock):
    """Nobody else hears of it."""
    batcher = make(clock, upper)
    with clock.registered():
        future = batcher.submit("a")
        for ask in (batcher.load, batcher.submit, lambda key: batcher.load_many(["b", key])):
            with pytest.raises(TypeError, match="unhashable"):
                ask([])
        clock.sleep(1)
    assert future.result(PATIENCE) == "A"


@pytest.mark.parametrize("ask", ["load", "load_many", "submit"])
def test_fetch_that_would_wait_for_itself_is_told_so(clock, ask):
    """B8: with all calls out it would wait for ever; the error is that of its call."""

    def fetch(keys):
        nested = keys[0] + "x"
        if len(nested) > 4:  # a future that was not waited for is answered all the same
            return upper(keys)
        answer = getattr(batcher, ask)([nested] if ask == "load_many" else nested)
        if ask == "load_many":
            answer = answer[nested]
        return dict.fromkeys(keys, answer.result() if ask == "submit" else answer)

    batcher = make(clock, fetch, max_in_flight=3)
    error = batcher.load_many("a")["a"]
    while error.__cause__ is not None:
        error = error.__cause__
    assert str(error).endswith(
        "fetch' would wait for itself: the calls that may be out at once (max_in_flight=3) all wait"
        " for a further one"
    )
    assert batcher.load_many([]) == {}


def test_fetch_may_use_its_own_batcher_while_there_are_slots(clock):
    """B8: a call that waits for another one which can start is no mistake."""

    def fetch(keys):
        return {key: key if len(key) == 3 else batcher.load(key + key[0]) for key in keys}

    batcher = make(clock, fetch, max_in_flight=3)
    assert batcher.load("a") == "aaa"


def test_fetch_may_submit_to_its_own_batcher(clock):
    """B7: no lock is held while fetch runs, and a future that is not waited for is no circle."""
    futures = []

    def fetch(keys):
        if keys == ["a"]:
            futures.append(batcher.submit("b"))
        return upper(keys)

    batcher = make(clock, fetch, max_in_flight=1)
    assert batcher.load("a") == "A"
    assert futures[0].result(PATIENCE) == "B"


def test_circle_through_two_batchers_is_found(clock):
    """B8: each one's only call waits for the other."""
    first = make(clock, lambda keys: {key: second.load(key) for key in keys}, max_in_flight=1)
    second = make(clock, lambda keys: {key: first.load(key) for key in keys}, max_in_flight=1)
    with pytest.raises(RuntimeError, match="would wait for itself"):
        first.load("a")


def test_fetch_runs_in_its_own_context(clock):
    """B14: it sees none of a caller's context variables, nor those of the call before it."""
    variable = contextvars.ContextVar("variable", default="unset")
    seen = []

    def fetch(keys):
        seen.append(variable.get())
        variable.set("by fetch")
        return upper(keys)

    batcher = make(clock, fetch)
    variable.set("by the caller")
    batcher.load("a")
    batcher.load("b")
    assert seen == ["unset", "unset"]


def test_closed_batcher_refuses_keys(clock):
    """B10: every way to ask raises, and closing again does nothing."""
    batcher = make(clock, upper)
    batcher.close()
    for ask in (batcher.load, batcher.submit, batcher.load_many):
        with pytest.raises(BatcherClosed, match=r"no answer for 'a': the batcher of .*is closed"):
            ask("a")
    batcher.flush()
    batcher.close()
    batcher.close(drain=False, timeout=1)


def test_close_drains(clock):
    """B10: those who wait are answered first, without further lingering."""
    fetch = RecordingFetch(str.upper, duration=1, clock=clock)
    batcher = make(clock, fetch, max_size=2, max_pending=2, max_in_flight=1, max_delay=60)
    results = clock.run(
        *(at(clock, 0, lambda key=key: batcher.load(key)) for key in "abcde"),
        at(clock, 0.25, batcher.close),
        at(clock, 0.25, batcher.close),
        at(clock, 0.5, lambda: batcher.load("f")),
    )
    assert [answer for answer, _ in results[:5]] == [*"ABCDE"]
    assert [when for _, when in results] == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 0.5]
    assert isinstance(results[-1][0], BatcherClosed)


def test_close_fails_what_is_left_at_its_timeout(clock):
    """B10: in a call, queued or in line, nobody hangs."""
    fetch = RecordingFetch(str.upper, duration=100, clock=clock)
    batcher = make(clock, fetch, max_size=1, max_pending=1, max_in_flight=1)
    results = clock.run(
        *(at(clock, 0, lambda key=key: batcher.load(key)) for key in "abc"),
        at(clock, 0, lambda: batcher.load_many("xyz")),
        at(clock, 1, lambda: batcher.close(timeout=2)),
    )
    assert [when for _, when in results] == [3.0] * 5
    assert {type(answer) for answer, _ in results[:3]} == {BatcherClosed}
    assert {type(answer) for answer in results[3][0].values()} == {BatcherClosed}
    assert fetch.calls == [["a"]]


def test_close_without_drain_fails_everybody_at_once(clock):
    """B10: nobody waits for a call that may never return."""
    fetch = RecordingFetch(str.upper, duration=100, clock=clock)
    batcher = make(clock, fetch, max_size=1, max_in_flight=1)
    results = clock.run(
        *(at(clock, 0, lambda key=key: batcher.load(key)) for key in "ab"),
        at(clock, 1, lambda: batcher.close(drain=False)),
    )
    assert [when for _, when in results] == [1.0, 1.0, 1.0]
    assert {type(answer) for answer, _ in results[:2]} == {BatcherClosed}


def test_close_lets_a_blocked_submit_go(clock):
    """B10: its future has the error."""
    batcher = make(
        clock,
        RecordingFetch(str.upper, duration=9, clock=clock),
        max_pending=1,
        max_size=1,
        max_in_flight=1,
    )
    results = clock.run(
        at(clock, 0, lambda: [batcher.submit(key) for key in "abc"]),
        at(clock, 1, lambda: batcher.close(drain=False)),
    )
    assert results[0][1] == 1.0
    assert all(isinstance(future.exception(PATIENCE), BatcherClosed) for future in results[0][0])


def test_close_wakes_when_the_last_caller_leaves(clock):
    """B10: a drained batcher is one for which nobody waits."""
    batcher = make(clock, upper, max_delay=60, max_in_flight=1)
    fetch = RecordingFetch(str.upper, duration=2, clock=clock)
    batcher = make(clock, fetch, max_size=1, max_in_flight=1)
    results = clock.run(
        at(clock, 0, lambda: batcher.load("a")),
        at(clock, 0, lambda: batcher.load("b", timeout=1)),
        at(clock, 0.5, batcher.close),
    )
    assert [when for _, when in results] == [2.0, 1.0, 2.0]


def test_fetch_may_close_its_batcher(clock):
    """B10: it does not wait for itself, and its callers are answered."""

    def fetch(keys):
        batcher.close()
        return upper(keys)

    batcher = make(clock, fetch)
    assert batcher.load("a") == "A"
    with pytest.raises(BatcherClosed):
        batcher.load("b")


def test_with_statement_closes(clock):
    """B10: it drains at its end, and lets go at once when an error passes."""
    fetch = RecordingFetch(str.upper, clock=clock)
    with clock.registered():
        with make(clock, fetch, max_delay=60) as batcher:
            future = batcher.submit("a")
        assert future.result(PATIENCE) == "A"
        assert fetch.times == [0.0]
        batcher = make(clock, fetch, max_delay=60)
        future = batcher.submit("b")
        with pytest.raises(ZeroDivisionError), batcher:
            raise ZeroDivisionError
        assert isinstance(future.exception(PATIENCE), BatcherClosed)
    assert fetch.calls == [["a"]]


def test_events_tell_of_each_batch(clock):
    """One event a batch: its size, why and when it went, and how it ended."""
    events = []
    error = OSError("down")
    fetch = RecordingFetch(
        {"a": 1, "b": ValueError("bad")}, errors={2: error}, duration=1, clock=clock
    )
    batcher = make(clock, fetch, max_size=3, idle_delay=0.25, on_event=events.append)
    batcher.load_many("ab")
    batcher.load_many("abc")
    batcher.close()
    assert events == [
        Batched(2, "idle", 0.25, 1.0, errors=1),
        Batched(3, "size", 0.0, 1.0, errors=3, error=error),
    ]


def test_error_of_a_hook_surfaces_and_hurts_nobody(clock, monkeypatch):
    """A raising hook is the user's bug: the callers are answered, and the thread tells of it."""
    passed = []
    monkeypatch.setattr(threading, "excepthook", lambda args: passed.append(args.exc_type))

    def hook(event):
        raise ZeroDivisionError

    batcher = make(clock, upper, on_event=hook)
    assert batcher.load_many("ab") == {"a": "A", "b": "B"}
    assert batcher.load("c") == "C"
    assert passed == [ZeroDivisionError] * 2


def test_callback_that_waits_for_another_call_is_answered(clock):
    """A callback of a future runs in a worker, and there is another one to answer it."""
    batcher = make(clock, upper, max_in_flight=1)
    answers = []
    with clock.registered():
        future = batcher.submit("a")
        future.add_done_callback(lambda _: answers.append(batcher.load("b", timeout=60)))
        clock.sleep(9)
    assert answers == ["B"]


def test_callback_that_interrupts_leaves_nobody_out(clock, monkeypatch):
    """Whatever a callback raises, the others of its batch are answered."""
    passed = []
    monkeypatch.setattr(threading, "excepthook", lambda args: passed.append(args.exc_type))

    def interrupt(future):
        raise KeyboardInterrupt

    batcher = make(clock, upper)
    with clock.registered():
        futures = [batcher.submit(key) for key in "abc"]
        futures[0].add_done_callback(interrupt)
        clock.sleep(1)
    assert [future.result(PATIENCE) for future in futures] == ["A", "B", "C"]
    assert passed == [KeyboardInterrupt]


def test_clock_that_fails_fails_the_callers(monkeypatch):
    """Without a clock nobody would ever be answered, so all are told."""
    passed = []
    monkeypatch.setattr(threading, "excepthook", lambda args: passed.append(args.exc_type))

    class Broken(pollwait.SystemClock):
        __slots__ = ()

        def wait(self, event, seconds):
            raise OSError("no time")

    batcher = Batcher(upper, max_size=2, clock=Broken())
    with pytest.raises(OSError, match="no time"):
        batcher.load("a", timeout=PATIENCE)
    assert batcher.load_many("ab", timeout=PATIENCE) == {"a": "A", "b": "B"}
    batcher.close()
    assert passed == [OSError]


def test_clock_that_fails_during_a_call_fails_nobody(monkeypatch):
    """The answers of the call are given, and the next caller tries again."""
    passed = []
    monkeypatch.setattr(threading, "excepthook", lambda args: passed.append(args.exc_type))

    class Fragile(pollwait.SystemClock):
        __slots__ = ("broken",)

        def monotonic(self):
            if self.broken:
                raise OSError("no time")
            return super().monotonic()

    def fetch(keys):
        fragile.broken = keys == ["a"]
        return upper(keys)

    fragile = Fragile()
    fragile.broken = False
    batcher = Batcher(fetch, max_size=1, clock=fragile)
    assert batcher.load("a", timeout=PATIENCE) == "A"
    fragile.broken = False
    assert batcher.load("b", timeout=PATIENCE) == "B"
    batcher.close(timeout=PATIENCE)
    assert passed == [OSError]


def test_thread_that_cannot_start_fails_the_callers(monkeypatch):
    """With no thread to answer them they are told, and the next caller tries again."""
    batcher = Batcher(upper, max_size=1)

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            batcher.load("a", timeout=PATIENCE)
    assert batcher.load("a", timeout=PATIENCE) == "A"
    batcher.close()


@pytest.mark.parametrize(
    ("arguments", "options", "error", "text"),
    [
        ((5,), {}, TypeError, "fetch must be callable: got 5"),
        ((upper,), {"max_size": 0}, ValueError, "max_size must be >= 1"),
        ((upper,), {"isolate": 5}, TypeError, "isolate must be callable: got isolate=5"),
        ((upper,), {"when_full": "wait"}, ValueError, "when_full must be 'block' or 'raise'"),
    ],
)
def test_arguments_are_checked(arguments, options, error, text):
    """What cannot work is refused when the batcher is made."""
    with pytest.raises(error, match=text):
        Batcher(*arguments, **{"max_size": 1, **options})


def test_generator_function_is_refused():
    """Calling it would run none of its body."""

    def fetch(keys):
        yield {}

    with pytest.raises(TypeError, match="is a generator function"):
        Batcher(fetch, max_size=1)


def test_timeouts_are_checked(clock):
    """A timeout that is no length is refused, and nobody has asked for anything."""
    batcher = make(clock, upper)
    for ask in (batcher.load, batcher.load_many):
        with pytest.raises(ValueError, match="timeout must be finite"):
            ask("a", timeout=-1)
    with pytest.raises(ValueError, match="timeout must be finite"):
        batcher.close(timeout=float("nan"))
    batcher.close()


def test_class_takes_type_arguments():
    """Annotations may say what a batcher is for."""
    assert Batcher[str, int](upper, max_size=1).load("a", timeout=PATIENCE) == "A"


def threads():
    """Return the batchers' threads."""
    return [thread for thread in threading.enumerate() if thread.name.startswith("pollwait ")]


def test_real_threads_are_few_and_end_when_closed():
    """One thread does for one call at a time, and none is left when the batcher is closed."""
    before = set(threads())
    seen = set()

    def fetch(keys):
        seen.add(threading.current_thread())
        return upper(keys)

    with Batcher(fetch, max_size=1) as batcher:
        for _ in range(20):
            assert batcher.load("a", timeout=PATIENCE) == "A"
        assert all(thread.daemon for thread in seen)
        assert {thread.name for thread in seen} == {
            "pollwait test_real_threads_are_few_and_end_when_closed.<locals>.fetch"
        }
    assert len(seen) <= 2
    assert set(threads()) <= before


def test_idle_threads_end(monkeypatch):
    """A batcher that has had nothing to do for a while has no thread, and works again later."""
    monkeypatch.setattr(workers, "IDLE", 0)
    batcher = Batcher(upper, max_size=1)
    for _ in range(3):
        assert batcher.load("a", timeout=PATIENCE) == "A"
        for thread in batcher._threads:
            thread.join(PATIENCE)
        assert not [thread for thread in batcher._threads if thread.is_alive()]


def test_batcher_that_nobody_uses_is_collected(monkeypatch):
    """Idle threads hold no batcher, and end with it."""
    monkeypatch.setattr(workers, "IDLE", 1000)
    before = set(threads())
    batcher = Batcher(upper, max_size=1)
    batcher.load("a", timeout=PATIENCE)
    mine = set(threads()) - before
    weak = weakref.ref(batcher)
    while weak() is not None:  # the worker may be about to become idle
        del batcher
        gc.collect()
        batcher = weak()
    for thread in mine:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def test_keys_of_a_batcher_that_nobody_holds_are_answered():
    """A caller's future is all that it must keep."""
    future = Batcher(upper, max_size=9, max_delay=0.001).submit("a")
    gc.collect()
    assert future.result(PATIENCE) == "A"


def test_close_does_not_wait_for_a_call_beyond_its_timeout():
    """B10: on real threads too; the call that hangs holds up nobody, also not the next close."""
    hanging, release = threading.Event(), threading.Event()

    def fetch(keys):
        hanging.set()
        release.wait(PATIENCE)
        return upper(keys)

    batcher = Batcher(fetch, max_size=1)
    future = batcher.submit("a")
    assert hanging.wait(PATIENCE)
    batcher.close(timeout=0)
    assert isinstance(future.exception(0), BatcherClosed)
    release.set()
    batcher.close(timeout=PATIENCE)


def run_script(script):
    """Run a script in a process of its own and return what it prints."""
    code = f"import sys; sys.path.insert(0, {SOURCE!r})\n{script}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=False
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout.split("\n")[:-1]


def test_end_of_the_program_tells_who_waits():
    """B10: futures that are pending then fail, and nothing keeps the program from ending."""
    script = """
import threading, time
from pollwait._sync.batcher import Batcher
def told(future):
    print(type(future.exception()).__name__)
started = threading.Event()
def hang(keys):
    started.set()
    time.sleep(60)
queued = Batcher(hang, max_size=9, max_delay=60)
queued.submit("a").add_done_callback(told)
flying = Batcher(hang, max_size=1)
flying.submit("a").add_done_callback(told)
started.wait()
late = Batcher(dict.fromkeys, max_size=1, max_delay=60)
threading.Thread(target=lambda: print(late.load("b"))).start()
"""
    assert run_script(script) == ["None", "BatcherClosed", "BatcherClosed"]


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="no fork here")
def test_forked_child_starts_clean():
    """B10: it has the batcher without its keys and locks; who waits there is told, once."""
    script = """
import os, threading, time, warnings
warnings.simplefilter("ignore")
from pollwait._sync.batcher import Batcher
release = threading.Event()
def fetch(keys):
    if keys == ["held"]:
        release.wait(60)
    return dict.fromkeys(keys, os.getpid())
batcher = Batcher(fetch, max_size=1, max_in_flight=1)
closed = Batcher(fetch, max_size=1)
closed.close()
held, queued = batcher.submit("held"), batcher.submit("queued")
queued.add_done_callback(lambda future: print("called back", flush=True))
batcher._lock.acquire()  # as another thread might have it
held._condition.acquire()
child = os.fork()
if not child:
    print(type(held.exception(9)).__name__, held.exception(9), flush=True)
    print(type(queued.exception(9)).__name__, flush=True)
    print(batcher.load("a", timeout=9) == os.getpid(), flush=True)
    print(batcher.load_many("ab", timeout=9) == dict.fromkeys("ab", os.getpid()), flush=True)
    try:
        closed.load("a")
    except Exception as error:
        print(type(error).__name__, flush=True)
    os._exit(0)
held._condition.release()
batcher._lock.release()
os.waitpid(child, 0)
release.set()
batcher.close()
print(held.result(9) == queued.result(9) == os.getpid())
"""
    assert run_script(script) == [
        "FetchError no answer for 'held': the batcher of 'fetch' was asked for it before the"
        " process was forked",
        "FetchError",
        "True",
        "True",
        "BatcherClosed",
        "called back",
        "True",
    ]


def test_import_is_light():
    """Neither the import of a batcher nor a load brings in what is slow to import."""
    script = """
before = set(sys.modules)
from pollwait._sync.batcher import Batcher
from pollwait._sync.coalescer import Coalescer
print(*{"threading", "concurrent", "typing", "weakref", "logging"} & set(sys.modules) - before)
print(Batcher(dict.fromkeys, max_size=1).load("a"))
print(*{"concurrent", "typing", "logging"} & set(sys.modules) - before)
"""
    assert run_script(script) == ["", "None", ""]
