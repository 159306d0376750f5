"""Ways of waiting over HTTP: overshoot and calls against an embedded EC2, in real time.

Run ``python bench/over_http.py [--volumes 100] [--runs 3] [--json] [--write]``; a run takes 25 s.

What ``seed_table.py`` simulates is done for real here: volumes are created at the rate of 100 in
20.48 s, and from the moment that CreateVolume returns, each way waits for each volume in a thread
of its own, with a client of its own whose calls are counted. All ways see the same volumes, so they
are ready at the same times, and a busy machine hits all of them alike. Compared are

- the published schedule, with the calls of all waits batched over half a second, and without;
- a schedule fitted to earlier waits, for as many checks as the published one makes;
- a group that follows the published schedule, with a gap of half a second;
- a group that decides from a model of the earlier waits, with the default cost of a call;
- a group that begins with nothing and learns.

The earlier waits are 500 that are drawn like those of the server, from other chances. ``--write``
puts the table into ``docs/results.md``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, quantiles
from typing import Any, TypeAlias

import _page
from _common import as_json, heading, table

from pollwait import Batcher, PollGroup, Schedule, exponential, poll
from pollwait.cli.demo import race
from pollwait.testing.ec2 import EmbeddedEC2

PUBLISHED = exponential(0.5, factor=1.5).after(1.25)
WINDOW = 0.5
MOST_IDS = 500
TIMEOUT = 120.0
PERCENTILES = (10, 50, 90, 95, 99)

Describe: TypeAlias = Callable[[list[str]], dict[str, str]]
Wait: TypeAlias = Callable[[str], object]


@dataclass(frozen=True)
class Result:
    """What came of a way of waiting, in seconds but for the calls."""

    percentiles: tuple[float, ...]
    overshoot: float
    calls: float


def alone(describe: Describe, schedule: Schedule) -> Wait:
    """Return a wait that makes a call for each of its checks."""
    return lambda volume: poll(
        lambda: describe([volume])[volume],
        until="available".__eq__,
        schedule=schedule,
        timeout=TIMEOUT,
    )


def batched(describe: Describe, schedule: Schedule) -> Wait:
    """Return a wait whose checks share calls with others of about the same time."""
    batcher = Batcher(describe, max_size=MOST_IDS, max_delay=WINDOW)
    return lambda volume: poll(
        lambda: batcher.load(volume),
        until="available".__eq__,
        schedule=schedule,
        timeout=TIMEOUT,
    )


def grouped(describe: Describe, **options: Any) -> Wait:
    """Return a wait in a group."""
    group: PollGroup[str, str] = PollGroup(describe, max_size=MOST_IDS, **options)
    return lambda volume: group.wait(volume, until="available".__eq__, timeout=TIMEOUT)


def ways(ec2: EmbeddedEC2, seed: int) -> list[race.Way]:
    """Return all ways of one run."""
    known = race.earlier_waits(seed)
    fitted = race.fitted_schedule(known)
    makers: dict[str, Callable[[Describe], Wait]] = {
        "1.25;exp.5, batched 0.5": lambda describe: batched(describe, PUBLISHED),
        "1.25;exp.5, alone": lambda describe: alone(describe, PUBLISHED),
        "fitted, alone": lambda describe: alone(describe, fitted),
        "group, 1.25;exp.5, gap 0.5": lambda describe: grouped(describe, schedule=PUBLISHED),
        "group, model": lambda describe: grouped(describe, latency=known),
        "group, learning": lambda describe: grouped(describe, learn=True),
    }
    made: list[race.Way] = []
    for name, make in makers.items():
        client = ec2.client("ec2")
        way = race.Way(name, make(describing(client)))
        way.count(client)
        made.append(way)
    return made


def describing(client: Any) -> Describe:
    """Return a function that asks for the states of volumes."""

    def describe(volumes: list[str]) -> dict[str, str]:
        answer = client.describe_volumes(VolumeIds=volumes)
        return {volume["VolumeId"]: volume["State"] for volume in answer["Volumes"]}

    return describe


def run(volumes: int, seed: int) -> dict[str, Result]:
    """Let all ways wait for the same volumes, once."""
    with EmbeddedEC2(seed=seed) as ec2:
        contestants = ways(ec2, seed)
        for _ in race.run(ec2, contestants, volumes, seed):
            pass  # each notice is kept by its way
        return {way.name: result(way) for way in contestants}


def result(way: race.Way) -> Result:
    """Return the figures of a way that has noticed all volumes."""
    cuts = quantiles([each.latency for each in way.noticed], n=100, method="inclusive")
    return Result(
        tuple(cuts[percent - 1] for percent in PERCENTILES),
        fmean(each.overshoot for each in way.noticed),
        way.calls,
    )


def mean(results: list[Result]) -> Result:
    """Average over runs."""
    columns = zip(*(each.percentiles for each in results), strict=True)
    return Result(
        tuple(map(fmean, columns)),
        fmean(each.overshoot for each in results),
        fmean(each.calls for each in results),
    )


def cells(found: dict[str, Result]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and the rows of a table as text."""
    header = ("", *(f"p{percent}" for percent in PERCENTILES), "overshoot", "calls")
    return header, [
        (
            name,
            *(f"{seconds:.2f}" for seconds in each.percentiles),
            f"{each.overshoot:.3f}",
            f"{each.calls:.1f}",
        )
        for name, each in found.items()
    ]


def main() -> None:
    """Run everything and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--volumes", type=int, default=100, help="how many in each run, at least 2")
    parser.add_argument("--runs", type=int, default=3, help="runs to average over")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.add_argument("--write", action="store_true", help="write docs/results.md as well")
    options = parser.parse_args()
    runs = [run(options.volumes, seed) for seed in range(options.runs)]
    found = {name: mean([each[name] for each in runs]) for name in runs[0]}
    if options.write:
        arguments = f"--volumes {options.volumes} --runs {options.runs}"
        _page.write("bench/over_http.py", arguments, {"ways": _page.markdown(*cells(found))})
    if options.json:
        print(as_json({"volumes": options.volumes, "runs": runs, "mean": found}))
        return
    print(heading())
    print(f"\n{options.volumes} volumes over HTTP, mean of {options.runs} runs")
    print(table(*cells(found)))


if __name__ == "__main__":
    main()
