"""``pollwait fit``: the schedules that suit measured latencies, for several numbers of checks."""

from __future__ import annotations

import argparse
import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..._core.schedule import DEFAULT
from .. import _arguments
from .._errors import UsageError
from .._exit_codes import READY
from . import options, samples
from .tables import percent, plain, seconds, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..._core.schedule import Schedule
    from .samples import Samples

BUDGETS = (2.0, 3.0, 5.0, 8.0)

_DESCRIPTION = (
    "Fit schedules to measured latencies: each notices what becomes ready as soon as it can for its"
    " number of checks. They are shown side by side with pollwait's default schedule, with what to"
    " expect of each: overshoot, the mean seconds from ready to noticed, and checks, their mean"
    " number."
)
_EPILOG = f"{options.FILES} Durations are seconds, or such as 45s, 2m and 1h30m."


def add_to(commands: Any) -> None:
    """Add the command to the parser's commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "fit",
        help="fit schedules to measured latencies",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("file", metavar="FILE", help="measured times until ready; see below")
    options.add_name(parser)
    parser.add_argument(
        "--max-checks",
        metavar="N",
        nargs="+",
        action="extend",
        type=options.number(1.0),
        default=[],
        help="how many checks a wait may make on average; one schedule for each (default: "
        + " ".join(f"{budget:g}" for budget in BUDGETS)
        + ")",
    )
    parser.add_argument(
        "--check-cost",
        metavar="SECONDS",
        nargs="+",
        action="extend",
        type=options.number(0.0, above=True),
        default=[],
        help="how many seconds of overshoot a check is worth; one schedule for each",
    )
    parser.add_argument(
        "--schedule",
        metavar="SCHEDULE",
        nargs="+",
        action="extend",
        type=_arguments.schedule,
        default=[],
        help=f"schedules to compare with (default: {DEFAULT}, that of a wait that names none)",
    )
    options.add_look(parser, "check", 0.0, 0.0)
    options.add_outputs(parser)
    parser.set_defaults(run=run)


@dataclass(frozen=True)
class Candidate:
    """A schedule, and what to expect of it.

    Attributes:
        name: what it was made for.
        schedule: the schedule.
        overshoot: mean seconds from ready to noticed.
        checks: the mean number of checks.
        noticed: the share of the waits that are noticed ready.
        fitted: whether it was fitted.
    """

    name: str
    schedule: Schedule
    overshoot: float
    checks: float
    noticed: float
    fitted: bool


def run(asked: argparse.Namespace) -> int:
    """Print the fitted schedules."""
    if asked.plot:
        from . import plot

        plot.check()
    read = samples.read(asked.file, asked.name)
    found = _candidates(asked, read)
    if asked.plot:
        from .plot_fit import draw

        draw(asked.plot, read, found)
    if asked.json:
        print(json.dumps(_as_json(read, found)))  # noqa: T201 - a command line talks
    else:
        print("\n\n".join(_text(read, found)))  # noqa: T201
    return READY


def _candidates(asked: argparse.Namespace, read: Samples) -> list[Candidate]:
    """Fit a schedule to each budget, and add those to compare with."""
    from ..._core.evaluate import evaluate
    from ..._core.fit import fit
    from .bar import bar

    look = {"check_duration": asked.check_duration, "sees_at": asked.sees_at}
    budgets = [(f"{most:g} checks", {"max_checks": most}) for most in _budgets(asked)]
    budgets += [(f"{cost:g} s a check", {"check_cost": cost}) for cost in asked.check_cost]
    others = {str(each): each for each in asked.schedule} or {"default": DEFAULT}
    found: list[Candidate] = []
    try:
        with bar(len(budgets) + len(others)) as begin:
            for name, budget in budgets:
                begin(name)
                best = fit(read.listed, **budget, **look)
                found.append(Candidate(name, best.schedule, best.overshoot, best.checks, 1.0, True))
            for name, schedule in others.items():
                begin(name)
                seen = evaluate(schedule, read.listed, **look)
                figures = seen.overshoot, seen.checks, seen.noticed
                found.append(Candidate(name, schedule, *figures, False))
    except ValueError as error:
        raise UsageError(str(error)) from None
    return found


def _budgets(asked: argparse.Namespace) -> list[float]:
    given: list[float] = asked.max_checks
    return given or ([] if asked.check_cost else list(BUDGETS))


def _text(read: Samples, found: list[Candidate]) -> Iterator[str]:
    """Yield the parts of the text."""
    latency = read.latency
    quantiles = [f"p{each} {seconds(latency.quantile(each / 100))}" for each in samples.PERCENTILES]
    yield f"{read}\nseconds until ready: {', '.join(quantiles)}, mean {seconds(latency.mean)}"
    header = ["", "overshoot", "checks"]
    rows = [[each.name, seconds(each.overshoot), f"{each.checks:.2f}"] for each in found]
    if any(each.noticed < 1.0 for each in found):
        header.append("noticed")
        rows = [[*row, percent(each.noticed)] for row, each in zip(rows, found, strict=True)]
    yield table(header, rows)
    yield "\n".join(f"{each.name}:\n  {each.schedule}" for each in found)
    yield from _advice(found)


def _advice(found: list[Candidate]) -> Iterator[str]:
    """Yield what to copy: of the fitted schedules the best that makes no more checks than another.

    The first of those that were not fitted is the one to beat.
    """
    basis = next(each for each in found if not each.fitted)
    better = [
        each
        for each in found
        if each.fitted and each.checks <= basis.checks and each.overshoot < basis.overshoot
    ]
    if not better:
        return
    best = min(better, key=lambda each: each.overshoot)
    text = str(best.schedule)
    yield (
        f"To notice {seconds(best.overshoot)} s after ready in place of {seconds(basis.overshoot)},"
        f" with {best.checks:.2f} checks in place of {basis.checks:.2f}:\n"
        f"  poll(check, schedule=Schedule.parse({text!r}), timeout=60)\n"
        f"  pollwait until --schedule {shlex.quote(text)} -- COMMAND"
    )


def _as_json(read: Samples, found: list[Candidate]) -> dict[str, object]:
    """Return everything as plain data."""
    latency = read.latency
    return {
        "samples": read.as_json(),
        "ready": {
            **{f"p{each}": plain(latency.quantile(each / 100)) for each in samples.PERCENTILES},
            "mean": plain(latency.mean),
        },
        "schedules": [
            {
                "name": each.name,
                "fitted": each.fitted,
                "schedule": str(each.schedule),
                "overshoot": plain(each.overshoot),
                "checks": plain(each.checks),
                "noticed": plain(each.noticed),
            }
            for each in found
        ],
    }
