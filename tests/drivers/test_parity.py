"""Both drivers run the same machine: one script, one result, the same sleeps and the same end."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading

from hypothesis import example, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from pollwait import (
    Checked,
    TryAgain,
    aio,
    decorrelated,
    exponential,
    fixed,
    poll,
    sequence,
)
from pollwait.testing import FakeClock, VirtualTimeLoop


class Retried(Exception):
    """An error that the waits below retry on."""


class Fatal(Exception):
    """An error that they do not name."""


SECONDS = st.integers(0, 24).map(lambda quarters: quarters / 4)

# How a check ends: what it does, and the seconds it takes.
OUTCOMES = st.tuples(
    st.sampled_from(["pending", "retried", "again", "hint", "ready", "failed", "fatal"]), SECONDS
)

SCHEDULES = st.one_of(
    SECONDS.map(fixed),
    st.builds(exponential, st.just(0.5), factor=st.sampled_from([1.5, 2])),
    st.builds(sequence, SECONDS, SECONDS),
    st.just(decorrelated(0.5, cap=8)),
).flatmap(
    lambda schedule: st.sampled_from(
        [
            schedule,
            schedule.after(1.25),
            schedule.cap(2).jitter("full"),
            schedule.times(4).then(fixed(1)),
            schedule.within(6),
            schedule.from_start(),
            schedule & fixed(0.5),
        ]
    )
)


class Script:
    """The outcomes of the checks of one wait; the last one is repeated."""

    def __init__(self, outcomes):
        self.outcomes = outcomes
        self.checks = 0

    def next(self):
        """Return the next outcome and its duration."""
        outcome = self.outcomes[min(self.checks, len(self.outcomes) - 1)]
        self.checks += 1
        return outcome

    @staticmethod
    def act(outcome):
        """Return or raise what an outcome says."""
        if outcome == "retried":
            raise Retried
        if outcome == "again":
            raise TryAgain
        if outcome == "hint":
            raise TryAgain(after=3)
        if outcome == "fatal":
            raise Fatal
        return outcome


class RecordingClock:
    """The clock of the running loop, with a list of what was slept."""

    def __init__(self, loop):
        self.loop = loop
        self.sleeps = []

    def monotonic(self):
        return self.loop.time()

    async def sleep(self, seconds):
        self.sleeps.append(seconds)
        await asyncio.sleep(seconds)

    async def wait(self, event, seconds):
        if event.is_set():
            return True
        began = self.loop.time()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(event.wait(), seconds)
        self.sleeps.append(self.loop.time() - began if event.is_set() else seconds)
        return event.is_set()


def settings(schedule, timeout, max_attempts, seed, events):
    """Return the options that both drivers are given."""
    return {
        "until": "ready".__eq__,
        "fail": "failed".__eq__,
        "retry_on": Retried,
        "schedule": schedule,
        "timeout": timeout,
        "max_attempts": max_attempts,
        "rng": random.Random(seed),
        "name": "script",
        "on_event": events.append,
    }


def told(events):
    """Return events in a form that compares errors by type and text."""
    return [(type(event), *map(plain, event._fields())) for event in events]


def plain(field):
    """Return a field in a form that compares: errors by type and text."""
    return repr(field) if isinstance(field, BaseException) else field


def on_threads(outcomes, cancel_at, **options):
    """Run a script on the thread driver."""
    clock, script, events = FakeClock(), Script(outcomes), []
    cancel = None
    if cancel_at is not None:
        cancel = threading.Event()
        clock.call_at(cancel_at, cancel.set)

    def check():
        outcome, seconds = script.next()
        clock.advance(seconds)
        return script.act(outcome)

    try:
        end = poll(check, clock=clock, cancel=cancel, **settings(events=events, **options))
    except Exception as error:
        end = repr(error)
    return end, clock.sleeps, clock.monotonic(), script.checks, told(events)


def on_asyncio(outcomes, cancel_at, **options):
    """Run a script on the asyncio driver."""
    loop = VirtualTimeLoop()
    clock, script, events = RecordingClock(loop), Script(outcomes), []

    async def check():
        outcome, seconds = script.next()
        await asyncio.sleep(seconds)
        return script.act(outcome)

    async def wait():
        cancel = None
        if cancel_at is not None:
            cancel = asyncio.Event()
            loop.call_at(cancel_at, cancel.set)
        return await aio.poll(
            check, clock=clock, cancel=cancel, **settings(events=events, **options)
        )

    try:
        end = loop.run_until_complete(wait())
    except Exception as error:
        end = repr(error)
    ended = loop.time()
    loop.close()
    return end, clock.sleeps, ended, script.checks, told(events)


@examples(max_examples=400)
@given(
    outcomes=st.lists(OUTCOMES, min_size=1, max_size=8),
    cancel_at=st.none() | SECONDS.map(lambda seconds: 2 * seconds + 0.125),
    schedule=SCHEDULES,
    timeout=SECONDS.map(lambda seconds: 2 * seconds),
    max_attempts=st.none() | st.integers(1, 9),
    seed=st.integers(0, 3),
)
@example(
    outcomes=[("pending", 0.0)],
    cancel_at=0.625,
    schedule=fixed(0.25),
    timeout=1.0,
    max_attempts=None,
    seed=0,
)
def test_drivers_agree(**script):
    """Threads and asyncio give equal results, sleeps, end times, checks and events."""
    if script["schedule"].ceiling == 0 or script["schedule"] == fixed(0):
        script["max_attempts"] = script["max_attempts"] or 9  # time would not move
    assert on_threads(**script) == on_asyncio(**script)


def test_scripts_reach_every_end():
    """The property above is not vacuous: its scripts end in every way that there is."""
    options = {"schedule": fixed(1), "timeout": 3, "max_attempts": None, "seed": 0}
    ends = {
        "ready": [("ready", 0.0)],
        "PollFailed": [("failed", 0.0)],
        "PollTimeout": [("pending", 0.0)],
        "Fatal": [("retried", 0.0), ("fatal", 0.0)],
    }
    for end, outcomes in ends.items():
        assert end in str(on_threads(outcomes, None, **options)[0])
    assert "PollCancelled" in on_asyncio([("again", 0.0)], 1.5, **options)[0]
    assert "PollExhausted" in on_asyncio([("hint", 0.0)], None, **{**options, "max_attempts": 1})[0]
    assert on_threads([("hint", 0.0)], None, **options)[4][0][0] is Checked
