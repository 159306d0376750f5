"""Both drivers of poll groups run the same machine: one script, the same calls and ends."""

from __future__ import annotations

import asyncio
import random
import threading

from hypothesis import example, given
from hypothesis import strategies as st

from pollwait import TryAgain, exponential, fixed, sequence
from pollwait._aio.group import PollGroup as AioPollGroup
from pollwait._sync.group import PollGroup
from pollwait.testing import FakeClock, VirtualTimeLoop


class Busy(Exception):
    """A throttle."""


class Down(Exception):
    """An error that the groups below retry on."""


class Fatal(Exception):
    """An error that nothing names."""


QUARTERS = st.integers(0, 24).map(lambda quarters: quarters / 4)

SCHEDULES = st.sampled_from(
    [
        fixed(1),
        exponential(0.5, factor=1.5).after(1.25),
        exponential(0.5, factor=2).cap(4).jitter("full"),
        sequence(0.5, 2, 0.25),
        fixed(2).from_start(),
    ]
)

# What the calls do, in their order; later ones answer. Keys are ready by the number of the call.
OUTCOMES = st.lists(
    st.sampled_from(["answer", "answer", "busy", "down", "fatal", "poison", "nothing", "hint"]),
    max_size=8,
)

CALLERS = st.fixed_dictionaries(
    {
        # Not at a time at which calls may start: who is first at an instant is for each driver.
        "at": st.integers(0, 24).map(lambda eighths: eighths / 4 + 0.0625),
        "keys": st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6),
        "timeout": QUARTERS,
        "cancel_at": st.none() | QUARTERS.map(lambda seconds: seconds + 0.09375),
        "way": st.sampled_from(["wait", "many", "completed"]),
    }
)

SCRIPTS = st.fixed_dictionaries(
    {
        "outcomes": OUTCOMES,
        "ready": st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 8)),
        "duration": st.sampled_from([0.0, 0.0078125, 0.125]),
        "max_size": st.integers(1, 8),
        "riding": st.sampled_from(["free", "counts"]),
        "schedule": SCHEDULES,
        "missing_grace": st.sampled_from([0.0, 2.0]),
        "seed": st.integers(0, 3),
    }
)


class Script:
    """What the calls do, and what came of the waits."""

    def __init__(self, plan):
        self.plan = plan
        self.calls = []
        self.ends = []

    def options(self):
        """Return the settings of a group."""
        plan = self.plan
        return {
            "max_size": plan["max_size"],
            "riding": plan["riding"],
            "schedule": plan["schedule"],
            "missing_grace": plan["missing_grace"],
            "retry_on": Down,
            "is_throttle": Busy,
            "isolate": lambda error, keys: () if isinstance(error, LookupError) else None,
            "rng": random.Random(plan["seed"]),
        }

    def answer(self, now, keys):
        """Record a call, and return or raise what it comes to."""
        self.calls.append((now, keys))
        number = len(self.calls)
        outcomes = self.plan["outcomes"]
        outcome = outcomes[number - 1] if number <= len(outcomes) else "answer"
        if outcome in ("busy", "down", "fatal"):
            raise {"busy": Busy, "down": Down, "fatal": Fatal}[outcome](number)
        if outcome == "poison" and len(keys) > 1:
            raise LookupError(number)
        if outcome == "nothing":
            return {}
        if outcome == "hint":
            return dict.fromkeys(keys, TryAgain(after=3))
        return {key: self.plan["ready"].get(key, 99) <= number for key in keys}

    def end(self, now, key, result):
        """Record what a wait came to."""
        shown = f"{result!r} from {result.__cause__!r}" if isinstance(result, Exception) else result
        # A thread that makes a call hears of other ends when the call is over, a task at once.
        self.ends.append((0.0 if self.plan["duration"] else now, key, shown))


