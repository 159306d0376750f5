"""Poll groups with a latency model, on threads and on an event loop."""

from __future__ import annotations

import asyncio
import json
import random
import threading
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait import TryAgain, exponential, fixed
from pollwait._aio.group import PollGroup as AioPollGroup
from pollwait._core.distribution import Distribution
from pollwait._core.latency import LatencyModel
from pollwait._sync.group import PollGroup
from pollwait.testing import FakeClock, VirtualTimeLoop, run

AT_TWO = Distribution((2.0, 2.0), (0.0, 1.0))
SAMPLES = (1.25, 1.5, 1.5, 1.75, 2.0, (2.0, 2.5), (3.0, None))


class Busy(Exception):
    """A throttle."""


class Down(Exception):
    """An error that the groups below retry on."""


SCRIPTS = st.fixed_dictionaries(
    {
        "outcomes": st.lists(
            st.sampled_from(["answer", "answer", "busy", "down", "nothing", "hint"]), max_size=8
        ),
        "ready": st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 16)),
        "duration": st.sampled_from([0.0, 0.0078125, 0.125]),
        "max_size": st.integers(1, 8),
        "min_gap": st.sampled_from(
            [None, 0.5]
        ),  # longer than a call, since one thread makes them all
        "latency": st.sampled_from(["samples", "fixed", "nothing"]),
        "call_cost": st.sampled_from([0.25, 1.0, 4.0]),
        "learn": st.booleans(),
        "keys": st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6),
        "timeout": st.integers(0, 24).map(lambda quarters: quarters / 4),
        "way": st.sampled_from(["wait", "many", "completed"]),
    }
)


class Script:
    """What the calls do, and what came of the waits."""

    def __init__(self, plan):
        self.plan = plan
        self.calls = []
        self.ends = []
        self.model = LatencyModel(SAMPLES if plan["latency"] == "samples" else ())

    def options(self):
        """Return the settings of a group."""
        plan = self.plan
        certain = plan["latency"] == "fixed"
        return {
            "max_size": plan["max_size"],
            "min_gap": plan["min_gap"],
            "latency": AT_TWO if certain else self.model,
            "call_cost": plan["call_cost"],
            "learn": plan["learn"] and not certain,
            "missing_grace": 1.0,
            "retry_on": Down,
            "is_throttle": Busy,
        }

    def answer(self, now, keys):
        """Record a call, and return or raise what it comes to."""
        self.calls.append((rounded(now), keys))
        number = len(self.calls)
        outcomes = self.plan["outcomes"]
        outcome = outcomes[number - 1] if number <= len(outcomes) else "answer"
        if outcome in ("busy", "down"):
            raise {"busy": Busy, "down": Down}[outcome](number)
        if outcome == "nothing":
            return {}
        if outcome == "hint":
            return dict.fromkeys(keys, TryAgain(after=3))
        return {key: self.plan["ready"].get(key, 99) <= 4 * now for key in keys}

    def end(self, now, key, result):
        """Record what a wait came to."""
        shown = type(result) if isinstance(result, Exception) else result
        self.ends.append((rounded(now), key, shown))

    def came_to(self):
        """Return the calls, the ends and what the model knows."""
        if self.plan["duration"]:
            # A thread that makes a call hears of other ends when the call is over, a task at once.
            self.ends = sorted((key, str(shown)) for _, key, shown in self.ends)
        seen = json.loads(self.model.to_json())["seen"]
        learned = sorted(
            (rounded(low), -1.0 if high is None else rounded(high), rounded(weight))
            for low, high, weight in seen
        )
        return self.calls, self.ends, learned


def rounded(time):
    """Drop what a clock and a search leave to chance: less than a nanosecond."""
    return round(time, 7)


def on_threads(plan):
    """Run a script in one thread."""
    clock, script = FakeClock(), Script(plan)

    def fetch(keys):
        clock.advance(plan["duration"])
        return script.answer(clock.monotonic(), keys)

    group = PollGroup(fetch, clock=clock, **script.options())
    timeout = plan["timeout"]
    if plan["way"] == "wait":
        for key in plan["keys"]:
            try:
                result = group.wait(key, timeout=timeout)
            except Exception as error:
                result = error
            script.end(clock.monotonic(), key, result)
    elif plan["way"] == "many":
        for key, result in group.wait_many(plan["keys"], timeout=timeout).items():
            script.end(clock.monotonic(), key, result)
    else:
        for key, result in group.as_completed(plan["keys"], timeout=timeout):
            script.end(clock.monotonic(), key, result)
    return script.came_to()


def on_asyncio(plan):
    """Run a script in one task."""
    loop, script = VirtualTimeLoop(), Script(plan)

    async def fetch(keys):
        await asyncio.sleep(plan["duration"])
        return script.answer(loop.time(), keys)

    async def main():
        group = AioPollGroup(fetch, **script.options())
        timeout = plan["timeout"]
        if plan["way"] == "wait":
            for key in plan["keys"]:
                try:
                    result = await group.wait(key, timeout=timeout)
                except Exception as error:
                    result = error
                script.end(loop.time(), key, result)
        elif plan["way"] == "many":
            for key, result in (await group.wait_many(plan["keys"], timeout=timeout)).items():
                script.end(loop.time(), key, result)
        else:
            async for key, result in group.as_completed(plan["keys"], timeout=timeout):
                script.end(loop.time(), key, result)

    loop.run_until_complete(main())
    loop.close()
    return script.came_to()


