"""ScriptedCheck and RecordingFetch: what they do, and what they remember."""

from __future__ import annotations

import asyncio
import inspect
import threading
import traceback
from datetime import timedelta

import pytest

from pollwait import PollTimeout, TryAgain, aio, fixed, poll
from pollwait.testing import FakeClock, run
from pollwait.testing._recording_fetch import AsyncRecordingFetch, RecordingFetch
from pollwait.testing._scripted import AsyncScriptedCheck, Lasting, ScriptedCheck, ScriptEnded


def check_of(is_async, *outcomes, **options):
    """Make a check for threads, or one for an event loop that is called as if for threads."""
    if not is_async:
        return ScriptedCheck(*outcomes, **options)
    check = AsyncScriptedCheck(*outcomes, **options)

    def called(*args, **kwargs):
        return run(check(*args, **kwargs))

    called.calls = check.calls
    return called


def fetch_of(is_async, *arguments, **options):
    """Make a fetch, as ``check_of`` makes a check."""
    if not is_async:
        return RecordingFetch(*arguments, **options)
    fetch = AsyncRecordingFetch(*arguments, **options)

    def called(keys):
        return run(fetch(keys))

    called.calls = fetch.calls
    return called


both = pytest.mark.parametrize("is_async", [False, True], ids=["threads", "loop"])


@both
def test_scripted_check_gives_one_outcome_per_call(is_async):
    """Values are returned, errors raised: instances as they are, types made anew."""
    down = OSError("down")
    check = check_of(is_async, "creating", down, KeyError, None, OSError)
    assert check() == "creating"
    with pytest.raises(OSError, match="down") as caught:
        check()
    assert caught.value is down
    with pytest.raises(KeyError):
        check()
    assert check() is None


@both
def test_scripted_check_returns_types_that_are_no_errors(is_async):
    """Only types of errors are raised: other types, and what looks like nothing, are values."""
    check = check_of(is_async, int, False, (), "")
    assert [check() for _ in range(4)] == [int, False, (), ""]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit, TryAgain(after=5)])
def test_scripted_check_raises_any_error(error):
    """Also what is no ``Exception``, and what is no error to a wait."""
    with pytest.raises(type(error) if isinstance(error, BaseException) else error):
        ScriptedCheck(error)()


@both
def test_scripted_check_says_that_its_script_has_ended(is_async):
    """One call too many is an error that says what to do, and that no ``retry_on`` retries."""
    check = check_of(is_async, 1, 2)
    assert (check(), check()) == (1, 2)
    for number in [3, 4]:
        with pytest.raises(ScriptEnded, match=f"has 2 outcomes and this is call {number}: add"):
            check()
    assert len(check.calls) == 4
    with pytest.raises(ScriptEnded, match="has 1 outcome and this is call 2: add"):
        poll(
            check_of(is_async, OSError()),
            retry_on=Exception,
            schedule=fixed(1),
            timeout=60,
            clock=FakeClock(),
        )


@both
def test_scripted_check_may_repeat_its_last_outcome(is_async):
    """With ``repeat_last`` the last outcome is that of all further calls, an error always fresh."""
    check = check_of(is_async, 1, OSError("down"), repeat_last=True)
    assert check() == 1
    depths = set()
    for _ in range(3):
        with pytest.raises(OSError, match="down") as caught:
            check()
        depths.add(len(traceback.extract_tb(caught.value.__traceback__)))
    assert len(depths) == 1


@both
def test_scripted_check_remembers_its_arguments(is_async):
    """``calls`` has the arguments of each call, also of one that failed."""
    check = check_of(is_async, KeyError, 2)
    with pytest.raises(KeyError):
        check("vol-1")
    check("vol-2", timeout=3)
    assert check.calls == [(("vol-1",), {}), (("vol-2",), {"timeout": 3})]


def test_scripted_check_takes_time_on_the_clock():
    """A Lasting moves the clock before it returns or raises, and is no sleep of the wait."""
    clock = FakeClock()
    check = ScriptedCheck(
        "creating",
        Lasting(2.5, OSError("down")),
        Lasting(timedelta(seconds=0.5), TimeoutError),
        Lasting(0, "creating"),
        "up",
        clock=clock,
    )
    poll(check, until="up".__eq__, retry_on=OSError, schedule=fixed(1), timeout=60, clock=clock)
    assert check.times == [0.0, 1.0, 4.5, 6.0, 7.0]
    assert clock.sleeps == [1.0, 1.0, 1.0, 1.0]


def test_scripted_check_sleeps_on_a_clock_that_can_do_no_more():
    """On a clock without ``advance`` it takes its time by ``sleep``."""

    class PlainClock:
        now = 7.0

        def monotonic(self):
            return self.now

        def sleep(self, seconds):
            self.now += seconds

    check = ScriptedCheck(Lasting(2, "up"), repeat_last=True, clock=PlainClock())
    assert (check(), check(), check.times) == ("up", "up", [7.0, 9.0])


