"""What shared calls cost and save: calls, and time from ready to noticed.

Run ``python bench/group.py [--waits 1000] [--json]``; with ``--waits 100000`` it takes some
minutes.

So many waits begin at once or spread over a minute, and each becomes ready some time later. The
tables give the calls made in all, the calls in the busiest second, and how many seconds late a
ready one is noticed. All candidates follow the same schedule, and a call takes the same time and
carries at most 500 keys. Compared are

- one call per check;
- a batcher, whose window closes so many seconds after its first key;
- ``PollGroup``, with two gaps and both settings of ``riding``.

The groups are the shipped code on virtual time. The others are computed: their waits know nothing
of each other. The last table measures the groups themselves: processor time, and bytes for each
outstanding key.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import random
import time
import tracemalloc
from bisect import bisect_left
from dataclasses import dataclass
from heapq import heappop, heappush
from statistics import fmean, quantiles
from typing import TYPE_CHECKING

from _common import as_json, heading, table

from pollwait import exponential
from pollwait.aio import PollGroup
from pollwait.testing import run

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_KEYS = 500
CALL = 0.125  # seconds that a call takes; it sees the state in its middle
PATIENCE = 600.0
SEED = 7
ROUNDS = 12  # of the last table: more than a wait remembers

# Looks first when hardly anything is ready, then backs off; the cap keeps long waits affordable.
SCHEDULE = exponential(0.5, factor=1.5).cap(15).after(1.25)

# Seconds until a volume is ready, by the share of volumes that are: a median of 1.6 s and a tail.
VOLUMES = ([0, 0.1, 0.5, 0.9, 0.95, 0.985, 1], [1.148, 1.445, 1.62, 1.884, 2.231, 4.318, 5.122])


@dataclass(frozen=True)
class Job:
    """One wait: when it begins, and when what it waits for is ready."""

    begins: float
    ready: float


@dataclass(frozen=True)
class Result:
    """What a way of waiting came to."""

    calls: int
    busiest: int
    mean: float
    p99: float
    seconds: float = 0.0


def volume(rng: random.Random) -> float:
    """Draw the seconds until a volume is ready."""
    shares, seconds = VOLUMES
    drawn = rng.random()
    upper = max(1, bisect_left(shares, drawn))
    low, high = shares[upper - 1], shares[upper]
    part = (drawn - low) / (high - low)
    return seconds[upper - 1] + part * (seconds[upper] - seconds[upper - 1])


def minute(rng: random.Random) -> float:
    """Draw the seconds until something slow is ready: a minute, give or take a few seconds."""
    return rng.gauss(60, 5)


READY: dict[str, Callable[[random.Random], float]] = {"1.6 s": volume, "60 s": minute}
OVER = {"at once": 0.0, "over 60 s": 60.0}


def jobs(waits: int, over: float, ready: Callable[[random.Random], float]) -> list[Job]:
    """Draw the waits of one run, in the order in which they begin."""
    rng = random.Random(SEED)
    begins = sorted(rng.uniform(0, over) for _ in range(waits))
    return [Job(at, at + ready(rng)) for at in begins]


def summary(calls: list[float], late: list[float], seconds: float = 0.0) -> Result:
    """Sum up when calls started and how late each wait noticed."""
    busiest: dict[int, int] = {}
    for start in calls:
        busiest[int(start)] = busiest.get(int(start), 0) + 1
    return Result(
        len(calls), max(busiest.values()), fmean(late), quantiles(late, n=100)[98], seconds
    )


def batched(todo: list[Job], linger: float) -> Result:
    """Compute waits whose checks share a window of so many seconds; 0 for none."""
    rng = random.Random(SEED)
    due = [(job.begins + SCHEDULE.initial_delay, index) for index, job in enumerate(todo)]
    delays = [SCHEDULE.delays(rng) for _ in todo]
    due.sort()
    calls: list[float] = []
    late: list[float] = []
    while due:
        first = due[0][0]
        window: list[int] = []
        most = MOST_KEYS if linger else 1
        while due and len(window) < most and due[0][0] <= first + linger:
            last, index = heappop(due)
            window.append(index)
        start = last if len(window) == most else first + linger
        calls.append(start)
        for index in window:
            if start + CALL / 2 >= todo[index].ready:
                late.append(start + CALL - todo[index].ready)
            else:
                heappush(due, (start + CALL + next(delays[index]), index))
    return summary(calls, late)


def grouped(todo: list[Job], gap: float, riding: str) -> Result:
    """Run the waits in a group, on virtual time."""
    calls: list[float] = []
    late: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def fetch(keys: list[int]) -> dict[int, bool]:
            assert len(keys) <= MOST_KEYS
            calls.append(loop.time())
            await asyncio.sleep(CALL / 2)
            now = loop.time()
            answer = {key: todo[key].ready <= now for key in keys}
            await asyncio.sleep(CALL / 2)
            return answer

        group: PollGroup[int, bool] = PollGroup(
            fetch,
            max_size=MOST_KEYS,
            min_gap=gap,
            riding=riding,
            schedule=SCHEDULE,
            rng=random.Random(SEED),
        )

        async def caller(keys: list[int]) -> None:
            async for key, value in group.as_completed(keys, timeout=PATIENCE):
                late.append(loop.time() - todo[key].ready)
                assert value is True

        callers: list[asyncio.Task[None]] = []
        for keys in together(todo):
            await asyncio.sleep(todo[keys[0]].begins - loop.time())
            callers.append(asyncio.ensure_future(caller(keys)))
        await asyncio.gather(*callers)

    began = time.process_time()
    run(main())
    return summary(calls, late, time.process_time() - began)


def together(todo: list[Job]) -> list[list[int]]:
    """Put waits that begin at the same time together."""
    lists: list[list[int]] = []
    for index, job in enumerate(todo):
        if not lists or todo[lists[-1][0]].begins != job.begins:
            lists.append([])
        lists[-1].append(index)
    return lists


def candidates(todo: list[Job]) -> dict[str, Result]:
    """Run every way of waiting once."""
    found = {"one call per check": batched(todo, 0.0)}
    for linger in (0.05, 0.5):
        found[f"batcher, {linger} s"] = batched(todo, linger)
    for riding in ("free", "counts"):
        for gap in (0.5, 1.0):
            found[f"group, {gap} s, {riding}"] = grouped(todo, gap, riding)
    return found


@dataclass(frozen=True)
class Footprint:
    """What outstanding keys cost, each."""

    bytes: float
    microseconds: float


def footprint(keys: int, answer: Callable[[], object]) -> Footprint:
    """Measure keys that are never ready, all of which travel in each call.

    Args:
        keys: how many.
        answer: makes the value of one key in one call.
    """
    return Footprint(
        _memory_of(keys, answer), 1e6 * _processor_time_of(keys, answer) / keys / ROUNDS
    )


def _memory_of(keys: int, answer: Callable[[], object]) -> float:
    tracemalloc.start()
    try:
        return _outstanding(keys, answer, lambda: tracemalloc.get_traced_memory()[0]) / keys
    finally:
        tracemalloc.stop()


def _processor_time_of(keys: int, answer: Callable[[], object]) -> float:
    return _outstanding(keys, answer, time.process_time)


def _outstanding(keys: int, answer: Callable[[], object], read: Callable[[], float]) -> float:
    """Return by how much a reading has grown over the rounds, less what a fetch alone costs."""
    readings: list[float] = []
    numbers = list(range(keys))

    async def main() -> None:
        async def fetch(asked: list[int]) -> dict[int, object]:
            readings.append(read())
            found = {key: answer() for key in asked}
            readings.append(read())
            return found

        group: PollGroup[int, object] = PollGroup(
            fetch, max_size=keys, schedule=SCHEDULE.from_start().cap(0.5)
        )
        gc.collect()
        readings.append(read())
        waiting = asyncio.ensure_future(
            group.wait_many(numbers, until=lambda _: False, timeout=PATIENCE)
        )
        while len(readings) < 2 * ROUNDS + 2:
            await asyncio.sleep(0.5)
        waiting.cancel()

    run(main())
    starts, ends = readings[1::2], readings[2::2]
    if read is time.process_time:
        return sum(start - end for start, end in zip(starts[1:], ends, strict=False))
    return starts[ROUNDS] - readings[0]


VALUES: dict[str, Callable[[], object]] = {
    "the same value for all": lambda: "creating",
    "a dict of its own for each": lambda: {"State": "creating"},
}


def show(title: str, found: dict[str, Result]) -> str:
    """Return the results of one scenario as text."""
    rows = (
        (
            name,
            f"{result.calls:,}",
            f"{result.busiest:,}",
            f"{result.mean:.3f}",
            f"{result.p99:.3f}",
            f"{result.seconds:.2f}" if result.seconds else "",
        )
        for name, result in found.items()
    )
    header = ("", "calls", "in 1 s", "mean late", "p99 late", "cpu s")
    return f"\n{title}\n{table(header, rows)}"


def show_footprints(keys: int, found: dict[str, Footprint]) -> str:
    """Return what outstanding keys cost as text."""
    rows = (
        (name, f"{result.bytes:,.0f}", f"{result.microseconds:.1f}")
        for name, result in found.items()
    )
    return f"\n{keys:,} outstanding keys, each\n{table(('', 'bytes', 'us per call'), rows)}"


def main() -> None:
    """Run the scenarios and print what came of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--waits", type=int, default=1000, help="waits of each scenario")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    options = parser.parse_args()
    results = {
        f"{options.waits:,} waits {when}, ready after {after}": candidates(
            jobs(options.waits, OVER[when], READY[after])
        )
        for after in READY
        for when in OVER
    }
    footprints = {name: footprint(options.waits, answer) for name, answer in VALUES.items()}
    if options.json:
        print(as_json({"results": results, "footprints": footprints}))
        return
    print(heading())
    for title, found in results.items():
        print(show(title, found))
    print(show_footprints(options.waits, footprints))


if __name__ == "__main__":
    main()