def on_threads(plan, caller):
    """Run a script in one thread."""
    clock, script = FakeClock(), Script(plan)

    def fetch(keys):
        clock.advance(plan["duration"])
        return script.answer(clock.monotonic(), keys)

    group = PollGroup(fetch, clock=clock, **script.options())
    cancel = None
    if caller["cancel_at"] is not None:
        cancel = threading.Event()
        clock.call_at(caller["cancel_at"], cancel.set)
    clock.advance(caller["at"])
    options = {"timeout": caller["timeout"], "cancel": cancel}
    if caller["way"] == "wait":
        for key in caller["keys"]:
            try:
                result = group.wait(key, **options)
            except Exception as error:
                result = error
            script.end(clock.monotonic(), key, result)
    elif caller["way"] == "many":
        for key, result in group.wait_many(caller["keys"], **options).items():
            script.end(clock.monotonic(), key, result)
    else:
        for key, result in group.as_completed(caller["keys"], **options):
            script.end(clock.monotonic(), key, result)
    assert group._lead._group.waiting == 0
    return script.calls, script.ends


def on_asyncio(plan, caller):
    """Run a script in one task."""
    loop, script = VirtualTimeLoop(), Script(plan)

    async def fetch(keys):
        await asyncio.sleep(plan["duration"])
        return script.answer(loop.time(), keys)

    async def main():
        group = AioPollGroup(fetch, **script.options())
        cancel = None
        if caller["cancel_at"] is not None:
            cancel = asyncio.Event()
            loop.call_at(caller["cancel_at"], cancel.set)
        await asyncio.sleep(caller["at"])
        options = {"timeout": caller["timeout"], "cancel": cancel}
        if caller["way"] == "wait":
            for key in caller["keys"]:
                try:
                    result = await group.wait(key, **options)
                except Exception as error:
                    result = error
                script.end(loop.time(), key, result)
        elif caller["way"] == "many":
            for key, result in (await group.wait_many(caller["keys"], **options)).items():
                script.end(loop.time(), key, result)
        else:
            async for key, result in group.as_completed(caller["keys"], **options):
                script.end(loop.time(), key, result)
        assert group._runner._group.waiting == 0

    loop.run_until_complete(main())
    loop.close()
    return script.calls, script.ends


@given(plan=SCRIPTS, caller=CALLERS)
@example(
    plan={
        "outcomes": ["answer", "busy", "poison", "nothing"],
        "ready": {"a": 2},
        "duration": 0.125,
        "max_size": 8,
        "riding": "free",
        "schedule": fixed(1),
        "missing_grace": 0.0,
        "seed": 0,
    },
    caller={
        "at": 0.0625,
        "keys": ["a", "b", "c"],
        "timeout": 9.0,
        "cancel_at": None,
        "way": "many",
    },
)
def test_drivers_agree(plan, caller):
    """Threads and asyncio make equal calls, and every wait comes to the same at the same time."""
    cancel_at = caller["cancel_at"]
    if cancel_at is not None and plan["duration"]:
        # Nor can a thread be woken from a call that it makes.
        caller = {**caller, "cancel_at": None}
    assert on_threads(plan, caller) == on_asyncio(plan, caller)


def test_scripts_reach_every_end():
    """The property above is not vacuous: its scripts end in every way that there is."""
    plan = {
        "outcomes": [],
        "ready": {},
        "duration": 0.0,
        "max_size": 8,
        "riding": "free",
        "schedule": fixed(1),
        "missing_grace": 0.0,
        "seed": 0,
    }
    caller = {"at": 0.0625, "keys": ["a"], "timeout": 3.0, "cancel_at": None, "way": "wait"}
    for changes, shown in [
        ({"ready": {"a": 1}}, "True"),
        ({}, "PollTimeout"),
        ({"outcomes": ["fatal"]}, "Fatal"),
        ({"outcomes": ["nothing"]}, "PollFailed"),
        ({"schedule": sequence(0.5)}, "PollExhausted"),
    ]:
        for drive in (on_threads, on_asyncio):
            ((_, _, end),) = drive({**plan, **changes}, caller)[1]
            assert shown in str(end)
    for drive in (on_threads, on_asyncio):
        ((at, _, end),) = drive(plan, {**caller, "cancel_at": 1.5})[1]
        assert at == 1.5
        assert "PollCancelled" in end
