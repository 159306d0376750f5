"""How fast an hour passes in tests, for many waits at once, and whether it is the same hour again.

Run ``python bench/virtual_hour.py [--runs 20] [--threads 1000] [--tasks 10000] [--json]``.

- On threads: so many registered threads, each of which polls every 60 s for an hour on one
  ``pollwait.testing.FakeClock``.
- In asyncio: so many tasks, each of which polls every 300 s for an hour, under
  ``pollwait.testing.run``, whose event loop has virtual time.

Every wait begins at 0, so all of them are due at the same moments and only the clock can tell who
comes first. Each check notes the time and the number of its wait. These notes, in the order in
which they were made, are the order of a run; the table says how many different orders there were
over all runs, and gives a digest of the first, which may be compared between machines.

The seconds are real ones, from the start of a run to its end, and those of a busy machine are
longer. The clocks' watchdogs are left as they are.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from array import array
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from _common import Spread, as_json, setting, table

from pollwait import aio, fixed, poll
from pollwait.testing import FakeClock, run

if TYPE_CHECKING:
    from collections.abc import Callable

HOUR = 3600.0
THREADS_EVERY = 60.0
TASKS_EVERY = 300.0


@dataclass(frozen=True)
class Result:
    """What came out of the runs of one situation."""

    waits: int
    checks: int
    seconds: Spread
    orders: int
    digest: str


class Notes:
    """When each check was made, and for which wait, in order.

    Args:
        now: tells the time.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._notes = array("d")

    def check(self, number: int) -> bool:
        """Note a check of a wait; it is ready when the hour is over."""
        now = self._now()
        self._notes.extend((now, number))
        return now >= HOUR

    def __len__(self) -> int:
        return len(self._notes) // 2

    def digest(self) -> str:
        """Return a short text that differs where the notes differ."""
        return hashlib.sha256(self._notes.tobytes()).hexdigest()[:12]


def hour_on_threads(threads: int) -> Notes:
    """Let threads poll for an hour of a fake clock."""
    clock = FakeClock()
    notes = Notes(clock.monotonic)
    every = fixed(THREADS_EVERY)

    def wait(number: int) -> None:
        poll(partial(notes.check, number), schedule=every, timeout=2 * HOUR, clock=clock)

    clock.run(*(partial(wait, number) for number in range(threads)))
    return notes


def hour_in_asyncio(tasks: int) -> Notes:
    """Let tasks poll for an hour of a virtual event loop."""

    async def main() -> Notes:
        notes = Notes(asyncio.get_running_loop().time)
        every = fixed(TASKS_EVERY)
        await asyncio.gather(
            *(
                aio.poll(partial(notes.check, number), schedule=every, timeout=2 * HOUR)
                for number in range(tasks)
            )
        )
        return notes

    return run(main())


def measure(hour: Callable[[int], Notes], waits: int, runs: int) -> Result:
    """Let the hour pass so many times."""
    seconds: list[float] = []
    digests: list[str] = []
    checks = 0
    for _ in range(runs):
        began = time.perf_counter()
        notes = hour(waits)
        seconds.append(time.perf_counter() - began)
        digests.append(notes.digest())
        checks = len(notes)
    return Result(waits, checks, Spread.of(seconds), len(set(digests)), digests[0])


def show(results: dict[str, Result]) -> str:
    """Return results as text."""
    header = (
        "one virtual hour",
        "waits",
        "checks",
        "min s",
        "median s",
        "max s",
        "orders",
        "digest",
    )
    rows = (
        (
            name,
            f"{result.waits:,}",
            f"{result.checks:,}",
            *result.seconds.cells(),
            str(result.orders),
            result.digest,
        )
        for name, result in results.items()
    )
    return table(header, rows)


def main() -> None:
    """Let the hours pass and print what came out; exit with 1 if two runs differed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20, help="how many times each hour passes")
    parser.add_argument("--threads", type=int, default=1000, help="waits on threads")
    parser.add_argument("--tasks", type=int, default=10_000, help="waits in asyncio")
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    options = parser.parse_args()
    results = {
        "threads, every 60 s": measure(hour_on_threads, options.threads, options.runs),
        "asyncio, every 300 s": measure(hour_in_asyncio, options.tasks, options.runs),
    }
    if options.json:
        print(as_json({"runs": options.runs, "results": results}))
    else:
        versions = setting()
        print(f"python {versions['python']}, pollwait {versions['pollwait']}\n\n{show(results)}")
    if any(result.orders != 1 for result in results.values()):
        raise SystemExit("two runs of the same hour differed")


if __name__ == "__main__":
    main()
