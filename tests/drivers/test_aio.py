"""What is particular to waits on an event loop."""

from __future__ import annotations

import asyncio
import functools
import gc
import sys
import threading
import types
import weakref

import pytest

from pollwait import (
    Finished,
    PollCancelled,
    PollExhausted,
    PollFailed,
    PollTimeout,
    TryAgain,
    aio,
    fixed,
)
from pollwait._aio.drive import drive
from pollwait._core.settings import Settings
from pollwait.testing import FakeClock, run

from .checks import AsyncCallable, coroutine_function, returning


async def patiently(check, **options):
    """Poll once a second for a minute unless told otherwise."""
    return await aio.poll(check, **{"schedule": fixed(1), "timeout": 60, **options})


def test_import_of_aio_is_not_part_of_the_package():
    """The asyncio face mirrors that on threads by name."""
    import pollwait

    assert set(aio.__all__) - {"AsyncClock"} <= set(pollwait.__all__)


@pytest.mark.parametrize(
    "check",
    [
        coroutine_function,
        functools.partial(coroutine_function),
        AsyncCallable(),
        AsyncCallable().method,
        lambda: coroutine_function(),
        lambda: True,
        functools.partial(bool, 1),
    ],
    ids=["function", "partial", "object", "method", "lambda", "plain", "plain partial"],
)
def test_check_of_any_kind_is_called(check):
    """O4: plain or async, function, partial, lambda, object or method: the result decides."""
    assert run(patiently(check)) is True


def test_check_may_change_its_kind():
    """O4: a check may return now a value and now an awaitable; each is taken for what it is."""

    async def later(value):
        return value

    answers = [False, later(False), 0, later(0), later("up")]
    assert run(patiently(lambda: answers.pop(0))) == "up"


def test_generator_function_is_refused():
    """O4: neither kind of generator function can be polled."""

    async def generating():
        yield True

    with pytest.raises(TypeError, match="is a generator function"):
        run(patiently(generating))
    with pytest.raises(TypeError, match="is a generator function"):
        aio.Poller(timeout=1).wrap(generating)


def test_predicates_are_awaited():
    """O3: until, fail and the predicates of retry_on may be asynchronous."""

    async def good(value):
        return value == "up"

    async def bad(value):
        return value == "error"

    async def reset(error):
        return "reset" in str(error)

    options = {"until": good, "fail": bad, "retry_on": reset}
    assert run(patiently(returning("down", OSError("reset"), "up"), **options)) == "up"
    with pytest.raises(PollFailed):
        run(patiently(returning("down", "error"), **options))
    with pytest.raises(OSError, match="refused"):
        run(patiently(returning(OSError("refused")), **options))


def test_try_again_counts_in_async_checks_and_predicates():
    """O1: TryAgain means not ready, wherever it is raised."""

    async def check():
        if asyncio.get_running_loop().time() < 7:
            raise TryAgain(after=7)
        return "up"

    async def until(value):
        if asyncio.get_running_loop().time() < 12:
            raise TryAgain(after="5")
        return True

    assert run(patiently(check, until=until)) == "up"


def test_predicate_over_errors_may_raise():
    """O1, O2: TryAgain from a predicate over errors is a hint; anything else passes."""

    def hinting(error):
        raise TryAgain(after=7)

    def broken(error):
        raise ZeroDivisionError

    async def wait():
        await patiently(returning(OSError(), "up"), retry_on=hinting)
        return asyncio.get_running_loop().time()

    assert run(wait()) == 7.0
    events = []
    with pytest.raises(ZeroDivisionError):
        run(patiently(returning(OSError()), retry_on=broken, on_event=events.append))
    assert [event.reason for event in events if isinstance(event, Finished)] == ["error"]
    assert events[-1].attempts == 1


