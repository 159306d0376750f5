"""What a library adds to a wait: the cost of one attempt and of one wait, beside the peers.

Run ``python bench/overhead.py [--attempts 1000] [--rounds 51] [--json]``.

Nothing sleeps: ``time.sleep`` returns at once for all candidates alike (``_threads.no_sleep`` says
why that is fair), and the clocks are the real ones. Three situations are measured, each against a
loop written by hand that has a deadline, clipped sleeps, exponential growth and a cap:

- an attempt that is not ready: one wait whose check returns False, ``--attempts`` checks long;
- an attempt that fails: the same, but the check raises ``ConnectionError``;
- one wait, ready at once: that many waits of one check each, which shows what a wait costs to set
  up.

Every figure includes the check itself, which is a Python function of one line's work. The ratios
are the result; nanoseconds are for orientation (``_common`` tells how the ratios are made).
"""

from __future__ import annotations

import argparse
import gc
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from statistics import median
from time import process_time
from typing import TYPE_CHECKING

from _common import as_json, heading, interleave, ratios, table
from _threads import ON_ERRORS, ON_RESULTS, Candidate, no_sleep

if TYPE_CHECKING:
    from collections.abc import Callable

    from _common import Spread
    from _threads import Check


@dataclass(frozen=True)
class Situation:
    """Waits to time.

    Args:
        title: what the figures are about.
        candidates: who takes part; the first is the basis.
        check: makes a check that is ready at every n-th call.
        checks: how many checks each wait takes.
        waits: how many waits are timed together.
    """

    title: str
    candidates: tuple[Candidate, ...]
    check: Callable[[int], Check]
    checks: int
    waits: int


@dataclass(frozen=True)
class Result:
    """The figures of one candidate, per attempt or per wait."""

    nanoseconds: float
    ratio: Spread


def situations(attempts: int) -> tuple[Situation, ...]:
    """Return what is measured. Waits in asyncio would be further candidates and situations here."""
    return (
        Situation("an attempt that is not ready", ON_RESULTS, false_until, attempts, 1),
        Situation("an attempt that fails", ON_ERRORS, raising_until, attempts, 1),
        Situation("one wait, ready at once", (*ON_RESULTS, *stamina_only()), true, 1, attempts),
    )


def stamina_only() -> tuple[Candidate, ...]:
    """Return the candidates that wait on errors only; a check that succeeds suits them too."""
    return tuple(found for found in ON_ERRORS if found.name.startswith("stamina"))


def false_until(n: int) -> Check:
    """Return a check that returns True at every n-th call, else False."""
    left = n

    def check() -> bool:
        nonlocal left
        left -= 1
        if left:
            return False
        left = n
        return True

    return check


def raising_until(n: int) -> Check:
    """Return a check that returns True at every n-th call, else raises."""
    left = n

    def check() -> bool:
        nonlocal left
        left -= 1
        if left:
            raise ConnectionError
        left = n
        return True

    return check


def true(n: int) -> Check:
    """Return a check that always returns True."""
    return lambda: True


def seconds_each(situation: Situation, candidate: Candidate) -> float:
    """Time a candidate once: CPU seconds per check, so that what else runs counts for little."""
    run = candidate.prepare(situation.check(situation.checks))
    gc.collect()  # nobody pays for what another left behind
    run()  # nor for the caches of the processor, which the last line has emptied
    began = process_time()
    for _ in repeat(None, situation.waits):
        run()
    return (process_time() - began) / (situation.waits * situation.checks)


def compare(situation: Situation, rounds: int) -> dict[str, Result]:
    """Time all candidates of a situation in turn."""
    runs = {each.name: partial(seconds_each, situation, each) for each in situation.candidates}
    with no_sleep():
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
    parser.add_argument("--attempts", type=int, default=1000, help="checks per timed run")
    parser.add_argument("--rounds", type=int, default=51, help="times each candidate is timed")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    options = parser.parse_args()
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
