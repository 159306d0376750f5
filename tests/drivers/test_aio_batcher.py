"""Batching on an event loop, on virtual time. What both drivers share is in the parity test."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import threading
import weakref

import pytest

from pollwait._aio.batcher import Batcher
from pollwait._core.batched import Batched
from pollwait._errors import BatcherClosed, BatcherFull, FetchError, MissingKey
from pollwait.testing import AsyncRecordingFetch, run


async def upper(keys):
    """Answer each key by itself in capitals."""
    return {key: key.upper() for key in keys}


def now():
    """Return the time of the loop."""
    return asyncio.get_running_loop().time()


async def at(seconds, ask):
    """Ask at a time, and return the answer and when it came."""
    await asyncio.sleep(seconds)
    try:
        answer = await ask
    except Exception as error:
        answer = error
    return answer, now()


def make(fetch, **options):
    """Return a batcher with room for everything unless told otherwise."""
    return Batcher(fetch, **{"max_size": 100, "max_delay": 0.5, **options})


def recording(answers=str.upper, **options):
    """Return a fetch that remembers what it was asked."""
    return AsyncRecordingFetch(answers, **options)


def test_callers_share_calls():
    """B1, B2, B3: keys of one window travel together, once; a key that is in a call waits anew."""
    fetch = recording(duration=1)

    async def main():
        batcher = make(fetch)
        asked = [(0, "a"), (0.25, "b"), (0.25, "a"), (0.75, "a")]
        return await asyncio.gather(*(at(when, batcher.load(key)) for when, key in asked))

    assert run(main()) == [("A", 1.5), ("B", 1.5), ("A", 1.5), ("A", 2.25)]
    assert fetch.calls == [["a", "b"], ["a"]]
    assert fetch.times == [0.5, 1.25]


def test_duplicates_do_not_put_off_the_call():
    """C17: a duplicate of the sole key every 0.4 s, and the window still ends after 0.5 s."""
    fetch = recording()

    async def main():
        batcher = make(fetch)
        await asyncio.gather(*(at(0.4 * turn, batcher.load("a")) for turn in range(2)))

    run(main())
    assert fetch.times == [0.5]


def test_window_without_delay_takes_what_comes_in_one_turn_of_the_loop():
    """With max_delay=0, tasks that are ready together share a call."""
    fetch = recording()

    async def main():
        batcher = make(fetch, max_delay=0)
        await asyncio.gather(*map(batcher.load, "abc"))
        await batcher.load("d")
        return now()

    assert run(main()) == 0.0
    assert fetch.calls == [["a", "b", "c"], ["d"]]


@pytest.mark.parametrize("plain", [True, False])
def test_fetch_may_be_plain(plain):
    """The answer decides whether it is awaited."""

    def fetch(keys):
        return {key: key for key in keys} if plain else upper(keys)

    async def main():
        return await make(fetch).load("a")

    assert run(main()) == ("a" if plain else "A")


def test_load_many_answers_every_key():
    """The answers are in the order of first occurrence, errors among them."""
    gone = ValueError("gone")
    fetch = recording({"a": 1, "b": gone, "c": 3})

    async def main():
        batcher = make(fetch, max_size=2)
        assert await batcher.load_many([]) == {}
        return await batcher.load_many(iter("cbazbc"))

    answers = run(main())
    assert list(answers) == ["c", "b", "a", "z"]
    assert (answers["c"], answers["a"]) == (3, 1)
    assert type(answers["b"]) is ValueError
    assert answers["b"] is not gone
    assert isinstance(answers["z"], MissingKey)
    assert fetch.calls == [["c", "b"], ["a", "z"]]


def test_submit_is_a_plain_call():
    """B13: it returns a future, to be awaited, waited for or cancelled."""
    fetch = recording()

    async def main():
        batcher = make(fetch)
        future, other, third = (batcher.submit(key) for key in "abc")
        assert isinstance(future, asyncio.Future)
        assert other.cancel("no need")
        assert not other.cancel()
        assert await future == "A"
        done, _ = await asyncio.wait([third, other])
        assert len(done) == 2
        with pytest.raises(asyncio.CancelledError):
            await other
        return third.result()

    assert run(main()) == "C"
    assert fetch.calls == [["a", "c"]]


def test_flush_sends_at_once_and_need_not_be_awaited():
    """What is queued goes out; nothing goes out if nothing is queued."""
    fetch = recording()

    async def main():
        batcher = make(fetch, max_delay=60)
        batcher.flush()
        future = batcher.submit("a")
        batcher.flush()
        assert await future == "A"
        future = batcher.submit("b")
        await batcher.flush()
        assert fetch.calls == [["a"], ["b"]]
        assert await future == "B"
        return now()

    assert run(main()) == 0.0


def test_callers_have_exceptions_of_their_own():
    """B4, C5: each task and future has a copy, whose cause is what fetch raised."""
    error = OSError("down")

    async def main():
        batcher = make(recording(errors={1: error}))
        return await asyncio.gather(
            *(batcher.load("a") for _ in range(200)), batcher.submit("b"), return_exceptions=True
        )

    errors = run(main())
    assert len({id(one) for one in errors}) == 201
    assert all(type(one) is OSError and one.__cause__ is error for one in errors)


def test_traceback_of_the_cause_begins_in_fetch():
    """A reader sees where fetch failed, and no frame of the library that holds the others."""

    async def fetch(keys):
        raise OSError("down")

    async def main():
        await make(fetch).load("a")

    with pytest.raises(OSError, match="down") as caught:
        run(main())
    assert caught.value.__cause__.__traceback__.tb_frame.f_code is fetch.__code__


class Hostile(BaseException):
    """What is no Exception, nor one of those that end a program."""


@pytest.mark.parametrize("error", [Hostile(), asyncio.CancelledError(), StopIteration()])
def test_base_exception_resolves_every_caller(error):
    """B6, C6: all get a FetchError, or what Python makes of it, and the batcher lives."""

    def fetch(keys):
        if keys == ["a", "b"]:
            raise error
        return dict.fromkeys(keys, 1)

    async def main():
        batcher = make(fetch)
        first = await asyncio.gather(*map(batcher.load, "aab"), return_exceptions=True)
        return first, await batcher.load("c")

    errors, value = run(main())
    assert all(type(one) is FetchError and one.__cause__ is error for one in errors)
    assert value == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_programs_goes_on_its_way(error):
    """B6: the callers are resolved, and then it comes out of the loop."""
    told = []

    def fetch(keys):
        raise error

    async def main():
        future = make(fetch, max_delay=0).submit("a")
        future.add_done_callback(lambda future: told.append(future.exception()))
        await asyncio.sleep(9)

    with pytest.raises(error):
        run(main())
    assert [type(one) for one in told] == [FetchError]
    assert isinstance(told[0].__cause__, error)


def test_timed_out_caller_disturbs_nobody():
    """B5: it gets a plain TimeoutError in time, and the others of its key their answer."""
    fetch = recording(duration=1)

    async def main():
        batcher = make(fetch)
        return await asyncio.gather(
            at(0, batcher.load("a", timeout=0.25)),
            at(0, batcher.load("a", timeout=1.0)),
            at(0, batcher.load("a", timeout=1.75)),
            at(0, batcher.load("b", 0.25)),
            at(0, batcher.load("c", 0)),
        )

    results = run(main())
    assert [type(answer) for answer, _ in results] == [
        TimeoutError,
        TimeoutError,
        str,
        TimeoutError,
        TimeoutError,
    ]
    assert str(results[0][0]).startswith("no answer for 'a' from the batcher of ")
    assert [when for _, when in results] == [0.25, 1.0, 1.5, 0.25, 0.0]
    assert fetch.calls == [["a"]]


def test_cancelled_task_disturbs_nobody():
    """B5, C1, C3, C4: queued or in a call; a key whose tasks are all cancelled is not sent."""
    fetch = recording(duration=1)

    async def main():
        batcher = make(fetch)
        queued, alone, flying, other = (
            asyncio.create_task(batcher.load(key)) for key in ("a", "b", "a", "a")
        )
        await asyncio.sleep(0.25)
        queued.cancel()
        alone.cancel()
        await asyncio.sleep(0.5)
        flying.cancel()
        results = await asyncio.gather(queued, alone, flying, other, return_exceptions=True)
        empty = asyncio.create_task(batcher.load("z"))
        await asyncio.sleep(0.25)
        empty.cancel()
        await asyncio.sleep(9)
        return [*map(type, results)]

    cancelled = asyncio.CancelledError
    assert run(main()) == [cancelled, cancelled, cancelled, str]
    assert fetch.calls == [["a"]]


def test_task_that_is_cancelled_as_its_call_starts_is_not_sent():
    """B5, B11: between the end of the window and the call, a key may still be left."""
    fetch = recording()

    async def main():
        batcher = make(fetch, max_size=2)
        futures = [batcher.submit(key) for key in "abcd"]
        for future in futures[1:]:
            future.cancel()
        return await futures[0]

    assert run(main()) == "A"
    assert fetch.calls == [["a"]]


def test_calls_run_at_once_and_the_window_grows_meanwhile():
    """B7: up to max_in_flight; what comes meanwhile goes out in calls of max_size."""
    fetch = recording(lambda key: key, duration=4)

    async def main():
        batcher = make(fetch, max_size=3, max_in_flight=2)
        await asyncio.gather(*(at(key / 8, batcher.load(key)) for key in range(16)))

    run(main())
    assert fetch.most_in_flight == 2
    assert fetch.calls == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [12, 13, 14], [15]]
    assert fetch.times == [0.25, 0.625, 4.25, 4.625, 8.25, 8.625]


def test_key_without_room_waits_or_is_refused():
    """B8: load waits in line, submit always raises, and so does load where it is asked to."""
    fetch = recording(duration=1)

    async def main():
        batcher = make(fetch, max_size=1, max_pending=1, max_in_flight=1)
        first, second = batcher.submit("a"), batcher.submit("b")
        with pytest.raises(BatcherFull, match=r"no room for 'c': 1 keys wait"):
            batcher.submit("c")
        batcher.submit("b")
        loads = [asyncio.create_task(at(0, batcher.load(key))) for key in "def"]
        timed_out = asyncio.create_task(at(0, batcher.load("z", timeout=0.5)))
        results = await asyncio.gather(*loads)
        assert [await first, await second] == ["A", "B"]
        assert type((await timed_out)[0]) is TimeoutError
        refusing = make(fetch, max_pending=1, when_full="raise")
        answers = await refusing.load_many("ab")
        assert answers["a"] == "A"
        assert isinstance(answers["b"], BatcherFull)
        return results

    assert run(main()) == [("D", 3.0), ("E", 4.0), ("F", 5.0)]
    assert fetch.calls[:-1] == [["a"], ["b"], ["d"], ["e"], ["f"]]


def test_load_many_takes_more_keys_than_there_is_room_for():
    """B8: they go in as there is room; what is there in time counts."""
    fetch = recording(lambda key: key, duration=1)

    async def main():
        batcher = make(fetch, max_size=2, max_pending=3, max_in_flight=1)
        all_of_them = await batcher.load_many(range(20))
        return all_of_them, await batcher.load_many(range(9), timeout=2.5)

    all_of_them, some = run(main())
    assert all_of_them == dict(zip(range(20), range(20), strict=True))
    assert [type(answer) for answer in some.values()] == [int] * 4 + [TimeoutError] * 5
    assert [len(call) for call in fetch.calls] == [2] * 12 + [2]


def test_cancelled_load_many_leaves_no_key_behind():
    """B5: what it has asked for is not sent any more."""
    fetch = recording()

    async def main():
        batcher = make(fetch)
        task = asyncio.create_task(batcher.load_many("abc"))
        await asyncio.sleep(0.25)
        task.cancel()
        await asyncio.sleep(1)
        return await batcher.load("d")

    assert run(main()) == "D"
    assert fetch.calls == [["d"]]


def test_poison_key_fails_alone():
    """B9, C7: it is found in the same round, whether the error names it or not."""

    async def fetch(keys):
        calls.append(len(keys))
        if 77 in keys:
            raise LookupError(77)
        return dict.fromkeys(keys, "available")

    async def main(isolate):
        calls.clear()
        answers = await make(fetch, max_size=500, isolate=isolate).load_many(range(500))
        assert [key for key, answer in answers.items() if answer != "available"] == [77]
        return len(calls)

    calls = []
    assert run(main(lambda error, keys: error.args)) == 2
    assert 10 <= run(main(lambda error, keys: ())) <= 19


@pytest.mark.parametrize("ask", ["load", "load_many", "submit", "in a task"])
def test_fetch_that_would_wait_for_itself_is_told_so(ask):
    """B8: with all calls out it would wait for ever; tasks that it starts count as it."""

    async def fetch(keys):
        nested = keys[0] + "x"
        if ask == "in a task":
            answer = await asyncio.gather(asyncio.create_task(batcher.load(nested)))
        else:
            answer = await getattr(batcher, ask)([nested] if ask == "load_many" else nested)
        if ask == "load_many" and isinstance(answer[nested], Exception):
            raise answer[nested]
        return dict.fromkeys(keys, answer)

    batcher = make(fetch, max_in_flight=3)

    async def main():
        with pytest.raises(RuntimeError, match="would wait for itself") as caught:
            await batcher.load("a")
        with pytest.raises(RuntimeError, match=r"max_in_flight=3"):
            await batcher.load("b")
        return str(caught.value)

    assert "fetch' would wait for itself" in run(main())


def test_fetch_may_use_its_own_batcher_while_there_are_slots():
    """B8: a call that waits for another one which can start is no mistake."""

    async def fetch(keys):
        return {key: key if len(key) == 3 else await batcher.load(key + key[0]) for key in keys}

    batcher = make(fetch, max_in_flight=3)
    assert run(batcher.load("a")) == "aaa"


def test_fetch_runs_in_its_own_context():
    """B14: it sees none of a caller's context variables, nor do its timers."""
    variable = contextvars.ContextVar("variable", default="unset")
    seen = []

    async def fetch(keys):
        seen.append(variable.get())
        variable.set("by fetch")
        return await upper(keys)

    async def main():
        variable.set("by the caller")
        batcher = make(fetch, max_size=2)
        await batcher.load("a")
        await batcher.load_many("bc")

    run(main())
    assert seen == ["unset", "unset"]