def test_attempt_timeout_cuts_a_check():
    """T4: a check that outlives attempt_timeout is cancelled and counts as not ready."""
    cut = []

    async def check():
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            cut.append(asyncio.get_running_loop().time())
            raise

    with pytest.raises(PollTimeout, match=r"cut after attempt_timeout=2\.0 s") as caught:
        run(patiently(check, timeout=10, attempt_timeout=2))
    assert cut == [2.0, 5.0, 8.0, 11.0]
    assert [record.elapsed for record in caught.value.history] == [*cut[:3], 11.0]
    assert all(isinstance(record.error, TimeoutError) for record in caught.value.history)
    assert caught.value.history.first[0].where is None


def test_attempt_timeout_spares_a_quick_check():
    """A check that returns in time is not touched, and its value counts."""

    async def check():
        await asyncio.sleep(1)
        return asyncio.get_running_loop().time()

    assert run(patiently(check, attempt_timeout=1.5)) == 1.0
    assert run(patiently(lambda: "plain", attempt_timeout=0)) == "plain"


def test_timeout_of_the_check_itself_is_not_a_cut():
    """O2: a TimeoutError that the check raises by itself passes unless it is named."""

    async def check():
        raise TimeoutError("the check's own")

    with pytest.raises(TimeoutError, match="the check's own"):
        run(patiently(check, attempt_timeout=5))


def test_stubborn_check_keeps_its_value():
    """A check that turns its cancellation into a value has returned; nobody is left cancelled."""

    async def check():
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            return "late"

    async def wait():
        value = await patiently(check, attempt_timeout=2)
        await asyncio.sleep(1)
        return value

    assert run(wait()) == "late"


@pytest.mark.parametrize("retry_on", [BaseException, lambda error: True, asyncio.CancelledError])
@pytest.mark.parametrize("options", [{}, {"attempt_timeout": 5}, {"cancel": asyncio.Event}])
@pytest.mark.parametrize("at", [0.0, 0.5, 1.0, 1.25, 2.0, 2.5])
def test_cancelled_task_leaves_at_once(retry_on, options, at):
    """T7: cancellation in a sleep, in a check or between them ends the wait there and then."""
    events = []

    async def check():
        await asyncio.sleep(0.5)
        return False

    async def wait():
        made = {name: make() if callable(make) else make for name, make in options.items()}
        task = asyncio.create_task(
            patiently(check, retry_on=retry_on, on_event=events.append, **made)
        )
        await asyncio.sleep(at)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop().time()

    assert run(wait()) == at
    # A task that is cancelled before it ever ran has nothing to tell.
    assert [event.reason for event in events if isinstance(event, Finished)] == ["cancelled"]


def test_cancellation_during_a_cut_is_not_lost():
    """A cancellation that arrives together with the cut of a check still cancels the task."""

    async def check():
        await asyncio.sleep(1000)

    async def wait():
        task = asyncio.create_task(patiently(check, attempt_timeout=2, retry_on=Exception))
        asyncio.get_running_loop().call_at(2.0, task.cancel)
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop().time()

    assert run(wait()) == 2.0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="asyncio.timeout is new in Python 3.11")
def test_timeout_around_a_wait_is_honoured():
    """asyncio.timeout around a wait ends it, whatever the wait would do by itself."""

    async def wait():
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.5):
                await patiently(lambda: False, retry_on=BaseException, attempt_timeout=1)
        return asyncio.get_running_loop().time()

    assert run(wait()) == 2.5


def test_cancel_event_ends_a_sleep_at_once():
    """T7: an asyncio.Event that is set during a sleep ends the wait with no further check."""
    checks = []

    async def wait():
        stop = asyncio.Event()
        asyncio.get_running_loop().call_at(2.5, stop.set)
        with pytest.raises(PollCancelled):
            await patiently(lambda: checks.append(1), cancel=stop)
        return asyncio.get_running_loop().time()

    assert run(wait()) == 2.5
    assert len(checks) == 3


