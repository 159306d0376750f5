"""Poll groups under load: many threads and tasks that come, leave and fail at random."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from itertools import pairwise

import pytest

from pollwait import PollCancelled, PollTimeout, exponential, fixed
from pollwait._aio.group import PollGroup as AioPollGroup
from pollwait._core.room import NEAR
from pollwait._errors import BatcherClosed
from pollwait._sync.group import PollGroup
from pollwait.testing import FakeClock, run


class Down(Exception):
    """An error that the groups below retry on."""


def script(rng, number):
    """Draw what one caller does."""
    return {
        "at": rng.choice([0.0, rng.uniform(0, 20)]),
        "key": rng.randrange(40),
        "timeout": rng.choice([None, 0.0, rng.uniform(0, 30)]),
        "leaves": rng.choice([None, None, rng.uniform(0, 15)]),
        "number": number,
    }


@pytest.mark.parametrize("seed", range(3))
def test_threads_come_and_go(seed):
    """Each of many threads gets its own answer, once, and nobody is left waiting."""
    rng, clock = random.Random(seed), FakeClock()
    ready = {key: rng.uniform(0, 25) for key in range(40)}
    starts, seen = [], []

    def fetch(keys):
        starts.append(clock.monotonic())
        assert keys
        assert len(keys) == len(set(keys)) <= 15
        now = clock.monotonic()
        clock.sleep(rng.choice([0.0, 0.1, 0.4]))
        if rng.random() < 0.1:
            raise Down
        return {key: now if ready[key] <= now else 0 for key in keys}

    group = PollGroup(
        fetch,
        max_size=15,
        min_gap=0.25,
        clock=clock,
        retry_on=Down,
        schedule=exponential(0.5).cap(4).jitter("equal"),
        rng=rng,
    )

    def caller(plan):
        cancel = threading.Event()

        def wait():
            clock.sleep(plan["at"])
            if plan["leaves"] is not None:
                clock.call_at(clock.monotonic() + plan["leaves"], cancel.set)
            began = clock.monotonic()
            try:
                value = group.wait(plan["key"], timeout=plan["timeout"], cancel=cancel)
            except PollTimeout:
                assert clock.monotonic() >= began + plan["timeout"]
                return "timeout"
            except PollCancelled:
                assert plan["leaves"] is not None
                return "cancelled"
            assert value >= max(ready[plan["key"]], began)
            return "ready"

        return wait

    ends = clock.run(*[caller(script(rng, number)) for number in range(60)])
    seen += ends
    assert {"timeout", "cancelled", "ready"} == set(seen)
    assert all(late - early >= 0.25 - NEAR for early, late in pairwise(starts))
    assert group._lead._group.waiting == 0
    assert group._lead._leader is None
    assert not group._lead._attending
    assert not group._lead._calling


@pytest.mark.parametrize("seed", range(3))
def test_tasks_come_and_go(seed):
    """Each of many tasks gets its own answer, once, and no task stays behind."""
    rng = random.Random(seed)
    ready = {key: rng.uniform(0, 25) for key in range(40)}
    starts, ends = [], []

    async def main():
        loop = asyncio.get_running_loop()

        async def fetch(keys):
            starts.append(loop.time())
            assert keys
            assert len(keys) == len(set(keys)) <= 15
            now = loop.time()
            await asyncio.sleep(rng.choice([0.0, 0.1, 0.4]))
            if rng.random() < 0.1:
                raise Down
            return {key: now if ready[key] <= now else 0 for key in keys}

        group = AioPollGroup(
            fetch,
            max_size=15,
            min_gap=0.25,
            retry_on=Down,
            schedule=exponential(0.5).cap(4).jitter("equal"),
            rng=rng,
        )

        async def caller(plan):
            await asyncio.sleep(plan["at"])
            began = loop.time()
            try:
                value = await asyncio.wait_for(
                    group.wait(plan["key"], timeout=plan["timeout"]), plan["leaves"]
                )
            except PollTimeout:
                assert loop.time() >= began + plan["timeout"]
                ends.append("timeout")
            except asyncio.TimeoutError:
                assert loop.time() == pytest.approx(began + plan["leaves"])
                ends.append("left")
            else:
                assert value >= max(ready[plan["key"]], began)
                ends.append("ready")

        await asyncio.gather(*[caller(script(rng, number)) for number in range(300)])
        assert group._runner._group.waiting == 0
        await asyncio.sleep(60)
        assert len(asyncio.all_tasks()) == 1

    run(main())
    assert len(ends) == 300
    assert set(ends) == {"timeout", "left", "ready"}
    assert all(late - early >= 0.25 - NEAR for early, late in pairwise(starts))


@pytest.mark.real_time
def test_real_threads_share_a_group():
    """Threads that nobody keeps in turn get their answers too, iterators and closing included."""
    began = time.monotonic()
    ends, starts = [], []

    def fetch(keys):
        starts.append(time.monotonic())
        assert keys
        time.sleep(0.002)
        if len(starts) % 7 == 0:
            raise Down
        passed = time.monotonic() - began
        return {key: key / 100 <= passed for key in keys}

    group = PollGroup(fetch, max_size=20, min_gap=0.004, schedule=fixed(0.01), retry_on=Down)

    def single(key):
        ends.append(group.wait(key, timeout=30))

    def many(key):
        ends.extend(group.wait_many(range(key), timeout=30).values())

    def dropped(key):
        ends.append(next(group.as_completed([0, key + 1000], timeout=None))[1])

    def cancelled(key):
        cancel = threading.Event()
        threading.Timer(0.05, cancel.set).start()
        with pytest.raises(PollCancelled):
            group.wait(key + 1000, timeout=30, cancel=cancel)
        ends.append(True)

    def closed(key):
        with pytest.raises(BatcherClosed):
            group.wait(key + 1000, timeout=30)
        ends.append(True)

    kinds = [single, many, dropped, cancelled]
    threads = [
        threading.Thread(target=kinds[number % 4], args=[number], name=f"caller {number}")
        for number in range(40)
    ]
    last = [threading.Thread(target=closed, args=[number]) for number in range(4)]
    for thread in [*threads, *last]:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive(), thread.name
    group.close()
    for thread in last:
        thread.join(20)
        assert not thread.is_alive()
    assert all(ends)
    assert len(ends) == 34 + sum(range(1, 40, 4))
    assert group._lead._group.waiting == 0
