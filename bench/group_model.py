"""What a latency model is worth to a poll group: calls, and time from ready to noticed.

Run ``python bench/group_model.py [--seeds 40] [--keys 100000] [--json]``.

A hundred volumes are asked for over 20.48 s, as in a published tuning of a storage driver. A wait
begins when the call that creates its volume has returned. Each figure is the mean over the seeds:
calls made, seconds from ready to noticed, and percentiles of the seconds from the request to the
answer that showed its volume ready. Compared are

- the published schedule, whose checks share calls by a batcher with a window of 0.5 s;
- groups that follow the same schedule, with several gaps;
- groups that know how long volumes take from 2,000 earlier ones, with several costs of a call;
- groups that learn it from nothing: the first, second, ... hundred waits that one model sees.

The groups are the shipped code on virtual time; the published schedule is computed, since its waits
know nothing of each other. The last table measures processor time with many outstanding keys.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from bisect import bisect_left
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from statistics import fmean, quantiles
from typing import TYPE_CHECKING

from _common import as_json, heading, table

from pollwait import exponential
from pollwait._core.latency import LatencyModel
from pollwait._core.no_foresight import CALL_COST
from pollwait.aio import PollGroup
from pollwait.testing import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

WAITS = 100
OVER = 20.48  # seconds over which they are asked for
CREATE = (0.21, 0.03)  # seconds that a create call takes: mean and standard deviation
CALL = 0.141  # seconds that a describe call takes; it sees the state in its middle
LINGER = 0.5  # seconds, of the published batcher
PATIENCE = 600.0
EARLIER = 2000  # waits that a model has seen
ROUNDS = 12  # of the last table
PERCENTILES = (10, 50, 90, 95, 99)

SCHEDULE = exponential(0.5, factor=1.5).after(1.25)

# Seconds from the start of a create call until its volume is ready, by the share of volumes.
SHARES = (0, 0.1, 0.5, 0.9, 0.95, 0.985, 1)
SECONDS = (1.148, 1.445, 1.62, 1.884, 2.231, 4.318, 5.122)

GAPS = (0.25, 0.5, 0.75, 1.0)
COSTS = (0.3, 0.6, CALL_COST, 1.5, 3.0)
LESSONS = 4


@dataclass(frozen=True)
class Job:
    """One volume: when it is asked for, when its wait begins, and when it is ready."""

    asked: float
    begins: float
    ready: float


@dataclass(frozen=True)
class Result:
    """What a way of waiting came to."""

    calls: float
    late: float
    percentiles: tuple[float, ...]

    @classmethod
    def mean(cls, results: Iterable[Result]) -> Result:
        """Average over runs."""
        found = list(results)
        columns = zip(*(result.percentiles for result in found), strict=True)
        return cls(
            fmean(result.calls for result in found),
            fmean(result.late for result in found),
            tuple(fmean(column) for column in columns),
        )


def jobs(seed: int) -> list[Job]:
    """Draw the volumes of one run, in the order in which their waits begin."""
    rng = random.Random(seed)
    drawn = [volume(rng, rng.uniform(0, OVER)) for _ in range(WAITS)]
    return sorted(drawn, key=lambda job: job.begins)


def volume(rng: random.Random, asked: float) -> Job:
    """Draw a volume that is asked for at a time."""
    share = rng.random()
    upper = max(1, bisect_left(SHARES, share))
    part = (share - SHARES[upper - 1]) / (SHARES[upper] - SHARES[upper - 1])
    ready = SECONDS[upper - 1] + part * (SECONDS[upper] - SECONDS[upper - 1])
    return Job(asked, asked + max(0.0, rng.gauss(*CREATE)), asked + ready)


def experience() -> LatencyModel:
    """Return a model that has seen many earlier volumes."""
    rng = random.Random("earlier")
    seen = (volume(rng, 0.0) for _ in range(EARLIER))
    return LatencyModel(job.ready - job.begins for job in seen)


def summary(calls: int, noticed: dict[int, float], todo: list[Job]) -> Result:
    """Sum up when each wait was noticed."""
    latencies = [noticed[index] - job.asked for index, job in enumerate(todo)]
    cuts = quantiles(latencies, n=100, method="inclusive")
    return Result(
        calls,
        fmean(noticed[index] - job.ready for index, job in enumerate(todo)),
        tuple(cuts[percent - 1] for percent in PERCENTILES),
    )


def published(todo: list[Job]) -> Result:
    """Compute waits whose checks share a window."""
    rng = random.Random(0)
    due = [(job.begins + SCHEDULE.initial_delay, index) for index, job in enumerate(todo)]
    delays = [SCHEDULE.delays(rng) for _ in todo]
    heapify(due)
    calls = 0
    noticed: dict[int, float] = {}
    while due:
        start = due[0][0] + LINGER
        calls += 1
        while due and due[0][0] <= start:
            _, index = heappop(due)
            if todo[index].ready <= start + CALL / 2:
                noticed[index] = start + CALL
            else:
                heappush(due, (start + CALL + next(delays[index]), index))
    return summary(calls, noticed, todo)


def grouped(todo: list[Job], **options: Any) -> Result:
    """Run the waits in a group, on virtual time."""
    calls = 0
    noticed: dict[int, float] = {}

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def fetch(keys: list[int]) -> dict[int, bool]:
            nonlocal calls
            calls += 1
            await asyncio.sleep(CALL / 2)
            now = loop.time()
            answer = {key: todo[key].ready <= now for key in keys}
            await asyncio.sleep(CALL / 2)
            return answer

        group: PollGroup[int, bool] = PollGroup(fetch, max_size=500, **options)

        async def caller(index: int) -> None:
            await asyncio.sleep(todo[index].begins)
            await group.wait(index, timeout=PATIENCE)
            noticed[index] = loop.time()

        await asyncio.gather(*map(caller, range(len(todo))))

    run(main())
    return summary(calls, noticed, todo)


def candidates(seeds: int) -> dict[str, Result]:
    """Run every way of waiting once for each seed."""
    model = experience()
    runs = [jobs(seed) for seed in range(seeds)]
    found = {"published, batcher 0.5 s": Result.mean(map(published, runs))}
    for gap in GAPS:
        found[f"schedule, gap {gap} s"] = Result.mean(
            grouped(todo, schedule=SCHEDULE, min_gap=gap) for todo in runs
        )
    for cost in COSTS:
        found[f"model, call_cost {cost} s"] = Result.mean(
            grouped(todo, latency=model, call_cost=cost) for todo in runs
        )
    lessons = [learning(runs, seed) for seed in range(seeds)]
    for number, results in enumerate(zip(*lessons, strict=True)):
        found[f"learning, hundred {number + 1}"] = Result.mean(results)
    return found


def learning(runs: list[list[Job]], first: int) -> list[Result]:
    """Run some hundreds of waits one after the other, with a model that begins with nothing."""
    model = LatencyModel()
    return [
        grouped(runs[(first + number) % len(runs)], latency=model, learn=True)
        for number in range(LESSONS)
    ]


def processor_time(keys: int, options: dict[str, Any]) -> float:
    """Return the microseconds that a call costs for each of its keys, none of which is ready."""
    readings: list[float] = []

    async def main() -> None:
        async def fetch(asked: list[int]) -> dict[int, bool]:
            readings.append(time.process_time())
            found = dict.fromkeys(asked, False)
            readings.append(time.process_time())
            return found

        group: PollGroup[int, bool] = PollGroup(fetch, max_size=keys, min_gap=0.5, **options)
        waiting = asyncio.ensure_future(group.wait_many(range(keys), timeout=PATIENCE))
        while len(readings) < 2 * ROUNDS + 2:
            await asyncio.sleep(0.5)
        waiting.cancel()

    run(main())
    starts, ends = readings[2::2], readings[1::2]
    spent = sum(start - end for start, end in zip(starts, ends, strict=False))
    return 1e6 * spent / keys / ROUNDS


def show(found: dict[str, Result]) -> str:
    """Return the results as text."""
    basis = found["published, batcher 0.5 s"].late
    rows = (
        (
            name,
            f"{result.calls:.1f}",
            f"{result.late:.3f}",
            f"{result.late / basis:.2f}",
            *(f"{figure:.2f}" for figure in result.percentiles),
        )
        for name, result in found.items()
    )
    header = ("", "calls", "late", "ratio", *(f"p{percent}" for percent in PERCENTILES))
    return f"\n{WAITS} waits over {OVER} s\n{table(header, rows)}"


def main() -> None:
    """Run all and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=40, help="runs to average over")
    parser.add_argument("--keys", type=int, default=100_000, help="outstanding keys, last table")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    options = parser.parse_args()
    found = candidates(options.seeds)
    deciders: dict[str, Callable[[], dict[str, Any]]] = {
        "schedule": lambda: {"schedule": SCHEDULE.from_start().cap(0.5)},
        "model": lambda: {"latency": experience()},
    }
    costs = {name: processor_time(options.keys, said()) for name, said in deciders.items()}
    if options.json:
        print(as_json({"results": found, "microseconds": costs}))
        return
    print(heading())
    print(show(found))
    rows = ((name, f"{cost:.1f}") for name, cost in costs.items())
    print(f"\n{options.keys:,} outstanding keys\n{table(('', 'us per call and key'), rows)}")


if __name__ == "__main__":
    main()