def test_cancel_event_that_is_set_for_a_moment_counts():
    """T7: an event that is cleared again at once has happened all the same."""

    async def wait():
        stop = asyncio.Event()

        def pulse():
            stop.set()
            stop.clear()

        asyncio.get_running_loop().call_at(2.5, pulse)
        with pytest.raises(PollCancelled):
            await patiently(lambda: False, schedule=fixed(10), cancel=stop)
        return asyncio.get_running_loop().time()

    assert run(wait()) == 2.5


@pytest.mark.parametrize("options", [{"cancel": threading.Event()}, {"clock": FakeClock()}])
def test_what_is_for_threads_is_refused(options):
    """O4: an event or a clock of threads would block the whole loop, so it is refused."""
    with pytest.raises(TypeError, match=rf"{next(iter(options))} must be for an event loop"):
        run(patiently(lambda: False, **options))


def test_awaitable_in_an_awaitable_is_refused():
    """O4: a coroutine that somebody forgot to await is no good value."""

    async def forgetful():
        return coroutine_function()

    with pytest.raises(TypeError, match="returned an awaitable .*: await it in the check"):
        run(patiently(forgetful))


def test_generator_as_result_is_refused():
    """O4: a generator, of whose body nothing has run, is no good value here either."""

    def generating():
        yield True

    async def generating_async():
        yield True

    for function in (generating, generating_async):
        with pytest.raises(TypeError, match="returned a generator"):
            run(patiently(lambda function=function: function()))


def test_error_while_being_cut_is_a_cut():
    """T4: a check that turns its cancellation into an error has been cut all the same."""

    async def check():
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            raise ConnectionError("interrupted") from None

    with pytest.raises(PollTimeout, match="cut after attempt_timeout"):
        run(patiently(check, timeout=10, attempt_timeout=2))


@pytest.mark.parametrize("clean_up", [0, 0.5])
@pytest.mark.parametrize("at", [0.75, 1.0, 1.25])
def test_cancellation_near_a_cut_is_honoured(at, clean_up):
    """T7: a task that is cancelled shortly before, at or after a cut leaves, once its check has."""

    async def check():
        try:
            await asyncio.sleep(5)
        finally:
            await asyncio.sleep(clean_up)

    async def wait():
        task = asyncio.create_task(patiently(check, attempt_timeout=1, retry_on=Exception))
        await asyncio.sleep(at)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.get_running_loop().time()

    assert run(wait()) <= at + clean_up


def test_cut_check_keeps_no_frames_alive():
    """O6: nor does a check that ran under attempt_timeout, whether it was cut or raised."""

    class Big:
        pass

    seen = []

    async def check():
        big = Big()
        seen.append(weakref.ref(big))
        await asyncio.sleep(1000 if len(seen) == 1 else 0)
        raise ConnectionError(len(seen))

    async def wait():
        try:
            await patiently(check, retry_on=OSError, max_attempts=3, attempt_timeout=2)
        except PollExhausted as error:
            return error.attempts

    gc.disable()
    try:
        assert run(wait()) == 3
        assert [ref() for ref in seen] == [None] * 3
    finally:
        gc.enable()


def test_cancel_that_is_set_beforehand_means_no_check():
    """T7: an event that is set already ends the wait before it begins."""

    async def wait():
        stop = asyncio.Event()
        stop.set()
        await patiently(lambda: True, cancel=stop)

    with pytest.raises(PollCancelled, match="cancelled after 0 checks"):
        run(wait())


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_base_exceptions_leave_at_once(kind):
    """O2: what is no Exception leaves at once, whatever retry_on says."""

    async def wait():
        with pytest.raises(kind):
            await patiently(returning(kind()), retry_on=BaseException)
        return asyncio.get_running_loop().time()

    assert run(wait()) == 0.0


def test_zero_delay_lets_others_run():
    """A delay of 0 yields once, so a busy wait does not starve its loop."""
    order = []

    async def other():
        for _ in range(3):
            order.append("other")
            await asyncio.sleep(0)

    async def wait():
        task = asyncio.create_task(other())
        with pytest.raises(PollExhausted):
            await aio.poll(lambda: order.append("check"), schedule=fixed(0), max_attempts=3)
        await task

    run(wait())
    assert order == ["other", "check"] * 3


