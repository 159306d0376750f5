"""What a library adds to a wait: the cost of one attempt and of one wait, beside the peers.

Run ``python bench/overhead.py [--attempts 1000] [--rounds 51] [--json]``.

Three situations are measured on threads and again in asyncio, each against a loop written by hand
that has a deadline, clipped sleeps, exponential growth and a cap:

- an attempt that is not ready: one wait whose check returns False, ``--attempts`` checks long;
- an attempt that fails: the same, but the check raises ``ConnectionError``;
- one wait, ready at once: that many waits of one check each, which shows what a wait costs to set
  up.

In asyncio the checks are asynchronous, as most there are; a fourth situation has a plain one.

Nobody sleeps: ``time.sleep`` and ``asyncio.sleep`` return at once for all candidates alike
(``_no_sleep`` says why that is fair), and the clocks are the real ones. The exception is one wait,
ready at once, in asyncio: nobody needs to sleep there, so nothing is replaced, and who lets the
event loop run before the first check, as pollwait does, pays for it.

Every figure includes the check itself, which is a function of one line's work. The ratios are the
result; nanoseconds are for orientation (``_common`` tells how the ratios are made).
"""

from __future__ import annotations

import argparse
import asyncio
import gc
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import _tasks
import _threads
from _checks import (
    async_false_until,
    async_raising_until,
    async_true,
    false_until,
    raising_until,
    true,
)
from _common import as_json, heading, interleave, ratios, table
from _no_sleep import no_sleep

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from _checks import AsyncCheck, Check
    from _common import Spread
    from _tasks import AsyncRun
    from _threads import Candidate, Run


@dataclass(frozen=True)
class Situation:
    """Waits to time.

    Args:
        title: what the figures are about.
        candidates: who takes part; the first is the basis.
        check: makes a check that is ready at every n-th call.
        checks: how many checks each wait takes.
        waits: how many waits are timed together.
        timed: runs that many waits and returns their CPU seconds.
        around: the context of it all.
    """

    title: str
    candidates: tuple[Candidate, ...]
    check: Callable[[int], Check | AsyncCheck]
    checks: int
    waits: int
    timed: Callable[[Any, int], float]
    around: Callable[[], AbstractContextManager[None]] = no_sleep


@dataclass(frozen=True)
class Result:
    """The figures of one candidate, per attempt or per wait."""

    nanoseconds: float
    ratio: Spread


def situations(attempts: int) -> tuple[Situation, ...]:
    """Return what is measured."""
    results, errors = _threads.ON_RESULTS, _threads.ON_ERRORS
    return (
        Situation("an attempt that is not ready", results, false_until, attempts, 1, timed),
        Situation("an attempt that fails", errors, raising_until, attempts, 1, timed),
        Situation("one wait, ready at once", all_of(results, errors), true, 1, attempts, timed),
        *asyncio_situations(attempts),
    )


def asyncio_situations(attempts: int) -> tuple[Situation, ...]:
    """Return what is measured in asyncio."""
    results, errors, plain = _tasks.ON_RESULTS, _tasks.ON_ERRORS, _tasks.ON_PLAIN_RESULTS
    return (
        Situation(
            "asyncio: an attempt that is not ready",
            results,
            async_false_until,
            attempts,
            1,
            timed_in_asyncio,
        ),
        Situation(
            "asyncio: an attempt that fails",
            errors,
            async_raising_until,
            attempts,
            1,
            timed_in_asyncio,
        ),
        Situation(
            "asyncio: a plain check that is not ready",
            plain,
            false_until,
            attempts,
            1,
            timed_in_asyncio,
        ),
        Situation(
            "asyncio: one wait, ready at once",
            all_of(results, errors),
            async_true,
            1,
            attempts,
            timed_in_asyncio,
            nullcontext,
        ),
    )


def all_of(results: tuple[Candidate, ...], errors: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Add to the candidates those that wait on errors only; a check that succeeds suits them."""
    return (*results, *(each for each in errors if each.name.startswith(("stamina", "opnieuw"))))


def timed(run: Run, waits: int) -> float:
    """Time waits that block: CPU seconds, so that what else runs counts for little."""
    gc.collect()  # nobody pays for what another left behind
    run()  # nor for the caches of the processor, which the last line has emptied
    began = process_time()
    for _ in repeat(None, waits):
        run()
    return process_time() - began


def timed_in_asyncio(run: AsyncRun, waits: int) -> float:
    """Time waits that are awaited, in one task of a fresh event loop."""

    async def main() -> float:
        gc.collect()
        await run()
        began = process_time()
        for _ in repeat(None, waits):
            await run()
        return process_time() - began

    return asyncio.run(main())


def seconds_each(situation: Situation, candidate: Candidate) -> float:
    """Time a candidate once, per check."""
    run = candidate.prepare(situation.check(situation.checks))
    return situation.timed(run, situation.waits) / (situation.waits * situation.checks)


def compare(situation: Situation, rounds: int) -> dict[str, Result]:
    """Time all candidates of a situation in turn."""
    runs = {each.name: partial(seconds_each, situation, each) for each in situation.candidates}
    with situation.around():
        figures = interleave(runs, rounds)
    basis = figures[situation.candidates[0].name]
    return {
        name: Result(median(taken) * 1e9, ratios(taken, basis)) for name, taken in figures.items()
    }


def show(title: str, results: dict[str, Result]) -> str:
    """Return results as text."""
    rows = (
        (name, f"{result.nanoseconds:.0f}", *result.ratio.cells())
        for name, result in results.items()
    )
    return f"\n{table((title, 'ns', 'min', 'ratio', 'max'), rows)}"


def main() -> None:
    """Run all situations and print what came out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    most = _threads.OPNIEUW_CALLS
    parser.add_argument(
        "--attempts", type=int, default=1000, help=f"checks per timed run, at most {most}"
    )
    parser.add_argument("--rounds", type=int, default=51, help="times each candidate is timed")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    options = parser.parse_args()
    if not 1 <= options.attempts <= most:
        parser.error(f"--attempts must be from 1 to {most}: got {options.attempts}")
    found = {
        situation.title: compare(situation, options.rounds)
        for situation in situations(options.attempts)
    }
    if options.json:
        print(as_json({"attempts": options.attempts, "rounds": options.rounds, "results": found}))
        return
    print(heading())
    for title, results in found.items():
        print(show(title, results))


if __name__ == "__main__":
    main()
