"""Poll groups on an event loop, in virtual time."""

from __future__ import annotations

import asyncio
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
    PollFailed,
    PollTimeout,
    fixed,
)
from pollwait._aio.batcher import Batcher
from pollwait._aio.group import PollGroup
from pollwait._core.group import LINGER
from pollwait._errors import BatcherClosed, FetchError, MissingKey
from pollwait._group_events import Called
from pollwait.testing import FakeClock, run


def now():
    """Return the time of the running loop."""
    return asyncio.get_running_loop().time()


class Service:
    """Something that knows when each key is ready, and takes its time to say so.

    Attributes:
        calls: the start and the keys of each call.
    """

    def __init__(self, ready=None, duration=0.0):
        self.ready, self.duration = ready or {}, duration
        self.calls = []

    async def __call__(self, keys):
        began = now()
        self.calls.append((began, keys))
        if self.duration:
            await asyncio.sleep(self.duration)
        return {key: self.ready.get(key, 1e9) <= began for key in keys}

    @property
    def starts(self):
        """When the calls started."""
        return [start for start, _ in self.calls]


def group_of(service, **options):
    """Return a group for a service."""
    return PollGroup(service, **{"max_size": 100, "schedule": fixed(1), **options})


def left(group):
    """Return how many waits a group holds."""
    return group._runner._group.waiting


async def others_run():
    """Let all others run until they wait for something."""
    for _ in range(5):
        await asyncio.sleep(0)


def on_loop(test):
    """Run a test on virtual time, and see that it leaves no task behind."""

    def running():
        async def main():
            await test()
            await others_run()
            gc.collect()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            assert not others, others

        run(main())

    running.__name__, running.__doc__ = test.__name__, test.__doc__
    return running


@on_loop
async def test_waits_share_calls():
    """Tasks that wait travel together, and each returns as soon as its key is ready."""
    service = Service({number: number for number in range(5)})
    group = group_of(service)

    async def waiting(number):
        assert await group.wait(number, timeout=60) is True
        return now()

    ends = await asyncio.gather(*map(waiting, range(5)))
    assert ends == [LINGER + number for number in range(5)]
    assert service.starts == ends


@on_loop
async def test_many_keys_need_few_tasks():
    """Waiting for many keys takes the task that sleeps and the one of the call (G7)."""
    seen = set()

    async def fetch(keys):
        seen.add(len(asyncio.all_tasks()))
        return dict.fromkeys(keys, now() > 3)

    found = await group_of(fetch, max_size=1000).wait_many(range(1000), timeout=60)
    assert found == dict.fromkeys(range(1000), True)
    assert max(seen) <= 4


@on_loop
async def test_wait_many_gives_values_and_errors():
    """What one key comes to is no other's business; no keys at all are fine."""

    def fetch(keys):
        return {"bad": ValueError("no such id"), "good": 1, "late": 0}

    group = group_of(fetch)
    found = await group.wait_many(["bad", "late", "good", "gone", "bad"], timeout=2)
    assert list(found) == ["bad", "late", "good", "gone"]
    assert found["good"] == 1
    assert isinstance(found["bad"], ValueError)
    assert isinstance(found["late"], PollTimeout)
    assert isinstance(found["gone"], PollFailed)
    assert isinstance(found["gone"].__cause__, MissingKey)
    assert await group.wait_many([], timeout=None) == {}
    with pytest.raises(TypeError, match="not a single one"):
        await group.wait_many("vol-1", timeout=1)


@on_loop
async def test_as_completed_goes_on_while_its_user_is_busy():
    """Results come in the order of completion, also those of the meantime."""
    service = Service({"a": 3, "b": 1})
    results = group_of(service).as_completed(list("abcab"), timeout=4)
    assert await results.__anext__() == ("b", True)
    await asyncio.sleep(9)
    assert service.starts[-1] == 4
    rest = [result async for result in results]
    assert rest[0] == ("a", True)
    assert rest[1][0] == "c"
    assert isinstance(rest[1][1], PollTimeout)


