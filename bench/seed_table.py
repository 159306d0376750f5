"""A published table of polling schedules, simulated, and what pollwait makes of the same workload.

Run ``python bench/seed_table.py [--seeds 40] [--json] [--write]``.

A storage driver created 100 volumes and waited until DescribeVolumes showed each to be ready. For
six polling schedules it was published how long the requests took and how many DescribeVolumes calls
were made, with the calls of all waits batched over half a second. Here the same is simulated: the
shipped drivers of pollwait on virtual time, against volumes whose times were fitted to what was
published. The first table has the six schedules beside what was published, of one run it seems.
The second has other ways of waiting for the same volumes:

- the best of the published schedules without batches;
- batches, with schedules fitted to 2,000 earlier waits for as many checks as the best published one
  makes, and for other numbers;
- groups on the best published schedule, with several gaps;
- groups that decide from a model of these earlier waits, for several costs of a call;
- groups that begin with nothing and learn.

``overshoot`` is the mean time from ready to noticed, and ``ratio`` is what that is in terms of the
best published schedule. Nobody can beat the row "floor": each volume has a call of its own, which
looks at the very moment at which it is ready. All figures are means over the runs, save for the
most calls within a second, and all ways get the same volumes. The last table compares single runs
with what was published of the best schedule.

``--write`` puts the tables into ``docs/results.md``, and a picture beside it.
"""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import _frontier
import _page
from _common import as_json, heading, table

from pollwait import Distribution, LatencyModel, evaluate, exponential, fit, fixed
from pollwait.simulate import Batched, Comparison, Grouped, Report, Single, compare

Table: TypeAlias = dict[str, dict[str, float]]  # figures by their names, for each row

# The workload, in seconds: a model of the published table, fitted to it.
WAITS = 100
ARRIVALS = 20.48
CREATE_CALL = (0.21, 0.03)  # mean and standard deviation
DESCRIBE_CALL = 0.141
SEES_AT = 0.5  # the part of it that is over when it sees the state
MOST_IDS = 500
READY = Distribution(  # counted from the start of the create call
    (1.148, 1.445, 1.62, 1.884, 2.231, 4.318, 5.122), (0, 0.1, 0.5, 0.9, 0.95, 0.985, 1)
)

FACTOR = 1.5
WINDOW = 0.5  # of the published batches
BEST_NAME = "1.25;exp.5"
BEST = exponential(0.5, factor=FACTOR).after(1.25)

COLUMNS = {  # initial delay; interval, or where the exponential backoff starts
    "3;3": fixed(3).after(3),
    "1.5;1": fixed(1).after(1.5),
    "1;exp.75": exponential(0.75, factor=FACTOR).after(1),
    "1;exp.5": exponential(0.5, factor=FACTOR).after(1),
    "1.5;exp.5": exponential(0.5, factor=FACTOR).after(1.5),
    BEST_NAME: BEST,
}
PERCENTILES = (10, 50, 90, 95, 99)
PUBLISHED = {  # the percentiles above, and the DescribeVolumes calls
    "3;3": (3.52, 3.76, 3.85, 3.86, 6.66, 27),
    "1.5;1": (1.90, 2.19, 2.81, 3.25, 5.31, 41),
    "1;exp.75": (1.76, 2.52, 2.99, 3.11, 4.37, 30),
    "1;exp.5": (1.73, 2.57, 2.86, 3.63, 3.94, 34),
    "1.5;exp.5": (1.93, 2.19, 2.60, 3.12, 4.40, 33),
    BEST_NAME: (1.76, 2.02, 2.85, 3.09, 4.01, 32),
}

EARLIER = 2000  # waits that were measured before
EARLIER_SEED = 20
GAPS = (0.25, 0.5, 0.625, 0.75, 1.0)
COSTS = (0.5, 0.75, 0.9, 1.0, 1.25, 1.5, 2.0)
WINDOWS = (0.25, WINDOW)
CHECKS = (1.1, 1.2, 1.5)  # of a wait, that schedules are fitted for
OWN_NAME = "group, model, call cost 0.9"  # whose single runs are compared with the published one

PUBLISHED_TABLE = "the published table"
OTHER_WAYS = "other ways of waiting for the same volumes"
SINGLE_RUNS = "runs in which a figure was no worse than published of 1.25;exp.5"

COLUMN_ORDER = (
    *(f"p{percent}" for percent in PERCENTILES),
    *("mean", "overshoot", "ratio", "calls", "in 1 s"),
)
DIGITS = {"overshoot": 3, "calls": 1, "in 1 s": 0}  # of figures in tables


def create_call(rng: random.Random) -> float:
    """Draw what a create call takes."""
    return max(0.0, rng.gauss(*CREATE_CALL))


def earlier_waits() -> list[float]:
    """Draw waits as somebody would have measured them: from the return of the create call."""
    rng = random.Random(EARLIER_SEED)
    return [max(0.0, READY.quantile(rng.random()) - create_call(rng)) for _ in range(EARLIER)]


def workload(seeds: int) -> dict[str, Any]:
    """Return the keyword arguments of a simulation."""
    return {
        "waits": WAITS,
        "arrivals": ARRIVALS,
        "start_duration": create_call,
        "call_duration": DESCRIBE_CALL,
        "sees_at": SEES_AT,
        "max_size": MOST_IDS,
        "runs": seeds,
    }


def published_columns(seeds: int) -> Comparison:
    """Simulate what was published."""
    batched = {name: Batched(schedule, max_delay=WINDOW) for name, schedule in COLUMNS.items()}
    return compare(READY, batched, **workload(seeds))