def test_another_loop_is_refused():
    """B13, C15: the batcher belongs to the loop that used it first."""
    batcher = make(upper)
    assert run(batcher.load("a")) == "A"

    async def submit():
        batcher.submit("a")

    async def flush():
        batcher.flush()

    for use in (batcher.load("a"), batcher.load_many("a"), submit(), flush(), batcher.close()):
        with pytest.raises(RuntimeError, match="belongs to the event loop that used it first"):
            run(use)


def test_no_loop_is_refused():
    """B13: neither a plain call nor another thread may use it."""
    batcher = make(upper)
    with pytest.raises(RuntimeError, match="is used where no asyncio event loop runs"):
        batcher.submit("a")

    def use():
        try:
            batcher.submit("a")
        except RuntimeError as error:
            errors.append(str(error))

    async def main():
        await batcher.load("a")
        thread = threading.Thread(target=use)
        thread.start()
        thread.join()

    errors = []
    run(main())
    assert "is used where no asyncio event loop runs" in errors[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_child_starts_clean(monkeypatch):
    """B10: a process that was forked may use it on a loop of its own."""
    fetch = recording()
    batcher = make(fetch, max_delay=60)

    async def leave_one():
        batcher.submit("left")

    run(leave_one())
    monkeypatch.setattr(os, "getpid", lambda: -1)  # as if this were the child
    assert run(batcher.load("a", timeout=90)) == "A"
    assert fetch.calls == [["a"]]


def test_closed_batcher_refuses_keys():
    """B10: every way to ask raises, and closing again does nothing."""

    async def main():
        batcher = make(upper)
        await batcher.close()
        with pytest.raises(BatcherClosed, match="no answer for 'a'"):
            await batcher.load("a")
        with pytest.raises(BatcherClosed):
            batcher.submit("a")
        with pytest.raises(BatcherClosed):
            await batcher.load_many("a")
        batcher.flush()
        await batcher.close()
        await batcher.close(drain=False, timeout=1)

    run(main())


def test_close_drains():
    """B10: those who wait are answered first, without further lingering."""
    fetch = recording(duration=1)

    async def main():
        batcher = make(fetch, max_size=2, max_pending=2, max_in_flight=1, max_delay=60)
        return await asyncio.gather(
            *(at(0, batcher.load(key)) for key in "abcde"),
            at(0.25, batcher.close()),
            at(0.25, batcher.close()),
            at(0.5, batcher.load("f")),
        )

    results = run(main())
    assert [answer for answer, _ in results[:5]] == [*"ABCDE"]
    assert [when for _, when in results] == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 0.5]
    assert isinstance(results[-1][0], BatcherClosed)


