"""What a check may do, and what the caller gets of it (O1-O7)."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import functools
import gc
import logging
import pickle
import sys
import threading
import traceback
import tracemalloc
import types
import weakref
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from fractions import Fraction

import pytest

from pollwait import (
    ClockStalled,
    PollCancelled,
    Poller,
    PollError,
    PollExhausted,
    PollFailed,
    PollTimeout,
    TryAgain,
    exponential,
    fixed,
    poll,
)
from pollwait.testing import AsyncFreezegunClock, FakeClock

from .checks import AsyncCallable, coroutine_function, returning


def patiently(check, **options):
    """Poll on a fake clock, once a second for a minute unless told otherwise."""
    return poll(check, **{"schedule": fixed(1), "timeout": 60, "clock": FakeClock(), **options})


def test_poll_returns_the_good_value():
    """The value that is good is returned as it is; truth is what counts by default."""
    assert patiently(returning(None, 0, "", [7])) == [7]


def test_until_decides_what_is_good():
    """O1: a value is good when until says so, even if it is false."""
    assert patiently(returning(3, 2, 0, 1), until=lambda value: value == 0) == 0


def test_predicate_that_is_never_true_raises():
    """A predicate that is never true ends in an error, never in None."""
    with pytest.raises(PollExhausted, match=r"not ready after 3 checks in 2 s \(max_attempts 3\)"):
        patiently(lambda: 1, until=lambda value: False, max_attempts=3, timeout=None)


def test_try_again_means_not_ready():
    """O1: TryAgain counts as not ready, from the check and from a predicate alike."""

    def until(value):
        if value == "503":
            raise TryAgain("busy", after=7)
        return True

    clock = FakeClock()
    check = returning(
        TryAgain(), TryAgain(after=0.5), TryAgain(after=timedelta(seconds=4)), "503", "up"
    )
    assert patiently(check, until=until, clock=clock) == "up"
    assert clock.sleeps == [1.0, 0.5, 4.0, 7.0]


def test_try_again_may_come_from_a_predicate_over_errors():
    """O1: who judges an error finds the server's hint in it, and may pass it on from there."""

    def matches(error):
        raise TryAgain(after=error.args[0])

    clock = FakeClock()
    assert patiently(returning(OSError("7"), "up"), retry_on=matches, clock=clock) == "up"
    assert clock.sleeps == [7.0]


def test_try_again_may_be_derived_from():
    """O1: a subclass that forgets to call its base's constructor has no hint, and works."""

    class Busy(TryAgain):
        def __init__(self, server):
            self.server = server

    clock = FakeClock()
    assert patiently(returning(Busy("a"), "up"), clock=clock) == "up"
    assert clock.sleeps == [1.0]


def test_value_before_try_again_is_the_last():
    """O7: what the check returned is on record, also where a predicate then said TryAgain."""

    def until(value):
        raise TryAgain("not settled")

    with pytest.raises(PollTimeout) as caught:
        patiently(lambda: "creating", until=until, timeout=0)
    assert caught.value.last == "creating"
    assert isinstance(caught.value.last_error, TryAgain)


def test_hint_is_honoured_up_to_cap_and_deadline():
    """O1: a server that asks for a day gets the cap, or what is left until the deadline."""
    capped, clipped = FakeClock(), FakeClock()
    schedule = exponential(1).cap(30)
    assert patiently(returning(TryAgain(after=86400), 1), schedule=schedule, clock=capped)
    assert patiently(returning(TryAgain(after=86400), 1), clock=clipped)
    assert (capped.sleeps, clipped.sleeps) == ([30.0], [60.0])