@pytest.mark.parametrize("how", ["close", "with", "drop"])
def test_iterator_leaves_no_keys_behind(how):
    """An iterator that is closed or dropped gives up its keys."""

    async def main():
        group = group_of(Service({"a": 0}))
        results = group.as_completed(list("ab"), timeout=None)
        assert await results.__anext__() == ("a", True)
        if how == "drop":
            del results
            gc.collect()
            await asyncio.sleep(0)
        elif how == "with":
            async with results:
                pass
        else:
            await results.aclose()
            assert [result async for result in results] == []
        assert left(group) == 0

    run(main())


def test_iterator_may_outlive_its_loop():
    """An iterator that is dropped when its loop is closed asks for nothing."""
    kept = []

    async def main():
        kept.append(group_of(Service()).as_completed(list("a"), timeout=None))
        await asyncio.sleep(0)

    run(main())
    kept.clear()
    gc.collect()


@on_loop
async def test_step_of_an_iterator_may_time_out():
    """Giving up on one step leaves the iterator as it was."""
    results = group_of(Service({"a": 3})).as_completed(list("a"), timeout=None)
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(results.__anext__(), 1)
    assert await results.__anext__() == ("a", True)


@on_loop
async def test_iterator_serves_one_task_at_a_time():
    """Two tasks at the same iterator are an error, as with an asynchronous generator."""
    results = group_of(Service({"a": 3})).as_completed(list("a"), timeout=None)
    first = asyncio.ensure_future(results.__anext__())
    await asyncio.sleep(1)
    with pytest.raises(RuntimeError, match="another task"):
        await results.__anext__()
    assert await first == ("a", True)


@on_loop
async def test_cancelled_caller_disturbs_nobody():
    """A task that is cancelled in the midst of a call leaves at once; the call goes on (B5)."""
    events = []
    service = Service({"b": 1}, duration=0.25)
    group = group_of(service, on_event=events.append)
    first = asyncio.ensure_future(group.wait("a", timeout=None))
    second = asyncio.ensure_future(group.wait("b", timeout=None))
    await asyncio.sleep(0.125)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert now() == 0.125
    assert await second is True
    assert [keys for _, keys in service.calls] == [["a", "b"], ["b"]]
    assert [event.reason for event in events if isinstance(event, Finished)] == [
        "cancelled",
        "ready",
    ]


@on_loop
async def test_cancelled_wait_many_leaves_no_key_behind():
    """A task that is cancelled while it waits for many takes all of them along."""
    group = group_of(Service())
    waiting = asyncio.ensure_future(group.wait_many(range(9), timeout=None))
    await asyncio.sleep(1.5)
    assert left(group) == 9
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert left(group) == 0


@on_loop
async def test_callers_that_leave_before_the_call_make_none():
    """When all have left before it starts, no call is made (C1, C4)."""
    service = Service()
    group = group_of(service)
    tasks = [asyncio.ensure_future(group.wait(key, timeout=None)) for key in "abc"]
    await asyncio.sleep(LINGER / 2)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(60)
    assert service.calls == []


@on_loop
async def test_cancel_event_ends_a_wait_at_once():
    """An event that is set ends the wait without a further check; beforehand, without any (T7)."""
    service, cancel = Service(), asyncio.Event()
    group = group_of(service)
    asyncio.get_running_loop().call_later(1.5, cancel.set)
    with pytest.raises(PollCancelled, match="after 2 checks in 1.5 s"):
        await group.wait("a", timeout=9, cancel=cancel)
    assert now() == 1.5
    found = await group.wait_many(list("ab"), timeout=9, cancel=cancel)
    assert [type(error) for error in found.values()] == [PollCancelled] * 2
    assert len(service.calls) == 2
    service.ready["b"] = 0
    unset = asyncio.Event()
    assert await group.wait("b", timeout=9, cancel=unset) is True
    await others_run()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@on_loop
async def test_asynchronous_predicates_are_awaited():
    """``until`` and ``fail`` may be asynchronous, one that takes long holds up nobody (O3)."""
    group = group_of(Service({"a": 0, "b": 1, "c": 0}))

    async def slow(value):
        await asyncio.sleep(5)
        return value

    async def never(value):
        return False

    async def waiting(key, **options):
        await group.wait(key, timeout=60, **options)
        return now()

    ends = await asyncio.gather(
        waiting("a", until=slow, fail=never), waiting("b"), waiting("c", fail=never)
    )
    assert ends == [5 + LINGER, 1 + LINGER, LINGER]