@pytest.mark.parametrize("options", [{"timeout": 2}, {"drain": False}])
def test_close_fails_what_is_left(options):
    """B10: in a call, queued or in line, nobody hangs, and calls that are out are cancelled."""
    fetch = recording(duration=100)

    async def main():
        batcher = make(fetch, max_size=1, max_pending=1, max_in_flight=1)
        results = await asyncio.gather(
            *(at(0, batcher.load(key)) for key in "abc"),
            at(0, batcher.load_many("xyz")),
            at(1, batcher.close(**options)),
        )
        await asyncio.sleep(0)
        return results, len(asyncio.all_tasks())

    results, tasks = run(main())
    assert [when for _, when in results] == [1.0 + options.get("timeout", 0)] * 5
    assert {type(answer) for answer, _ in results[:3]} == {BatcherClosed}
    assert {type(answer) for answer in results[3][0].values()} == {BatcherClosed}
    assert tasks == 1
    assert fetch.calls == [["a"]]


def test_fetch_may_close_its_batcher():
    """B10: it does not wait for itself, and its callers are answered."""

    async def fetch(keys):
        await batcher.close()
        return await upper(keys)

    batcher = make(fetch)

    async def main():
        assert await batcher.load("a") == "A"
        with pytest.raises(BatcherClosed):
            await batcher.load("b")

    run(main())