@pytest.mark.parametrize(
    ("text", "slept"),
    [
        ("7", 7.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("2.5", 2.5),
        ("9" * 400, 30.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("Wednesday, 21-Oct-15 07:28:00 GMT", 0.0),
        ("Wed Oct 21 07:28:00 2015", 0.0),
        pytest.param(
            format_datetime(datetime.now(timezone.utc) + timedelta(days=2), usegmt=True),
            30.0,
            id="in two days",
        ),
    ],
)
def test_raw_retry_after_is_read(text, slept):
    """O1: the text of a Retry-After header is read as seconds or as a date, up to the cap."""
    clock = FakeClock()
    assert patiently(returning(TryAgain(after=text), 1), schedule=fixed(20).cap(30), clock=clock)
    assert sum(clock.sleeps) == slept


@pytest.mark.parametrize(
    "text", ["", "soon", "-1", "nan", "inf", "1e3", "0x10", "٣", "1 2", "., ."]
)
def test_unreadable_retry_after_means_the_own_schedule(text, caplog):
    """O1: text that is neither seconds nor a date leaves the schedule as it is, with a warning."""
    clock = FakeClock()
    assert patiently(returning(TryAgain(after=text), 1), clock=clock)
    assert clock.sleeps == [1.0]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "Retry-After" in caplog.text


@pytest.mark.parametrize("after", [-1, float("nan"), float("inf"), True, b"5", [5]])
def test_hint_that_is_no_duration_is_an_error(after):
    """T1: a hint given as a number is checked like every duration."""
    with pytest.raises((TypeError, ValueError), match="after must be .* got after="):
        TryAgain(after=after)


def test_unnamed_error_passes_untouched():
    """O2: an error that retry_on does not name is the same object, with the same cause."""
    cause, bug = ValueError("why"), KeyError("bug")
    bug.__cause__ = cause
    with pytest.raises(KeyError) as caught:
        patiently(returning(bug), retry_on=ConnectionError)
    assert caught.value is bug
    assert bug.__cause__ is cause
    assert bug.__context__ is None
    assert traceback.extract_tb(bug.__traceback__)[-1].name == "scripted"


@pytest.mark.parametrize(
    "retry_on",
    [
        ConnectionError,
        (ConnectionError, KeyError),
        [OSError],
        lambda error: "reset" in str(error),
        (KeyError, lambda error: isinstance(error, OSError)),
        KeyError | OSError,
        (KeyError, (ValueError, OSError)),
        BaseException,
    ],
)
def test_named_error_is_retried(retry_on):
    """O2: retry_on takes a type, several, a predicate, or a mixture; subclasses count."""
    assert patiently(returning(ConnectionResetError("reset"), "up"), retry_on=retry_on) == "up"


@pytest.mark.parametrize("retry_on", ["ConnectionError", 5, (ConnectionError, 5), int, None])
def test_retry_on_must_name_errors(retry_on):
    """O2: what is neither an exception type nor a predicate is refused when given."""
    with pytest.raises(TypeError, match="retry_on must name exception types or predicates: got"):
        patiently(lambda: True, retry_on=retry_on)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("retry_on", [BaseException, lambda error: True, KeyboardInterrupt])
def test_base_exceptions_leave_at_once(kind, retry_on):
    """O2: Ctrl-C and its like leave the wait at once, whatever retry_on says."""
    leaving, clock = kind(), FakeClock()
    with pytest.raises(kind) as caught:
        patiently(returning(leaving, "up"), retry_on=retry_on, clock=clock)
    assert caught.value is leaving
    assert clock.sleeps == []


def nested_timeout():
    """Raise the PollTimeout of a wait inside the check."""
    return poll(lambda: False, timeout=0)


@pytest.mark.parametrize("retry_on", [TimeoutError, OSError, Exception, (OSError, ValueError)])
def test_error_of_a_nested_wait_is_not_retried_by_its_base(retry_on):
    """O2: PollTimeout is a TimeoutError and an OSError, but who names those does not mean it."""
    clock = FakeClock()
    with pytest.raises(PollTimeout, match="nested_timeout|lambda"):
        patiently(nested_timeout, retry_on=retry_on, clock=clock)
    assert clock.sleeps == []


@pytest.mark.parametrize("retry_on", [PollTimeout, PollError, (OSError, PollError)])
def test_error_of_a_nested_wait_is_retried_when_named(retry_on):
    """O2: a nested wait is waited for again by who names its error."""
    with pytest.raises(PollTimeout, match="nested_timeout") as caught:
        patiently(nested_timeout, retry_on=retry_on, timeout=2)
    assert caught.value.attempts == 3
    assert isinstance(caught.value.__cause__, PollTimeout)


def test_error_of_a_predicate_is_not_retried():
    """O2: retry_on is about the check; a bug in a predicate passes at once."""
    with pytest.raises(ZeroDivisionError):
        patiently(lambda: 0, until=lambda value: 1 / value, retry_on=Exception)


def test_error_of_a_sleep_is_not_retried():
    """O2: what the clock raises is no outcome of a check."""

    class Broken(FakeClock):
        def sleep(self, seconds):
            raise OSError("no timer")

    with pytest.raises(OSError, match="no timer"):
        patiently(lambda: False, retry_on=OSError, clock=Broken())


def test_fail_is_asked_before_until():
    """O3: a value that is both terminal and good has failed."""
    with pytest.raises(
        PollFailed, match=r"failed after 2 checks in 1 s; last value 'error'"
    ) as caught:
        patiently(returning("", "error"), fail="error".__eq__)
    assert caught.value.last == "error"


@pytest.mark.parametrize("predicate", ["until", "fail", "retry_on"])
def test_predicate_that_must_be_awaited_is_refused(predicate):
    """O3: an async predicate would be true for every value, so it is refused (and not leaked)."""

    async def asynchronous(value):
        return True

    with pytest.raises(TypeError, match=rf"{predicate} returned an awaitable.*pollwait\.aio\.poll"):
        patiently(
            returning(OSError()) if predicate == "retry_on" else lambda: 1,
            **{predicate: asynchronous},
        )


@pytest.mark.parametrize("argument", ["until", "fail", "on_event"])
def test_predicate_must_be_callable(argument):
    """A predicate that cannot be called is refused when given."""
    with pytest.raises(TypeError, match=f"{argument} must be callable: got {argument}='ready'"):
        patiently(lambda: True, **{argument: "ready"})


@pytest.mark.parametrize(
    "check",
    [
        coroutine_function,
        functools.partial(coroutine_function),
        AsyncCallable(),
        AsyncCallable().method,
        lambda: coroutine_function(),
    ],
    ids=["function", "partial", "object", "method", "lambda"],
)
def test_async_check_is_refused(check):
    """O4: a check that must be awaited gets a TypeError that names aio.poll, and no warning."""
    with pytest.raises(TypeError, match=r"pollwait\.aio\.poll"):
        patiently(check, retry_on=Exception)
    gc.collect()  # a coroutine that nobody awaited would warn here, and warnings are errors


def test_generator_based_coroutine_is_refused():
    """O4: the old kind of coroutine must be awaited too."""

    @types.coroutine
    def old():
        yield

    with pytest.raises(TypeError, match="is async"):
        patiently(old)
    with pytest.raises(TypeError, match="returned an awaitable"):
        patiently(lambda: old())


def test_future_as_result_is_refused():
    """O4: any awaitable counts, also where its type is seen only at the second check."""
    loop = asyncio.new_event_loop()
    try:
        with pytest.raises(TypeError, match=r"returned an awaitable \(.*Future\)"):
            patiently(returning(False, loop.create_future()))
    finally:
        loop.close()


def test_generator_function_is_refused():
    """O4: a generator function runs none of its body when called, so it cannot be polled."""

    def generating():
        yield True

    async def generating_async():
        yield True

    for check in (generating, functools.partial(generating), generating_async):
        with pytest.raises(TypeError, match="is a generator function"):
            patiently(check)
        with pytest.raises(TypeError, match="is a generator function"):
            Poller(timeout=1).wrap(check)


@pytest.mark.parametrize("wrap", [lambda function: lambda: function(), functools.lru_cache])
def test_generator_as_result_is_refused(wrap):
    """O4: a generator function in disguise returns a generator, of whose body nothing has run."""

    def generating():
        yield True

    with pytest.raises(TypeError, match="returned a generator"):
        patiently(wrap(generating))


def test_refused_awaitable_is_left_alone():
    """O4: an object that happens to be awaitable is not closed for being refused."""

    class Pool:
        closed = False

        def __await__(self):
            yield

        def close(self):
            self.closed = True

    pool = Pool()
    with pytest.raises(TypeError, match=r"returned an awaitable \(Pool\)"):
        patiently(lambda: pool)
    assert not pool.closed


@pytest.mark.parametrize("check", [None, 5, "ready"])
def test_check_must_be_callable(check):
    """What cannot be called is refused with a TypeError."""
    with pytest.raises(TypeError, match="check must be callable"):
        patiently(check)


def test_poll_works_inside_a_running_loop():
    """O4: notebooks run their cells inside a loop; poll works there and blocks it."""

    async def cell():
        return patiently(returning(False, "up"))

    assert asyncio.run(cell()) == "up"


def test_poller_serves_many_threads():
    """O5: one Poller runs any number of waits at once, each with its own state."""
    poller = Poller(schedule=fixed(1).times(3))
    ends = []

    def wait(outcomes):
        try:
            ends.append(poller.poll(returning(*outcomes), clock=FakeClock()))
        except PollExhausted as error:
            ends.append(error.attempts)

    threads = [threading.Thread(target=wait, args=([0] * n + [f"up{n}"],)) for n in range(5)] * 1
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, ends)) == ["4", "up0", "up1", "up2", "up3"]


