"""One run: the shipped drivers on virtual time, against a service that answers from a scenario."""

from __future__ import annotations

import asyncio
import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from .._aio.batcher import Batcher
from .._aio.group import PollGroup
from .._aio.poller import Poller
from .._errors import ClockStalled, PollExhausted, PollTimeout
from ..testing._virtual_run import run as run_virtually
from .draws import Level
from .report import Run
from .strategies import Batched, Single

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from random import Random
    from typing import TypeAlias

    from .._core.schedule import Schedule
    from .scenario import Job, Scenario, Service
    from .strategies import Strategy

    Wait: TypeAlias = Callable[[int], Awaitable[object]]

# Calls for each wait at one instant before a run is given up: far more than any makes that ends.
MOST_AT_ONCE = 100


class Throttled(Exception):
    """The service had no token for a call."""


class Desk:
    """The service of one run, which notes what is asked of it.

    Args:
        service: how it behaves.
        jobs: what it is asked about; their numbers are the keys.
        rng: draws what its calls take.
    """

    def __init__(self, service: Service, jobs: list[Job], rng: Random) -> None:
        self._service = service
        self._jobs = jobs
        self._rng = rng
        self._level = Level(service.bucket)
        self.calls: list[float] = []
        self.checks = 0
        self.throttles = 0
        self._at_once = 0

    async def fetch(self, keys: list[int]) -> dict[int, bool]:
        """Answer which of some waits are ready; the state is seen at one moment of the call.

        Raises:
            Throttled: there was no token for the call when it started.
            ClockStalled: calls come again and again while no time passes.
        """
        loop = asyncio.get_running_loop()
        start = loop.time()
        self._note(start)
        self.checks += len(keys)
        admitted = self._level.admits(start)
        duration = self._service.call_duration(self._rng)
        await _until(start + duration * self._service.sees_at)
        now = loop.time()
        ready = {key: self._jobs[key].ready <= now for key in keys}
        await _until(start + duration)
        if not admitted:
            self.throttles += 1
            raise Throttled
        return ready

    def _note(self, start: float) -> None:
        self._at_once = self._at_once + 1 if start in self.calls[-1:] else 0
        if self._at_once > MOST_AT_ONCE * len(self._jobs):
            raise ClockStalled(
                f"the waits check again and again at {start} s, where neither calls nor delays let"
                " time pass: give call_duration, or a schedule that has delays"
            )
        self.calls.append(start)

    async def check(self, key: int) -> bool:
        """Ask about a single one."""
        return (await self.fetch([key]))[key]


def play(scenario: Scenario, strategy: Strategy, number: int) -> Run:
    """Play one run of a scenario, also where an event loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_virtually(_play(scenario, strategy, number))
    with ThreadPoolExecutor(1) as elsewhere:  # a notebook runs its cells inside a loop
        return elsewhere.submit(lambda: run_virtually(_play(scenario, strategy, number))).result()


async def _play(scenario: Scenario, strategy: Strategy, number: int) -> Run:
    jobs = scenario.jobs(number)
    desk = Desk(scenario.service, jobs, scenario.chance(number, "calls"))
    loop = asyncio.get_running_loop()
    ends: list[float] = []

    async def follow(key: int, wait: Wait) -> float:
        await _until(jobs[key].begins)
        try:
            await wait(key)
            return loop.time()
        except (PollTimeout, PollExhausted):
            return math.inf
        finally:
            ends.append(loop.time())

    async with _opened(strategy, desk, scenario, scenario.chance(number, "jitter")) as wait:
        noticed = await asyncio.gather(*(follow(key, wait) for key in range(len(jobs))))
    return Run(
        ready=tuple(job.ready - job.arrives for job in jobs),
        latencies=tuple(at - job.arrives for at, job in zip(noticed, jobs, strict=True)),
        calls=tuple(desk.calls),
        checks=desk.checks,
        throttles=desk.throttles,
        seconds=max(ends) - jobs[0].arrives,
    )


@asynccontextmanager
async def _opened(
    strategy: Strategy, desk: Desk, scenario: Scenario, rng: Random
) -> AsyncGenerator[Wait, None]:
    """Set up what the waits of a run share, and give the function that waits for one of them."""
    size, timeout = scenario.service.max_size, scenario.timeout
    if isinstance(strategy, Single):
        yield _polls(desk.check, strategy.schedule, timeout, rng)
    elif isinstance(strategy, Batched):
        async with Batcher(
            desk.fetch,
            max_size=size,
            max_delay=strategy.max_delay,
            idle_delay=strategy.idle_delay,
            max_in_flight=strategy.max_in_flight,
        ) as batcher:
            yield _polls(batcher.load, strategy.schedule, timeout, rng)
    else:
        async with PollGroup(
            desk.fetch, max_size=size, is_throttle=Throttled, rng=rng, **strategy.options()
        ) as group:
            yield partial(group.wait, timeout=timeout)


def _polls(
    check: Callable[[int], Awaitable[bool]], schedule: Schedule, timeout: float, rng: Random
) -> Wait:
    poller = Poller(schedule=schedule, timeout=timeout, retry_on=Throttled, rng=rng)
    return lambda key: poller.poll(partial(check, key))


async def _until(when: float) -> None:
    delay = when - asyncio.get_running_loop().time()
    if delay > 0:
        await asyncio.sleep(delay)