@on_loop
async def test_asynchronous_predicate_may_raise():
    """What it raises ends its own wait as it is."""

    async def broken(value):
        await asyncio.sleep(0)
        raise ZeroDivisionError

    group = group_of(Service({"a": 0}))
    found = await asyncio.gather(
        group.wait("a", until=broken, timeout=9),
        group.wait("a", fail=broken, timeout=9),
        group.wait("a", timeout=9),
        return_exceptions=True,
    )
    assert [type(result) for result in found] == [ZeroDivisionError, ZeroDivisionError, bool]


@on_loop
async def test_predicate_of_a_caller_that_left_is_dropped():
    """A predicate that is awaited for nobody is cancelled."""
    ended = []

    async def slow(value):
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(now())

    group = group_of(Service({"a": 0}))
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(group.wait("a", until=slow, timeout=None), 2)
    await others_run()
    assert ended == [2]
    assert left(group) == 0


@on_loop
async def test_predicate_that_was_never_begun_is_closed():
    """A caller that leaves before its predicate begins causes no warning."""

    async def until(value):
        raise AssertionError("it is not to begin")

    def closing(value):
        with pytest.raises(StopIteration):
            results.aclose().send(None)
        return True

    group = group_of(Service({"a": 0}))
    results = group.as_completed(["a"], until=until, timeout=None)
    assert await group.wait("a", until=closing, timeout=None) is True
    assert left(group) == 0


@on_loop
async def test_predicate_may_return_a_future():
    """Whatever can be awaited will do as the answer of a predicate."""

    def until(value):
        future = asyncio.get_running_loop().create_future()
        future.get_loop().call_later(2, future.set_result, value)
        return future

    await group_of(Service({"a": 0})).wait("a", until=until, timeout=9)
    assert now() == 2 + LINGER


@on_loop
async def test_predicate_may_wait_on_the_group():
    """A predicate may wait for another key of the same group."""
    group = group_of(Service({"a": 0, "b": 2}))

    async def attached(value):
        return await group.wait("b", timeout=9)

    assert await group.wait("a", until=attached, timeout=9) is True


@on_loop
async def test_fetch_may_not_wait_on_the_group():
    """A fetch that would wait for itself gets an error."""

    async def fetch(keys):
        return await group.wait_many(keys, timeout=9)

    group = group_of(fetch)
    with pytest.raises(RuntimeError, match="its own poll group"):
        await group.wait("a", timeout=9)


@on_loop
async def test_slow_call_does_not_hold_up_others():
    """While a call hangs, the next ones are made for the waits that it does not carry."""

    async def fetch(keys):
        await asyncio.sleep(60 if "a" in keys else 0)
        return dict.fromkeys(keys, True)

    group = group_of(fetch)
    first = asyncio.ensure_future(group.wait("a", timeout=None))
    await asyncio.sleep(1)
    await group.wait("b", timeout=None)
    assert now() == 1
    await first
    assert now() == 60 + LINGER


@on_loop
async def test_plain_fetch_will_do():
    """A fetch need not be asynchronous (O4)."""
    assert await group_of(lambda keys: dict.fromkeys(keys, 1)).wait("a", timeout=9) == 1


@on_loop
async def test_fetch_runs_in_a_context_of_its_own():
    """What a fetch does to context variables nobody else sees."""
    variable = contextvars.ContextVar("variable", default=0)

    async def fetch(keys):
        variable.set(variable.get() + 1)
        return dict.fromkeys(keys, variable.get())

    variable.set(7)
    group = group_of(fetch)
    assert [await group.wait("a", timeout=9) for _ in range(2)] == [1, 1]
    assert variable.get() == 7


@on_loop
async def test_cancelled_call_resolves_everyone():
    """A call whose task is cancelled from outside leaves nobody hanging (C6)."""

    async def fetch(keys):
        asyncio.current_task().cancel()
        await asyncio.sleep(1)

    group = group_of(fetch, retry_on=lambda error: True)
    found = await group.wait_many(list("ab"), timeout=9)
    assert [type(error) for error in found.values()] == [FetchError] * 2
    assert isinstance(found["a"].__cause__, asyncio.CancelledError)