def test_scripted_check_reads_the_system_clock_by_default(monkeypatch):
    """Without a clock its times are those of ``time.monotonic``."""
    monkeypatch.setattr("time.monotonic", lambda: 42.0)
    check = ScriptedCheck(1)
    check()
    assert check.times == [42.0]


def test_scripted_check_takes_turns_with_other_threads():
    """In threads of one clock a check that lasts lets the others go on meanwhile."""
    clock = FakeClock()
    slow = ScriptedCheck(Lasting(3, "slow"), clock=clock)
    quick = ScriptedCheck("", Lasting(0.5, "quick"), clock=clock)

    def wait(check):
        return poll(check, schedule=fixed(1), timeout=60, clock=clock), clock.monotonic()

    assert clock.run(lambda: wait(slow), lambda: wait(quick)) == [("slow", 3.0), ("quick", 1.5)]


def test_scripted_check_gives_each_outcome_once_to_threads():
    """A call that comes while another looks up its outcome gets the next one."""
    arrived = threading.Event()

    class SlowToCount(list):
        def __len__(self):
            number = super().__len__()
            if not arrived.is_set():
                arrived.set()
                threading.Event().wait(0.005)
            return number

    check = ScriptedCheck("first", "second")
    check.calls = SlowToCount()
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(check())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == ["first", "second"]


@both
def test_scripted_check_needs_an_outcome(is_async):
    """A script without outcomes is an error when it is given."""
    with pytest.raises(ValueError, match="at least one outcome"):
        check_of(is_async)


@pytest.mark.parametrize(
    ("seconds", "outcome", "error"),
    [
        (-1, "up", "seconds must be finite"),
        (True, "up", "seconds must be seconds"),
        (1, Lasting(1, "up"), "outcome must be a value or an error"),
    ],
)
def test_lasting_refuses_what_is_none(seconds, outcome, error):
    """T1: a length that is none, and a length of a length, are errors when they are given."""
    with pytest.raises((TypeError, ValueError), match=error):
        Lasting(seconds, outcome)


def test_scripted_check_needs_a_clock_for_time():
    """Without a clock a Lasting could only sleep for real, so it is refused."""
    with pytest.raises(ValueError, match="needs a clock: pass clock="):
        ScriptedCheck(1, Lasting(2, 3))


def test_scripted_check_shows_its_parts():
    """An outcome that lasts is a plain value."""
    assert repr(Lasting(2.5, "up")) == "Lasting(seconds=2.5, outcome='up')"
    assert Lasting(1, 2) == Lasting(1, 2) != Lasting(2, 2)


def test_async_scripted_check_takes_time_on_the_loop():
    """On an event loop the time of a check passes on the loop's clock, where others go on."""

    async def main():
        check = AsyncScriptedCheck("", OSError(), Lasting(2.5, "up"))
        nap = asyncio.create_task(asyncio.sleep(3))
        value = await aio.poll(check, retry_on=OSError, schedule=fixed(1), timeout=60)
        return value, check.times, nap.done(), asyncio.get_running_loop().time()

    assert run(main()) == ("up", [0.0, 1.0, 2.0], True, 4.5)


def test_async_scripted_check_can_be_cut():
    """A check that lasts longer than ``attempt_timeout`` is cut, and the script goes on."""

    async def main():
        check = AsyncScriptedCheck(Lasting(60, "never"), "up")
        await aio.poll(check, schedule=fixed(1), timeout=90, attempt_timeout=5)
        return check.times

    assert run(main()) == [0.0, 6.0]


def test_async_scripted_check_takes_another_clock():
    """With a clock of its own the loop's is not asked."""

    class Clock:
        now = 7.0

        def monotonic(self):
            return self.now

        async def sleep(self, seconds):
            self.now += seconds

    check = AsyncScriptedCheck(Lasting(2, "up"), "up", clock=Clock())
    run(check())
    run(check())
    assert check.times == [7.0, 9.0]


def test_async_scripted_check_works_on_trio():
    """On trio the time is trio's."""
    trio = pytest.importorskip("trio")
    check = AsyncScriptedCheck(Lasting(2, "up"), "up")

    async def main():
        before = trio.current_time()
        await check()
        await check()
        return [time - before for time in check.times]

    assert trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0)) == [0.0, 2.0]


@both
def test_recording_fetch_answers_what_it_is_asked(is_async):
    """Each key gets its answer, an error being that of its key alone; unknown keys get none."""
    gone = KeyError("b")
    fetch = fetch_of(is_async, {"a": 1, "b": gone, "x": 9})
    assert fetch(["a", "b", "c"]) == {"a": 1, "b": gone}
    assert fetch([]) == {}
    assert fetch.calls == [["a", "b", "c"], []]


