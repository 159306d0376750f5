"""What a wait weighs while it sleeps: the bytes of each of many waits in asyncio.

Run ``python bench/sleepers.py [--waits 10000] [--json]``.

That many tasks run one wait each. When every wait has made its first check, which was not ready or
failed, and sleeps, ``tracemalloc`` counts what is in use; the figure is what the tasks have added,
per wait. It includes the task itself and the timer of ``asyncio.sleep``: "bare sleep" is a task
that only sleeps, and no wait can weigh less. The ratios compare with the loop written by hand.

The waits share their check and whatever a library does once for many waits. Nothing is replaced
and the clocks are the real ones, but none of the sleeps need end: the bytes are counted before the
event loop looks at its timers again.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import tracemalloc
from dataclasses import dataclass
from typing import TYPE_CHECKING

import stamina.instrumentation
from _common import as_json, heading, table
from _tasks import ON_ERRORS, ON_RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from _checks import AsyncCheck
    from _threads import Candidate

BASIS = "loop by hand"


@dataclass(frozen=True)
class Weight:
    """The bytes of one wait, and their ratio to those of the loop written by hand."""

    bytes: float
    ratio: float


class Counter:
    """Counts its calls, and makes each of them a check that is not over."""

    def __init__(self) -> None:
        self.calls = 0

    async def false(self) -> bool:
        """Return False."""
        self.calls += 1
        return False

    async def fail(self) -> bool:
        """Raise ConnectionError."""
        self.calls += 1
        raise ConnectionError

    async def sleep(self) -> None:
        """Sleep, as a wait does after its check."""
        self.calls += 1
        await asyncio.sleep(3600)


async def weigh(
    run: Callable[[], Coroutine[Any, Any, object]], counter: Counter, waits: int
) -> float:
    """Start waits, count their bytes when all of them sleep, and cancel them."""
    gc.collect()
    tracemalloc.start()
    try:
        tasks = [asyncio.create_task(run()) for _ in range(waits)]
        while counter.calls < waits:
            await asyncio.sleep(0)  # it comes back behind all that can run now
        gc.collect()
        in_use, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return in_use / waits


def measure(
    candidates: tuple[Candidate, ...], check: Callable[[Counter], AsyncCheck], waits: int
) -> dict[str, Weight]:
    """Weigh the waits of every candidate, each on a fresh event loop."""
    for _ in range(2):  # first to let asyncio's set of all tasks grow, which nobody should pay for
        counter = Counter()
        found = {"bare sleep": asyncio.run(weigh(counter.sleep, counter, waits))}
    for each in candidates:
        counter = Counter()
        run: Any = each.prepare(check(counter))
        found[each.name] = asyncio.run(weigh(run, counter, waits))
    return {name: Weight(found[name], found[name] / found[BASIS]) for name in found}


def show(title: str, weights: dict[str, Weight]) -> str:
    """Return weights as text."""
    rows = (
        (name, f"{weight.bytes:,.0f}", f"{weight.ratio:.2f}") for name, weight in weights.items()
    )
    return f"\n{table((title, 'bytes', 'ratio'), rows)}"


def main() -> None:
    """Weigh the waits and print what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--waits", type=int, default=10_000, help="waits at the same time")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    options = parser.parse_args()
    stamina.instrumentation.set_on_retry_hooks([])  # they log
    found = {
        "a wait asleep, its check returned": measure(
            ON_RESULTS, lambda counter: counter.false, options.waits
        ),
        "a wait asleep, its check raised": measure(
            ON_ERRORS, lambda counter: counter.fail, options.waits
        ),
    }
    if options.json:
        print(as_json({"waits": options.waits, "results": found}))
        return
    print(heading())
    for title, weights in found.items():
        print(show(title, weights))


if __name__ == "__main__":
    main()
