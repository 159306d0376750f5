"""Groups that learn how long things take, from nothing and when that changes.

Run ``python bench/learning.py [--seeds 20] [--json] [--write]``; it takes some minutes.

A thousand volumes are asked for at the rate of 100 in 20.48 s, as in ``seed_table.py``. From the
501st on, each takes twice as long to get ready, or half as long. The tables follow several groups
from hundred to hundred: the mean time from ready to noticed, and how many calls were made in the
time in which a hundred are asked for, as means over the seeds. Compared are

- groups that begin with nothing and learn, with several memories: what ``LatencyModel`` calls so;
- a group that was told how long the first 500 take, and learns nothing;
- two groups that were each told the truth about their half;
- a group that follows the published schedule, with a gap of 0.625 s.

All decide by the same cost of a call. The groups are the shipped code on virtual time. ``--write``
puts the tables into ``docs/results.md``.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import _page
from _common import as_json, heading, table
from seed_table import ARRIVALS, BEST, DESCRIBE_CALL, MOST_IDS, READY, SEES_AT, WAITS, create_call

from pollwait import Distribution, LatencyModel
from pollwait.aio import PollGroup
from pollwait.testing import run

if TYPE_CHECKING:
    from collections.abc import Callable

HUNDREDS = 10
CHANGES = {"twice as long": 2.0, "half as long": 0.5}  # of the second half
GAP = 0.625
TIMEOUT = 600.0
MEMORIES = (2000, 500, 100)

CREATE_CALL = 0.21  # seconds that it takes on average


@dataclass(frozen=True)
class Job:
    """One volume: when its wait begins, when it is ready, and whether it is of the second half."""

    begins: float
    ready: float
    late: bool


@dataclass(frozen=True)
class Hundred:
    """The figures of a hundred volumes."""

    overshoot: float
    calls: float


def jobs(seed: int, change: float) -> list[Job]:
    """Draw the volumes of one run, in the order in which they are asked for."""
    rng = random.Random(seed)
    number = WAITS * HUNDREDS
    asked = sorted(rng.uniform(0, ARRIVALS * HUNDREDS) for _ in range(number))
    drawn: list[Job] = []
    for index, at in enumerate(asked):
        late = 2 * index >= number
        taken = READY.quantile(rng.random()) * (change if late else 1.0)
        drawn.append(Job(at + create_call(rng), at + taken, late))
    return drawn


def told(change: float = 1.0) -> Distribution:
    """Return how long waits take, as somebody would know it who knew all but chance."""
    times = [max(0.0, time * change - CREATE_CALL) for time in READY.times]
    return Distribution(times, READY.shares)


def play(todo: list[Job], *options: dict[str, Any]) -> list[Hundred]:
    """Run the waits in a group on virtual time; of two groups each gets one half."""
    noticed: dict[int, float] = {}
    calls: list[float] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()

        async def fetch(keys: list[int]) -> dict[int, bool]:
            calls.append(loop.time())
            await asyncio.sleep(SEES_AT * DESCRIBE_CALL)
            now = loop.time()
            answer = {key: todo[key].ready <= now for key in keys}
            await asyncio.sleep((1 - SEES_AT) * DESCRIBE_CALL)
            return answer

        groups = [PollGroup(fetch, max_size=MOST_IDS, **said) for said in options]

        async def caller(index: int) -> None:
            job = todo[index]
            await asyncio.sleep(job.begins)
            await groups[-1 if job.late else 0].wait(index, timeout=TIMEOUT)
            noticed[index] = loop.time()

        await asyncio.gather(*map(caller, range(len(todo))))

    run(main())
    return [hundred(number, todo, noticed, calls) for number in range(HUNDREDS)]


def hundred(number: int, todo: list[Job], noticed: dict[int, float], calls: list[float]) -> Hundred:
    """Return the figures of a hundred by its number, from 0."""
    of_it = range(number * WAITS, (number + 1) * WAITS)
    return Hundred(
        fmean(noticed[index] - todo[index].ready for index in of_it),
        sum(int(at // ARRIVALS) == number for at in calls),
    )


def ways(change: float) -> dict[str, Callable[[], list[dict[str, Any]]]]:
    """Return what is said to the groups of each way, made anew for each run."""
    named: dict[str, Callable[[], list[dict[str, Any]]]] = {
        f"learns, memory {memory:,}": lambda memory=memory: [
            {"latency": LatencyModel(memory=memory), "learn": True}
        ]
        for memory in MEMORIES
    }
    named["told of the first half"] = lambda: [{"latency": told()}]
    named["told of both halves"] = lambda: [{"latency": told()}, {"latency": told(change)}]
    named[f"1.25;exp.5, gap {GAP}"] = lambda: [{"schedule": BEST, "min_gap": GAP}]
    return named


def mean(runs: list[list[Hundred]]) -> list[Hundred]:
    """Average over runs."""
    return [
        Hundred(fmean(each.overshoot for each in same), fmean(each.calls for each in same))
        for same in zip(*runs, strict=True)
    ]


def measure(change: float, seeds: int) -> dict[str, list[Hundred]]:
    """Run all ways on the same volumes."""
    todo = [jobs(seed, change) for seed in range(seeds)]
    return {
        name: mean([play(each, *said()) for each in todo]) for name, said in ways(change).items()
    }


def cells(found: dict[str, list[Hundred]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and the rows of a table as text: overshoot / calls."""
    rows = [
        (
            f"{number * WAITS + 1} to {(number + 1) * WAITS}",
            *(f"{each.overshoot:.3f} / {each.calls:.1f}" for each in same),
        )
        for number, same in enumerate(zip(*found.values(), strict=True))
    ]
    return ("volumes", *found), rows


def main() -> None:
    """Run everything and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="runs to average over")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    parser.add_argument("--write", action="store_true", help="write docs/results.md as well")
    options = parser.parse_args()
    results = {name: measure(change, options.seeds) for name, change in CHANGES.items()}
    if options.write:
        parts = {name: _page.markdown(*cells(found)) for name, found in results.items()}
        _page.write("bench/learning.py", f"--seeds {options.seeds}", parts)
    if options.json:
        print(as_json({"seeds": options.seeds, "results": results}))
        return
    print(heading())
    for name, found in results.items():
        print(f"\novershoot / calls, hundred by hundred; from 501 on all takes {name}")
        print(table(*cells(found)))


if __name__ == "__main__":
    main()