@on_loop
async def test_odd_exceptions_resolve_everyone():
    """What is no ``Exception``, and no request to end the program, reaches the waits alone."""

    class Odd(BaseException):
        pass

    async def fetch(keys):
        raise Odd

    found = await group_of(fetch).wait_many(list("ab"), timeout=9)
    assert [type(error) for error in found.values()] == [FetchError] * 2


def test_interrupt_goes_on_its_way():
    """Ctrl-C in a call resolves its waits and ends the run."""
    ends = []

    async def fetch(keys):
        raise KeyboardInterrupt

    async def main():
        try:
            await group_of(fetch).wait("a", timeout=9)
        except FetchError as error:
            ends.append(type(error.__cause__))
            raise

    with pytest.raises(KeyboardInterrupt):
        run(main())
    assert ends in ([KeyboardInterrupt], [])  # the loop may stop before the waiting task runs


def test_end_of_the_loop_ends_the_waits():
    """A driver that is cancelled leaves nobody hanging."""
    ends = []

    async def main():
        group = group_of(Service())
        waiting = asyncio.ensure_future(group.wait("a", timeout=None))
        await asyncio.sleep(1.5)
        group._runner._driver.cancel()
        with pytest.raises(FetchError):
            await waiting
        ends.append(now())
        second = asyncio.ensure_future(group.wait("a", timeout=2))
        with pytest.raises(PollTimeout):
            await second

    run(main())
    assert ends == [1.5]


@on_loop
async def test_bug_in_a_clock_ends_the_waits():
    """What a clock raises reaches all who wait by it."""

    class Broken:
        def monotonic(self):
            return now()

        async def sleep(self, seconds):
            raise ZeroDivisionError

        async def wait(self, event, seconds):
            raise ZeroDivisionError

    group = group_of(Service(), clock=Broken())
    with pytest.raises(ZeroDivisionError):
        await group.wait("a", timeout=9)


@on_loop
async def test_clock_that_stands_still_is_an_error():
    """A clock that never moves ends the waits, rather than hang them."""

    class Still:
        def monotonic(self):
            return 7.0

        async def sleep(self, seconds):
            await asyncio.sleep(0)

        async def wait(self, event, seconds):
            await asyncio.sleep(0)
            return event.is_set()

    group = group_of(Service(), clock=Still(), schedule=fixed(8))
    with pytest.raises(ClockStalled):
        await group.wait("a", timeout=60)


@on_loop
async def test_events_tell_of_calls_and_waits():
    """A hook hears of each call, each check and each end."""
    events = []
    group = group_of(Service({"a": 0, "b": 1}, duration=0.25), on_event=events.append)

    async def until(value):
        return value

    await asyncio.gather(group.wait("a", timeout=9), group.wait("b", until=until, timeout=9))
    assert events == [
        Called(1, 2, 0.25, None, 0.5),
        Checked("a", 1, 0.25 + LINGER, True),
        Finished("a", "ready", 1, 0.25 + LINGER, True),
        Checked("b", 1, 0.25 + LINGER, False, next_delay=1.0),
        Called(2, 1, 0.25, None, 0.5),
        Checked("b", 2, 1.5 + LINGER, True),
        Finished("b", "ready", 2, 1.5 + LINGER, True),
    ]


@pytest.mark.parametrize("kind", [Called, Checked, Finished])
def test_hook_that_raises_ends_the_waits_it_was_told_of(kind):
    """What a hook raises surfaces where it was told."""

    def hook(event):
        if isinstance(event, kind):
            raise ZeroDivisionError

    async def main():
        group = group_of(Service({"a": 0}), on_event=hook)
        with pytest.raises(ZeroDivisionError):
            await group.wait("a", timeout=9)
        assert left(group) == 0

    run(main())


@on_loop
async def test_hook_that_exits_takes_nobody_along():
    """An odd exception out of a hook is its wait's end; the other waits are told."""

    class Odd(BaseException):
        pass

    def hook(event):
        if isinstance(event, Finished) and event.name == "a":
            raise Odd

    found = await group_of(Service({"a": 0, "b": 0}), on_event=hook).wait_many(
        list("ab"), timeout=9
    )
    assert isinstance(found["a"], FetchError)
    assert found["b"] is True