@both
def test_recording_fetch_asks_a_function(is_async):
    """Answers may be worked out; what the function raises is the error of the call."""
    fetch = fetch_of(is_async, lambda key: key * 2, missing=["c"])
    assert fetch(("a", "b", "c")) == {"a": "aa", "b": "bb"}
    with pytest.raises(TypeError):
        fetch([None])
    assert fetch.calls == [["a", "b", "c"], [None]]


@both
def test_recording_fetch_leaves_keys_out(is_async):
    """A missing key is absent from the answer, whatever the answers hold for it."""
    fetch = fetch_of(is_async, {"a": 1, "b": 2}, missing={"b"})
    assert fetch(["a", "b"]) == {"a": 1}


@both
def test_recording_fetch_fails_the_calls_that_it_is_told(is_async):
    """Errors of whole calls go by the number of the call, from 1; calls that fail are recorded."""
    fetch = fetch_of(is_async, {"a": 1}, errors={1: OSError("down"), 3: KeyError})
    with pytest.raises(OSError, match="down"):
        fetch(["a"])
    assert fetch(["a"]) == {"a": 1}
    with pytest.raises(KeyError):
        fetch(["a"])
    assert fetch.calls == [["a"]] * 3


@both
def test_recording_fetch_keeps_a_copy_of_the_keys(is_async):
    """What the caller does to its list later changes no record; repeated keys stay repeated."""
    fetch = fetch_of(is_async, {})
    keys = ["a", "a"]
    fetch(keys)
    keys.clear()
    assert fetch.calls == [["a", "a"]]


@both
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"missing": "vol-1"}, "missing must be a collection of keys: got missing='vol-1'"),
        ({"errors": {0: OSError}}, "errors must be >= 1"),
        ({"errors": {"a": OSError}}, "errors must be an int"),
        ({"duration": -1}, "duration must be finite"),
    ],
)
def test_recording_fetch_checks_its_arguments(is_async, options, error):
    """What cannot be meant is an error when it is given."""
    with pytest.raises((TypeError, ValueError), match=error):
        fetch_of(is_async, {}, **options)


def test_recording_fetch_needs_a_clock_for_time():
    """Without a clock a call that lasts could only sleep for real, so it is refused."""
    with pytest.raises(ValueError, match="needs a clock: got duration=2 and clock=None"):
        RecordingFetch({}, duration=2)


def test_recording_fetch_takes_time_on_the_clock():
    """Each call lasts as long as it is told, also one that fails, and its start is recorded."""
    clock = FakeClock(start=5)
    fetch = RecordingFetch({"a": 1}, duration=2, errors={2: KeyError}, clock=clock)
    fetch(["a"])
    with pytest.raises(KeyError):
        fetch(["a"])
    assert (fetch.times, clock.monotonic(), clock.sleeps) == ([5.0, 7.0], 9.0, [])


def test_recording_fetch_counts_what_is_in_flight():
    """Calls overlap on the threads of a clock, and no lock is held while one takes its time."""
    clock = FakeClock()
    fetch = RecordingFetch(str, duration=2, clock=clock)

    def late():
        clock.sleep(1)
        return fetch([2])

    assert clock.run(lambda: fetch([1]), late) == [{1: "1"}, {2: "2"}]
    assert (fetch.times, fetch.most_in_flight, clock.monotonic()) == ([0.0, 1.0], 2, 3.0)
    fetch([3])
    assert (fetch.calls, fetch.most_in_flight) == ([[1], [2], [3]], 2)


def test_async_recording_fetch_takes_time_on_the_loop():
    """On an event loop calls overlap on its clock; a cancelled one is no longer in flight."""
    fetch = AsyncRecordingFetch(str, duration=2)

    async def main():
        first = asyncio.create_task(fetch([1]))
        await asyncio.sleep(1)
        second = asyncio.create_task(fetch([2]))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        return await first, await fetch([3]), asyncio.get_running_loop().time()

    assert run(main()) == ({1: "1"}, {3: "3"}, 4.0)
    assert (fetch.times, fetch.most_in_flight) == ([0.0, 1.0, 2.0], 2)


def test_async_forms_are_known_as_coroutine_functions():
    """Their calls are coroutines, and the plain forms are refused by nobody for being async."""
    assert inspect.iscoroutinefunction(AsyncScriptedCheck.__call__)
    assert inspect.iscoroutinefunction(AsyncRecordingFetch.__call__)
    with pytest.raises(TypeError, match=r"aio\.poll"):
        poll(AsyncScriptedCheck(1), timeout=1, clock=FakeClock())
    with pytest.raises(PollTimeout):
        run(aio.poll(ScriptedCheck(0, repeat_last=True), schedule=fixed(1), timeout=2))