def test_finished_wait_keeps_no_frames_alive():
    """O6: what the checks worked with is freed when the wait ends, without the help of the gc."""

    class Big:
        pass

    seen = []

    async def check():
        big = Big()
        seen.append(weakref.ref(big))
        await asyncio.sleep(0)
        raise ConnectionError(len(seen))

    async def wait():
        try:
            await patiently(check, retry_on=OSError, max_attempts=3, timeout=None)
        except PollExhausted as error:
            return error.attempts

    gc.disable()
    try:
        assert run(wait()) == 3
        assert [ref() for ref in seen] == [None] * 3
    finally:
        gc.enable()


def test_wait_needs_a_running_loop():
    """Outside a loop the error is the loop's own, at the first step of the coroutine."""
    wait = patiently(lambda: True)
    with pytest.raises(RuntimeError, match="no running event loop"):
        wait.send(None)


def test_generator_based_coroutine_is_awaited():
    """O4: the old kind of coroutine is awaitable as well."""

    @types.coroutine
    def old():
        yield from asyncio.sleep(1).__await__()
        return "up"

    assert run(patiently(old)) == "up"


def test_error_that_fails_a_wait_is_its_cause():
    """Libraries that build on a wait may name errors that end it as failed."""

    async def wait():
        settings = Settings(timeout=60, retry_on=OSError, fail_on=(KeyError, LookupError))
        await drive(settings, returning(OSError("passing"), LookupError("final")))

    with pytest.raises(PollFailed, match=r"last error LookupError\('final'\)") as caught:
        run(wait())
    assert isinstance(caught.value.__cause__, LookupError)


def test_poller_serves_many_tasks():
    """O5: one Poller runs any number of waits at once, each with its own state."""
    poller = aio.Poller(schedule=fixed(1), timeout=60)

    async def wait():
        waits = (poller.poll(returning(*[0] * n, f"up{n}")) for n in range(5))
        return await asyncio.gather(*waits), asyncio.get_running_loop().time()

    assert run(wait()) == (["up0", "up1", "up2", "up3", "up4"], 4.0)


def test_poller_options_of_a_call_go_first():
    """What a call says goes before what the Poller says; unknown names are refused."""
    poller = aio.Poller(schedule=fixed(2), timeout=60, attempt_timeout=5)
    with pytest.raises(PollTimeout, match=r"timeout 1 s"):
        run(poller.poll(lambda: 0, timeout=1))
    with pytest.raises(TypeError, match="unknown option 'tries'"):
        run(poller.poll(lambda: 0, tries=1))
    with pytest.raises(ValueError, match="attempt_timeout must be finite"):
        aio.Poller(attempt_timeout=-1)
    assert repr(poller).startswith("Poller(schedule=fixed(2), timeout=60.0, attempt_timeout=5.0)")


@pytest.mark.parametrize("kind", ["async", "plain"])
@pytest.mark.parametrize("decorate", ["bare", "with options"])
def test_wrap_makes_a_coroutine_function_that_waits(kind, decorate):
    """A wrapped function, plain or async, becomes a coroutine function with its arguments."""
    poller = aio.Poller(schedule=fixed(1), timeout=60)
    calls = []

    def plain(volume, *, region):
        """Say the state of a volume."""
        calls.append((volume, region))
        return "available" if len(calls) == 3 else ""

    async def asynchronous(volume, *, region):
        """Say the state of a volume."""
        return plain(volume, region=region)

    wrap = poller.wrap if decorate == "bare" else poller.wrap(until="available".__eq__)
    waiting = wrap(plain if kind == "plain" else asynchronous)
    assert asyncio.iscoroutinefunction(waiting)
    assert run(waiting("vol-1", region="eu")) == "available"
    assert calls == [("vol-1", "eu")] * 3
    assert waiting.__doc__ == "Say the state of a volume."