def test_history_keeps_the_first_and_the_last():
    """O6: of many checks the first 3 and the last 5 are kept, and counted."""
    with pytest.raises(PollExhausted) as caught:
        patiently(
            returning(*range(-1000, 0)), until=lambda value: False, max_attempts=1000, timeout=None
        )
    history = caught.value.history
    assert [record.attempt for record in history] == [1, 2, 3, 996, 997, 998, 999, 1000]
    assert [record.value for record in history.last] == [-5, -4, -3, -2, -1]
    assert (history.total, history.forgotten) == (1000, 992)


def test_memory_does_not_grow_with_attempts():
    """O6: 10,000 pending values of 1 kB each leave nothing behind but the few that are kept."""

    class Forgetful(FakeClock):
        def sleep(self, seconds):
            self.advance(seconds)  # without keeping a list of what was slept

    held = []

    def check():
        held.append(tracemalloc.get_traced_memory()[0])
        del held[:-1]
        return bytes(1000)

    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        with pytest.raises(PollExhausted):
            patiently(
                check,
                until=lambda value: False,
                max_attempts=10_000,
                timeout=None,
                clock=Forgetful(),
            )
    finally:
        tracemalloc.stop()
    assert held[0] - before < 1_000_000  # of 10 MB that passed by; other threads allocate as well


