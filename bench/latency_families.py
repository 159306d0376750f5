"""Fitted schedules beside the best fixed and exponential ones, for three kinds of latency.

Run ``python bench/latency_families.py [--samples 2000] [--checks 2 4 8] [--json] [--write]``.

Each kind of latency is known exactly here. ``fit`` is given samples that were drawn from it and a
number of checks. What the schedule then costs is computed from the true latency: its overshoot, the
mean time from ready to noticed, and its mean number of checks. The others are tuned on the true
latency, which nobody knows in practice, to the checks that the fitted schedule makes:

- ``exponential(start, factor=factor).after(first)``, over a grid of first looks, factors and caps;
- ``fixed(interval).after(first)``, over a grid of first looks.

The start or the interval follows from the number of checks. "Fitted to the truth" is what ``fit``
makes of the true latency itself, for as many checks again; what the fitted schedule lacks of it is
due to chance among the samples. Checks take no time here. ``--write`` puts the table into
``docs/results.md``.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from itertools import product
from math import exp, inf
from statistics import NormalDist
from typing import TYPE_CHECKING

import _page
from _common import as_json, heading, table

from pollwait import Distribution, Schedule, evaluate, exponential, fit, fixed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 11

# What is tried. A first look is the time by which such a share is ready; 0 is at once.
FIRST = (0.0, 0.01, *(share / 20 for share in range(1, 20)), 0.99)
FACTORS = (1.05, 1.1, 1.2, 1.35, 1.5, 2.0, 3.0, 5.0)
CAPS = (2.0, 3.0, 5.0, 10.0, 30.0, inf)  # in terms of the start

HALVINGS = 12  # of the range of an interval; each of them is one evaluation
MOST = 1e-4  # of the checks may be left out


@dataclass(frozen=True)
class Result:
    """A schedule, and what it costs by the true latency."""

    schedule: Schedule
    overshoot: float
    checks: float


def lognormal() -> Distribution:
    """Return a heavy tail: a median of 20 s, and one in a hundred takes longer than 5 minutes."""
    normal = NormalDist()
    shares = [share / 2000 for share in range(1, 2000)] + [1 - 10**-power for power in (4, 5, 6)]
    times = [20 * exp(1.2 * normal.inv_cdf(share)) for share in shares]
    return Distribution((0.0, *times), (0.0, *shares), tail=times[-1] / 4)


def bimodal() -> Distribution:
    """Return two kinds of things: 7 in 10 take about 2 s and the others about 60 s."""
    quick, slow = NormalDist(2, 0.2), NormalDist(60, 5)
    times = sorted({each.inv_cdf(share / 400) for each in (quick, slow) for share in range(1, 400)})
    shares = [0.7 * quick.cdf(time) + 0.3 * slow.cdf(time) for time in times]
    return Distribution((*times, 80.0), (0.0, *shares[1:], 1.0))


def uniform() -> Distribution:
    """Return what may be ready at any time within ten minutes."""
    return Distribution((0.0, 600.0), (0.0, 1.0))


FAMILIES = {
    "lognormal, median 20 s": lognormal,
    "2 s or 60 s": bimodal,
    "uniform over 10 min": uniform,
}


def result(schedule: Schedule, latency: Distribution) -> Result:
    """Return what a schedule costs."""
    expected = evaluate(schedule, latency)
    return Result(schedule, expected.overshoot, expected.checks)


def fitted(latency: Distribution, samples: int, checks: float) -> Result:
    """Fit to samples, and tell what that is worth."""
    rng = random.Random(SEED)
    drawn = [latency.quantile(rng.random()) for _ in range(samples)]
    return result(fit(drawn, max_checks=checks).schedule, latency)


def tuned(
    make: Callable[[float], Schedule], latency: Distribution, most: float, start: float
) -> Result | None:
    """Return a schedule of as many checks, found by halving the range of its one open number.

    Args:
        make: makes a schedule; the larger the number that it is given, the fewer checks.
        latency: the true latency.
        most: the number of checks.
        start: a number to begin with.

    Returns:
        None if even the largest number leads to more checks.
    """
    low, high = 0.0, start
    while (found := result(make(high), latency)).checks > most:
        low, high = high, 4 * high
        if high > 1e6:
            return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        tried = result(make(middle), latency) if middle > start / 1000 else None
        if tried is None or tried.checks > most:
            low = middle
        else:
            high, found = middle, tried
        if found.checks > most * (1 - MOST):
            break
    return found


def fixed_ones(latency: Distribution) -> Iterator[Callable[[float], Schedule]]:
    """Yield what is tried with one interval."""
    for share in FIRST:
        first = latency.quantile(share) if share else 0.0
        yield lambda interval, first=first: fixed(interval).after(first)


def exponential_ones(latency: Distribution) -> Iterator[Callable[[float], Schedule]]:
    """Yield what is tried with intervals that grow."""
    for share, factor, cap in product(FIRST, FACTORS, CAPS):
        first = latency.quantile(share) if share else 0.0

        def make(
            start: float, first: float = first, factor: float = factor, cap: float = cap
        ) -> Schedule:
            growing = exponential(start, factor=factor)
            return (growing if cap == inf else growing.cap(cap * start)).after(first)

        yield make


def compared(latency: Distribution, samples: int, checks: float) -> dict[str, Result]:
    """Return the fitted schedule and the best of the others with as many checks."""
    own = fitted(latency, samples, checks)
    start = latency.mean / 4
    best = result(fit(latency, max_checks=own.checks).schedule, latency)
    found = {"fitted": own, "fitted to the truth": best}
    for name, kinds in {"exponential": exponential_ones, "fixed": fixed_ones}.items():
        tried = (tuned(make, latency, own.checks, start) for make in kinds(latency))
        found[name] = min(
            (each for each in tried if each is not None), key=lambda each: each.overshoot
        )
    return found


def cells(
    results: dict[str, dict[str, dict[str, Result]]],
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and the rows of a table as text."""
    rows: list[tuple[str, ...]] = []
    for name, budgets in results.items():
        for found in budgets.values():
            own, best, *others = found.values()
            rows.append(
                (
                    name,
                    f"{own.checks:.2f}",
                    *(f"{each.overshoot:.3g}" for each in (own, best, *others)),
                    *(f"{own.overshoot / each.overshoot:.2f}" for each in others),
                )
            )
    kinds = ("fitted", "fitted to the truth", "exponential", "fixed")
    return ("", "checks", *kinds, "to exponential", "to fixed"), rows