def test_with_statement_closes():
    """B10: it drains at its end, and lets go at once when an error passes."""
    fetch = recording()

    async def main():
        async with make(fetch, max_delay=60) as batcher:
            future = batcher.submit("a")
        assert future.result() == "A"
        batcher = make(fetch, max_delay=60)
        future = batcher.submit("b")
        with pytest.raises(ZeroDivisionError):
            async with batcher:
                raise ZeroDivisionError
        assert isinstance(future.exception(), BatcherClosed)

    run(main())
    assert fetch.calls == [["a"]]


def test_cancelled_call_resolves_its_callers():
    """B6: a task of a batcher that someone cancels, before it has begun or after, leaves nobody."""

    async def main(started):
        fetch = recording(duration=9)
        batcher = make(fetch, max_size=1)
        future = batcher.submit("a")
        if started:
            await asyncio.sleep(1)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        with pytest.raises(FetchError) as caught:
            await future
        assert isinstance(caught.value.__cause__, asyncio.CancelledError)
        assert await batcher.load("b") == "B"
        await batcher.close()

    run(main(False))
    run(main(True))


def test_events_tell_of_each_batch():
    """One event a batch: its size, why and when it went, and how it ended."""
    events = []
    error = OSError("down")
    fetch = recording({"a": 1, "b": ValueError("bad")}, errors={2: error}, duration=1)

    async def main():
        batcher = make(fetch, max_size=3, idle_delay=0.25, on_event=events.append)
        await batcher.load_many("ab")
        await batcher.load_many("abc")
        await batcher.close()

    run(main())
    assert events == [
        Batched(2, "idle", 0.25, 1.0, errors=1),
        Batched(3, "size", 0.0, 1.0, errors=3, error=error),
    ]