def test_finished_wait_keeps_no_frames_alive():
    """O6: what the checks worked with is freed when the wait ends, without the help of the gc."""

    class Big:
        pass

    seen = []

    def check():
        big = Big()
        seen.append(weakref.ref(big))
        try:
            raise ValueError("inner")
        except ValueError:
            raise (ConnectionError if len(seen) < 4 else KeyError)(len(seen))  # noqa: B904

    def run():
        try:
            patiently(check, retry_on=ConnectionError, max_attempts=3, timeout=None)
        except (PollExhausted, KeyError) as error:
            return getattr(error, "history", None)

    gc.disable()
    try:
        history = run()
        assert [ref() for ref in seen] == [None] * 3
        assert [record.error.__traceback__ for record in history] == [None] * 3
        assert all("in check" in record.where for record in history)
        run()
        assert [ref() for ref in seen] == [None] * 4
    finally:
        gc.enable()


@dataclasses.dataclass(frozen=True)
class Frozen(Exception):
    """An error of which nothing can be set."""

    code: int


class Plural(Exception):
    """An error with a field that only an ExceptionGroup has otherwise."""

    exceptions = "several"


@pytest.mark.parametrize("error", [Frozen(7), Plural()])
def test_error_of_any_shape_is_retried(error):
    """O2: what an error class makes of itself is not in the way of a retry."""
    assert patiently(returning(error, "up"), retry_on=(Frozen, Plural)) == "up"