def main() -> None:
    """Compute everything and print it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--samples", type=int, default=2000, help="what a schedule is fitted to")
    parser.add_argument(
        "--checks", type=float, nargs="+", default=[2, 4, 8], help="of a wait, on average"
    )
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.add_argument("--write", action="store_true", help="write docs/results.md as well")
    options = parser.parse_args()
    results = {
        name: {
            f"{checks:g}": compared(latency(), options.samples, checks) for checks in options.checks
        }
        for name, latency in FAMILIES.items()
    }
    if options.write:
        arguments = f"--samples {options.samples}"
        parts = {"families": _page.markdown(*cells(results))}
        _page.write("bench/latency_families.py", arguments, parts)
    if options.json:
        print(as_json({"samples": options.samples, "results": plain(results)}))
        return
    print(heading())
    print("\novershoot in seconds, and that of the fitted schedule in terms of the others")
    print(table(*cells(results)))
    for name, budgets in results.items():
        for checks, found in budgets.items():
            print(f"\n{name}, {checks} checks")
            print("\n".join(f"  {kind}: {each.schedule}" for kind, each in found.items()))


def plain(results: dict[str, dict[str, dict[str, Result]]]) -> dict[str, object]:
    """Return results as plain data."""
    return {
        name: {
            checks: {
                kind: {
                    "schedule": str(each.schedule),
                    "overshoot": each.overshoot,
                    "checks": each.checks,
                }
                for kind, each in found.items()
            }
            for checks, found in budgets.items()
        }
        for name, budgets in results.items()
    }


if __name__ == "__main__":
    main()