@on_loop
async def test_close_lets_calls_end():
    """What a call brings that is under way still counts; the other waits end at once (B10)."""
    group = group_of(Service({"a": 0}, duration=4), schedule=fixed(1).after(2))
    waiting = asyncio.ensure_future(group.wait_many(list("ab"), timeout=None))
    await asyncio.sleep(3)
    late = asyncio.ensure_future(group.wait("c", timeout=None))
    await asyncio.sleep(1)
    await group.close()
    assert now() == 6
    found = await waiting
    assert found["a"] is True
    assert isinstance(found["b"], BatcherClosed)
    with pytest.raises(BatcherClosed):
        await late
    await group.close()
    with pytest.raises(BatcherClosed):
        await group.wait("a", timeout=None)


@on_loop
async def test_close_waits_no_longer_than_it_is_told():
    """At its timeout closing cancels the calls, and ends their waits."""
    ended = []

    async def fetch(keys):
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(now())

    async with group_of(fetch) as group:
        waiting = asyncio.ensure_future(group.wait("a", timeout=None))
        await asyncio.sleep(1)
        await group.close(timeout=2)
        with pytest.raises(BatcherClosed):
            await waiting
    await asyncio.sleep(0)
    assert ended == [3]


@on_loop
async def test_block_that_fails_waits_for_nothing():
    """An error out of the ``async with`` block is not held up by calls."""
    group = group_of(Service(duration=60))
    waiting = asyncio.ensure_future(group.wait("a", timeout=None))

    async def block():
        async with group:
            await asyncio.sleep(1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await block()
    assert now() == 1
    with pytest.raises(BatcherClosed):
        await waiting


@on_loop
async def test_close_inside_a_call_does_not_wait_for_it():
    """A fetch or a predicate may close its own group."""

    async def fetch(keys):
        await group.close()
        return dict.fromkeys(keys, False)

    async def until(value):
        await other.close()
        return False

    group = group_of(fetch)
    with pytest.raises(BatcherClosed):
        await group.wait("a", timeout=9)
    other = group_of(Service({"a": 0}))
    with pytest.raises(BatcherClosed):
        await other.wait("a", until=until, timeout=9)


def test_unused_group_may_be_closed():
    """A group that nobody has waited on is closed at once."""

    async def main():
        async with group_of(Service()):
            pass

    run(main())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_child_starts_clean():
    """A child may use the group on a loop of its own, whatever its parent's was doing."""
    group = group_of(Service({"b": 0}))

    async def before():
        return group.as_completed(["a"], timeout=None)

    kept = run(before())
    child = os.fork()
    if not child:
        try:
            assert run(group.wait("b", timeout=9)) is True
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    del kept


def test_group_belongs_to_one_loop():
    """A second event loop, or none, gets an error that says so (C15)."""
    group = group_of(Service({"a": 0}))

    async def main():
        return await group.wait("a", timeout=9)

    assert run(main()) is True
    with pytest.raises(RuntimeError, match="make one for each loop"):
        run(main())
    with pytest.raises(RuntimeError, match=r"on threads use pollwait\.PollGroup"):
        group.as_completed(list("a"), timeout=9)


@on_loop
async def test_idle_group_has_no_task():
    """While nobody waits there is nothing to run, and afterwards it begins again."""
    group = group_of(Service({"a": 0, "b": 60}))
    await group.wait("a", timeout=9)
    await others_run()
    assert asyncio.all_tasks() == {asyncio.current_task()}
    await asyncio.sleep(59)
    await group.wait("b", timeout=9)
    assert repr(group).startswith("PollGroup(fetch=")


@on_loop
async def test_event_and_clock_of_threads_are_refused():
    """What would block the whole loop is a TypeError that says what to pass."""
    group = group_of(Service({"a": 0}))
    with pytest.raises(TypeError, match="cancel must be for an event loop"):
        await group.wait("a", timeout=1, cancel=threading.Event())
    with pytest.raises(TypeError, match="clock must be for an event loop"):
        PollGroup(dict.fromkeys, max_size=1, clock=FakeClock())
    with pytest.raises(TypeError, match="clock must be for an event loop"):
        Batcher(dict.fromkeys, max_size=1, clock=FakeClock())