@pytest.mark.skipif(sys.version_info < (3, 11), reason="ExceptionGroup is new in Python 3.11")
def test_group_of_errors_keeps_no_frames():
    """O6: the errors in a group, and what they are chained to, lose their tracebacks as well."""

    def check():
        try:
            raise ValueError("inner")
        except ValueError as inner:
            raise ExceptionGroup("both", [inner, KeyError()])  # noqa: B904, F821

    with pytest.raises(PollExhausted) as caught:
        patiently(check, retry_on=Exception, max_attempts=1, timeout=None)
    group = caught.value.last_error
    assert [error.__traceback__ for error in (group, *group.exceptions)] == [None] * 3


def test_error_that_the_check_passes_on_keeps_its_traceback():
    """O6: a check may raise the very error that its caller is handling, which is the caller's."""
    try:
        raise OSError("the caller's own")
    except OSError as error:
        assert patiently(returning(error, "up"), retry_on=OSError) == "up"
        assert error.__traceback__ is not None


def test_error_being_handled_keeps_its_traceback():
    """O6: a wait that is made while an error is handled does not touch that error."""
    try:
        raise RuntimeError("the caller's own")
    except RuntimeError as error:
        with pytest.raises(PollExhausted):
            patiently(returning(OSError(), OSError()), retry_on=OSError, max_attempts=2)
        assert error.__traceback__ is not None


def test_error_says_it_in_one_sentence():
    """O7: what was waited for, checks, elapsed, the limit, and what was seen last and when."""
    with pytest.raises(PollTimeout) as caught:
        patiently(
            lambda: "creating", until="available".__eq__, timeout=30.25, name="vol-1 available"
        )
    assert str(caught.value) == (
        "'vol-1 available' not ready after 32 checks in 30.25 s (timeout 30.25 s);"
        " last value 'creating' at 30.25 s"
    )


def test_error_names_the_last_error():
    """O7: where the last check raised, the text and the cause are what it raised."""
    refused = ConnectionError("refused")
    with pytest.raises(PollExhausted) as caught:
        patiently(
            returning("starting", refused),
            until=lambda value: False,
            retry_on=OSError,
            max_attempts=2,
            timeout=None,
            name="db",
        )
    assert "last error ConnectionError('refused') at 1 s, raised at " in str(caught.value)
    assert "'db' not ready after 2 checks in 1 s (max_attempts 2)" in str(caught.value)
    assert caught.value.last == "starting"
    assert caught.value.last_error is refused
    assert caught.value.__cause__ is refused


def test_error_of_an_ended_schedule_says_so():
    """O7: the limit that ended the wait is named, here the schedule."""
    with pytest.raises(PollExhausted, match=r"\(schedule ended\)"):
        patiently(lambda: False, schedule=fixed(1).times(1))


class Unfriendly:
    """A value that no one can print."""

    def __repr__(self):
        raise RuntimeError("no repr")


def test_error_shortens_and_survives_values():
    """O7: long values are cut, and one whose repr raises does not hide the timeout."""
    with pytest.raises(PollTimeout) as caught:
        patiently(lambda: "x" * 10_000, until=lambda value: False, timeout=0)
    assert len(str(caught.value)) < 400
    with pytest.raises(PollTimeout, match="<Unfriendly whose repr fails>"):
        patiently(Unfriendly, until=lambda value: False, timeout=0)