def test_error_of_a_hook_goes_to_the_loop_and_hurts_nobody():
    """A raising hook is the user's bug: the callers are answered, and the loop is told."""
    reports = []

    def hook(event):
        raise ZeroDivisionError

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _, report: reports.append(report))
        batcher = make(upper, on_event=hook)
        assert await batcher.load_many("ab") == {"a": "A", "b": "B"}
        assert await batcher.load("c") == "C"
        gc.collect()

    run(main())
    assert [type(report["exception"]) for report in reports] == [ZeroDivisionError] * 2


class OtherClock:
    """A clock of half the speed of the loop."""

    def monotonic(self):
        return now() / 2

    async def sleep(self, seconds):
        await asyncio.sleep(seconds * 2)

    async def wait(self, event, seconds):
        raise NotImplementedError


def test_clock_tells_the_time():
    """Windows and timeouts go by the clock that is given."""
    events = []

    async def main():
        batcher = make(upper, clock=OtherClock(), on_event=events.append)
        results = await asyncio.gather(
            at(0, batcher.load("a")),
            at(0, batcher.load("a", timeout=0.25)),
            at(0, batcher.load_many("ab", timeout=0.25)),
        )
        assert await batcher.load("a", timeout=60) == "A"
        await asyncio.sleep(0)
        assert len(asyncio.all_tasks()) == 1
        return [when for _, when in results]

    assert run(main()) == [1.0, 0.5, 0.5]
    assert [event.waited for event in events] == [0.5, 0.5]