@given(plan=SCRIPTS)
def test_drivers_agree(plan):
    """Threads and asyncio make equal calls at equal times, and learn the same from them (G9)."""
    assert on_threads(plan) == on_asyncio(plan)


def test_threads_share_what_the_model_foresees():
    """Threads whose waits began apart are served by one call, when it is worth most."""
    clock, calls = FakeClock(), []

    def fetch(keys):
        calls.append((clock.monotonic(), sorted(keys)))
        return dict.fromkeys(keys, clock.monotonic() >= 2.5)

    group = PollGroup(fetch, max_size=9, latency=AT_TWO, call_cost=4.0, clock=clock)

    def waiter(key, delay):
        def wait():
            clock.sleep(delay)
            return group.wait(key, timeout=60)

        return wait

    assert clock.run(waiter("a", 0.0), waiter("b", 0.25), waiter("c", 0.5)) == [True] * 3
    ((start, keys),) = calls
    assert keys == ["a", "b", "c"]
    assert 2.5 <= start < 2.75


def test_tasks_share_what_the_model_foresees():
    """Tasks whose waits began apart are served by one call, when it is worth most."""

    async def main():
        loop, calls = asyncio.get_running_loop(), []

        async def fetch(keys):
            calls.append((loop.time(), sorted(keys)))
            return dict.fromkeys(keys, loop.time() >= 2.5)

        async def wait(key, delay):
            await asyncio.sleep(delay)
            return await group.wait(key, timeout=60)

        group = AioPollGroup(fetch, max_size=9, latency=AT_TWO, call_cost=4.0)
        results = await asyncio.gather(wait("a", 0.0), wait("b", 0.25), wait("c", 0.5))
        return results, calls

    results, ((start, keys),) = run(main())
    assert results == [True] * 3
    assert keys == ["a", "b", "c"]
    assert 2.5 <= start < 2.75


def test_model_beats_a_schedule():
    """With fewer calls than by a schedule, a group with a model loses less time (G9)."""

    def came_to(**options):
        calls, late = 0, []
        for seed in range(8):
            rng = random.Random(seed)
            begins = [rng.uniform(0, 20) for _ in range(100)]
            ready = [at + rng.triangular(1.0, 2.0, 1.5) for at in begins]

            async def main(begins=begins, ready=ready):
                loop = asyncio.get_running_loop()
                starts = []

                async def fetch(keys):
                    starts.append(loop.time())
                    return {key: ready[key] <= loop.time() for key in keys}

                async def wait(key):
                    await asyncio.sleep(begins[key])
                    await group.wait(key, timeout=60)
                    late.append(loop.time() - ready[key])

                group = AioPollGroup(fetch, max_size=500, **options)
                await asyncio.gather(*map(wait, range(100)))
                return len(starts)

            calls += run(main())
        return calls, fmean(late)

    rng = random.Random("earlier")
    samples = [rng.triangular(1.0, 2.0, 1.5) for _ in range(500)]
    calls, late = came_to(schedule=exponential(0.5, factor=1.5).after(1.0))
    fewer_calls, sooner = came_to(latency=samples, call_cost=0.6)
    assert fewer_calls < calls
    assert sooner < 0.9 * late


def test_groups_may_share_a_model_that_learns():
    """Two groups on threads of their own teach one model, and what they see is all there."""
    model, clock = LatencyModel(), FakeClock()

    def waits(name):
        group = PollGroup(
            lambda keys: dict.fromkeys(keys, True),
            max_size=9,
            latency=model,
            learn=True,
            clock=clock,
        )

        def wait():
            for number in range(20):
                group.wait((name, number), timeout=60)

        return wait

    clock.run(waits("a"), waits("b"))
    assert model.weight == 40.0


@pytest.mark.parametrize("group_type", [PollGroup, AioPollGroup])
def test_groups_refuse_a_schedule_beside_a_model(group_type):
    """Both drivers say that a model and a schedule do not go together."""
    with pytest.raises(ValueError, match="not both"):
        group_type(dict.fromkeys, max_size=1, latency=[1.0], schedule=fixed(1))


def test_cancel_ends_a_wait_that_the_model_puts_off():
    """A wait may be cancelled long before the model would have anybody look."""
    clock, cancel = FakeClock(), threading.Event()
    clock.call_at(0.5, cancel.set)
    group = PollGroup(dict.fromkeys, max_size=1, latency=AT_TWO, clock=clock)
    ((_, error),) = group.wait_many(["a"], timeout=60, cancel=cancel).items()
    assert type(error).__name__ == "PollCancelled"
    assert clock.monotonic() == 0.5