def test_error_stays_one_sentence():
    """O7: a value that prints on many lines is put on one."""

    class Table:
        def __repr__(self):
            return "a  b\n1  2"

    with pytest.raises(PollTimeout, match="last value a b 1 2 at 0 s"):
        patiently(Table, until=lambda value: False, timeout=0)


def test_time_may_be_told_in_other_numbers():
    """O7: a clock that counts in fractions gets its timeout like any other."""

    class Exact(FakeClock):
        def monotonic(self):
            return Fraction(super().monotonic())

    with pytest.raises(PollTimeout, match=r"in 2.5 s \(timeout 2.5 s\)"):
        patiently(lambda: False, timeout=Fraction(5, 2), clock=Exact())


class Proxy:
    """An object that answers for another one, when it can."""

    def __getattr__(self, name):
        raise KeyError(name)

    def __call__(self):
        return False


class Callable:
    """A check that is an object."""

    def __call__(self):
        return False


def renamed():
    """Be a function that got its name later, as the methods of boto3 clients do."""


renamed.__name__ = "describe_volumes"


@pytest.mark.parametrize(
    ("check", "name"),
    [
        (lambda: False, "lambda at test_poll_outcomes.py:"),
        (Callable(), "Callable"),
        (functools.partial(bool, 0), "bool"),
        (functools.partial(returning, *[]), "returning"),
        (threading.Event().is_set, "Event.is_set"),
        ({}.__len__, "dict.__len__"),
        (renamed, "describe_volumes"),
        pytest.param(Proxy(), "Proxy", id="proxy"),
    ],
)
def test_check_of_any_kind_is_named(check, name):
    """O7: a lambda, an object or a partial is described, and the timeout is a timeout."""
    with pytest.raises(PollTimeout) as caught:
        patiently(check, until=lambda value: False, timeout=0)
    assert caught.value.name.startswith(name)


def everything(error):
    """Return all that an error says in fields."""
    return (
        str(error),
        error.name,
        error.attempts,
        error.elapsed,
        error.last,
        str(error.last_error),
    )


def test_error_can_be_pickled_and_copied():
    """O7: fields and text survive pickle, copy and deepcopy."""
    with pytest.raises(PollTimeout) as caught:
        patiently(
            returning(1, OSError("down")), until=lambda value: False, retry_on=OSError, timeout=1
        )
    for twin in (
        pickle.loads(pickle.dumps(caught.value)),
        copy.copy(caught.value),
        copy.deepcopy(caught.value),
    ):
        assert type(twin) is PollTimeout
        assert everything(twin) == everything(caught.value)
        assert [record.attempt for record in twin.history] == [1, 2]
    assert copy.copy(caught.value).__cause__ is caught.value.last_error


def test_value_that_cannot_be_pickled_travels_as_its_repr():
    """O7: a lock in the last value does not keep the error from crossing a process boundary."""
    lock = threading.Lock()
    with pytest.raises(PollTimeout) as caught:
        patiently(lambda: lock, until=lambda value: False, timeout=0)
    twin = pickle.loads(pickle.dumps(caught.value))
    assert twin.last == repr(lock)
    assert twin.history.first[0].value == repr(lock)
    assert copy.copy(caught.value).last is lock


def test_errors_in_errors_can_be_pickled():
    """O7: a wait that retried on waits that retried on waits travels with all of it."""

    def nested(levels):
        if not levels:
            raise ConnectionError("down")
        patiently(
            lambda: nested(levels - 1),
            retry_on=(OSError, PollError),
            max_attempts=2,
            timeout=None,
        )

    with pytest.raises(PollExhausted) as caught:
        nested(4)
    error = pickle.loads(pickle.dumps(caught.value))
    for _ in range(3):
        error = error.last_error
        assert isinstance(error, PollExhausted)
    assert repr(error.last_error) == "ConnectionError('down')"