def test_unhashable_key_is_its_own_callers_error():
    """Nobody else hears of it."""

    async def main():
        batcher = make(upper)
        future = batcher.submit("a")
        with pytest.raises(TypeError, match="unhashable"):
            batcher.submit([])
        with pytest.raises(TypeError, match="unhashable"):
            await batcher.load([])
        with pytest.raises(TypeError, match="unhashable"):
            await batcher.load_many(["b", []])
        return await future

    assert run(main()) == "A"


def test_timeouts_and_arguments_are_checked():
    """What cannot work is refused at once."""

    async def main():
        batcher = make(upper)
        for use in (batcher.load, batcher.load_many):
            with pytest.raises(ValueError, match="timeout must be finite"):
                await use("a", timeout=-1)
        with pytest.raises(ValueError, match="timeout must be finite"):
            await batcher.close(timeout=-1)

    run(main())
    with pytest.raises(TypeError, match="fetch must be callable"):
        Batcher(5, max_size=1)
    with pytest.raises(TypeError, match="isolate must be callable"):
        Batcher(upper, max_size=1, isolate=5)
    assert Batcher[str, str](upper, max_size=1)


def test_batcher_that_nobody_uses_is_collected():
    """Neither the loop nor a timer keeps it."""

    async def main():
        batcher = make(upper, max_size=1)
        await batcher.load("a")
        await asyncio.sleep(1)
        weak = weakref.ref(batcher)
        del batcher
        gc.collect()
        return weak()

    assert run(main()) is None


def test_end_of_the_loop_resolves_callers():
    """A loop that ends cancels calls and callers, and nobody complains."""
    reports = []

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda _, report: reports.append(report))
        batcher = make(recording(duration=9), max_size=1, max_in_flight=1)
        for key in "abc":
            batcher.submit(key)
        asyncio.create_task(batcher.load("d"))  # noqa: RUF006 - to be cancelled with the loop
        await asyncio.sleep(1)

    run(main())
    gc.collect()
    assert not [report for report in reports if "never retrieved" not in report["message"]]