def ways(earlier: LatencyModel) -> dict[str, Single | Batched | Grouped]:
    """Return other ways of waiting for the same volumes, by name."""
    named: dict[str, Single | Batched | Grouped] = {f"{BEST_NAME}, alone": Single(BEST)}
    for window in WINDOWS:
        call = seen_through(window)
        published = round(evaluate(BEST, earlier, **call).checks, 2)
        for checks in (*CHECKS, published):
            fitted = fit(earlier, max_checks=checks, **call).schedule
            name = f"fitted to {checks:g} checks, batched {window:g}"
            named[name] = Batched(fitted, max_delay=window)
    named |= {f"group, {BEST_NAME}, gap {gap:g}": Grouped(BEST, min_gap=gap) for gap in GAPS}
    named |= {
        f"group, model, call cost {cost:g}": Grouped(latency=earlier, call_cost=cost)
        for cost in COSTS
    }
    named |= {
        f"group, learning, call cost {cost:g}": Grouped(learn=True, call_cost=cost)
        for cost in COSTS
    }
    return named


def seen_through(window: float) -> dict[str, float]:
    """Return what a check takes and when it sees, if it waits for half of a window on average."""
    before, call = window / 2, DESCRIBE_CALL
    return {"check_duration": before + call, "sees_at": (before + SEES_AT * call) / (before + call)}


@dataclass(frozen=True)
class Found:
    """What came of all simulations: the published schedules, and other ways, by name."""

    columns: Comparison
    others: Comparison

    @property
    def basis(self) -> Report:
        """The best of the published schedules."""
        return self.columns[BEST_NAME]

    @property
    def floor(self) -> Report:
        """What calls would show that look at the very moment at which a volume is ready."""
        rest = (1 - SEES_AT) * DESCRIBE_CALL
        return Report(
            "floor",
            tuple(
                replace(run, latencies=tuple(ready + rest for ready in run.ready), calls=())
                for run in self.basis.runs
            ),
        )

    def tables(self) -> dict[str, Table]:
        """Return rows of figures by their names, by the titles of the tables."""
        beside: Table = {}
        for name, report in self.columns.items():
            beside[f"{name}, published"] = published(name)
            beside[f"{name}, simulated"] = figures(report, self.basis)
        named = {"floor": self.floor, **self.others}
        others = {name: figures(report, self.basis) for name, report in named.items()}
        return {PUBLISHED_TABLE: beside, OTHER_WAYS: others, SINGLE_RUNS: self.single_runs()}

    def single_runs(self) -> Table:
        """Return for each published figure in how many percent of the runs it was no worse."""
        named = {"floor": self.floor, BEST_NAME: self.basis, OWN_NAME: self.others[OWN_NAME]}
        return {name: no_worse(report) for name, report in named.items()}


def no_worse(report: Report) -> dict[str, float]:
    """Return in how many percent of the runs each figure is no worse than the published ones."""
    runs = [figures(Report(report.strategy, (run,)), report) for run in report.runs]
    return {
        figure: 100 * sum(run[figure] <= most for run in runs) / len(runs)
        for figure, most in published(BEST_NAME).items()
        if figure in runs[0]
    }


def figures(report: Report, basis: Report) -> dict[str, float]:
    """Return what the tables show of a report; ``ratio`` is its overshoot in terms of the basis."""
    counted = {"calls": report.calls, "in 1 s": report.busiest_second} if report.calls else {}
    return {
        **{f"p{percent}": report.percentile(percent) for percent in PERCENTILES},
        "mean": report.mean,
        "overshoot": report.overshoot,
        "ratio": report.overshoot / basis.overshoot,
        **counted,
    }


def published(name: str) -> dict[str, float]:
    """Return what was published of a schedule."""
    *percentiles, calls = PUBLISHED[name]
    seconds = {f"p{percent}": at for percent, at in zip(PERCENTILES, percentiles, strict=True)}
    return {**seconds, "calls": calls}


def cells(title: str, rows: Table) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and the rows of a table as text; what a row lacks is left blank."""
    columns = [column for column in COLUMN_ORDER if any(column in row for row in rows.values())]
    digits = dict.fromkeys(columns, 0) if title == SINGLE_RUNS else DIGITS
    unit = " %" if title == SINGLE_RUNS else ""
    header = ("", *columns)
    return header, [
        (
            name,
            *(
                f"{row[column]:.{digits.get(column, 2)}f}{unit}" if column in row else ""
                for column in columns
            ),
        )
        for name, row in rows.items()
    ]


def write(found: Found, seeds: int) -> None:
    """Put the tables into the documentation, and draw the picture."""
    parts = {title: _page.markdown(*cells(title, rows)) for title, rows in found.tables().items()}
    _page.write("bench/seed_table.py", f"--seeds {seeds}", parts)
    _frontier.draw(_page.DOCS / "images/frontier.svg", found.columns, found.others)


def main() -> None:
    """Run the simulations and print what came of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=40, help="runs to average over")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    parser.add_argument("--write", action="store_true", help="write docs/results.md as well")
    options = parser.parse_args()
    others = compare(READY, ways(LatencyModel(earlier_waits())), **workload(options.seeds))
    found = Found(published_columns(options.seeds), others)
    if options.write:
        write(found, options.seeds)
    if options.json:
        print(as_json({"seeds": options.seeds, "results": found.tables()}))
        return
    print(heading())
    for title, rows in found.tables().items():
        print(f"\n{title}\n{table(*cells(title, rows))}")


if __name__ == "__main__":
    main()