def test_error_that_its_own_value_refers_to_can_be_pickled():
    """O7: a job record that keeps its error, of which it is the last value, comes to an end."""
    job = {"state": "stuck"}
    with pytest.raises(PollTimeout) as caught:
        patiently(lambda: job, until=lambda value: False, timeout=0)
    job["error"] = caught.value
    twin = pickle.loads(pickle.dumps(caught.value))
    assert twin.last["state"] == "stuck"
    assert str(twin.last["error"]) == str(caught.value)


def test_value_that_cannot_be_unpickled_travels_as_its_repr():
    """O7: a class that pickles and does not unpickle costs its own value and no other."""
    with pytest.raises(PollTimeout) as caught:
        patiently(OneWay, until=lambda value: False, timeout=0)
    assert pickle.loads(pickle.dumps(caught.value)).last == "OneWay()"


class OneWay:
    """A value that can be sent and not received."""

    def __repr__(self):
        return "OneWay()"

    def __reduce__(self):
        return int, ("no number",)


@pytest.mark.parametrize(
    ("kind", "bases"),
    [
        (PollTimeout, (PollError, TimeoutError, OSError)),
        (PollExhausted, (PollError,)),
        (PollFailed, (PollError,)),
        (PollCancelled, (PollError,)),
        (ClockStalled, (RuntimeError,)),
    ],
)
def test_errors_derive_from_what_callers_catch(kind, bases):
    """One root, and the built-in that callers already catch."""
    assert all(issubclass(kind, base) for base in bases)


def test_clock_that_stands_still_is_an_error():
    """A clock that sleeps and never moves would poll for ever; the error names the remedy."""

    class Frozen(FakeClock):
        def advance(self, seconds):
            pass

    with pytest.raises(ClockStalled, match=r"stands still.*FreezegunClock"):
        patiently(lambda: False, clock=Frozen())


def test_coarse_clock_passes():
    """A clock of whole seconds stands still over short sleeps, and is no stalled clock."""

    class Coarse(FakeClock):
        def monotonic(self):
            return float(int(super().monotonic()))

    with pytest.raises(PollTimeout) as caught:
        patiently(lambda: False, schedule=fixed(0.125), timeout=3, clock=Coarse())
    assert caught.value.elapsed == 3.0


@pytest.mark.parametrize("argument", ["cancel", "clock", "rng"])
def test_event_clock_and_rng_must_have_their_shape(argument):
    """What has not the methods of an event, a clock or a source of chance is refused when given."""
    with pytest.raises(TypeError, match=rf"{argument} must be an? [a-z ]+, with a method"):
        patiently(lambda: True, **{argument: object()})


def test_class_in_place_of_a_clock_is_refused():
    """Forgotten parentheses are found when the clock is given, not at its first use."""
    with pytest.raises(TypeError, match="clock must be a clock"):
        patiently(lambda: True, clock=FakeClock)


def test_error_is_shown_under_its_public_name():
    """Tracebacks and pickles name an error by the path that users import it by."""
    with pytest.raises(PollTimeout) as caught:
        patiently(lambda: False, timeout=0)
    assert traceback.format_exception_only(caught.type, caught.value)[0].startswith(
        "pollwait.PollTimeout: "
    )


def test_clock_of_an_event_loop_is_refused():
    """A clock whose sleep must be awaited would never sleep here."""
    with pytest.raises(TypeError, match=r"clock.sleep .* is async"):
        patiently(lambda: False, clock=AsyncFreezegunClock())


def test_async_hook_is_refused():
    """A hook that must be awaited would never run; it is refused when given."""

    async def hook(event):
        pass

    with pytest.raises(TypeError, match="on_event must be a plain function"):
        patiently(lambda: True, on_event=hook)
