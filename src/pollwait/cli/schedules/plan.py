"""``pollwait plan``: when a schedule looks, and what that is worth."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from .. import _arguments
from .._errors import UsageError
from .._exit_codes import READY
from . import options
from .tables import percent, plain, seconds, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..._core.distribution import Distribution
    from ..._core.evaluate import Evaluation
    from .samples import Samples
    from .timetable import Check, Plan, Timetable

CHECKS = 10
MOST = 1000

_DESCRIPTION = (
    "Show when a schedule looks: a table of its first checks, and a picture. With latencies, also"
    " how many waits are ready by each check, how late the schedule notices on average (overshoot:"
    " from ready to noticed), and how many checks that takes."
)
_EPILOG = (
    "SCHEDULE is written as in Python: 'exponential(0.5, factor=1.5).after(1.25)', 'fixed(2)',"
    " 'fixed(0.25).within(5) + exponential(0.5).cap(30).jitter(0.1)'. Durations are seconds, or"
    f" such as 45s, 2m and 1h30m. {options.FILES}"
)


def add_to(commands: Any) -> None:
    """Add the command to the parser's commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "plan",
        help="show when a schedule looks, and what that is worth",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    parser.add_argument("schedule", metavar="SCHEDULE", type=_arguments.schedule)
    options.add_latency(parser, required=False)
    parser.add_argument(
        "--checks",
        metavar="N",
        type=options.count(MOST),
        default=CHECKS,
        help="how many checks to list (default: %(default)s)",
    )
    parser.add_argument(
        "--timeout",
        metavar="DURATION",
        type=_arguments.duration,
        help="the timeout of the wait, at which it looks for the last time (default: none)",
    )
    options.add_look(parser, "check", 0.0, 0.0)
    options.add_outputs(parser)
    parser.set_defaults(run=run)


def run(asked: argparse.Namespace) -> int:
    """Print the plan of a schedule."""
    from ..._core.evaluate import Look
    from .bar import bar
    from .timetable import Plan

    if asked.plot:
        from . import plot

        plot.check()
    latency, samples = options.latency(asked)
    plan = Plan(asked.schedule, asked.timeout, Look(asked.check_duration, asked.sees_at))
    with bar(2) as begin:
        begin("working out what to expect")
        try:
            shown = _Shown(plan, plan.timetable(asked.checks), latency, samples)
        except ValueError as error:
            raise UsageError(str(error)) from None
        if asked.plot:
            from .plot_plan import draw

            begin("drawing")
            draw(asked.plot, plan, shown.timetable, latency, shown.expected)
    if asked.json:
        print(json.dumps(shown.as_json()))  # noqa: T201 - a command line talks
    else:
        print("\n\n".join(shown.text()))  # noqa: T201
    return READY


class _Shown:
    """What is printed.

    Attributes:
        timetable: the checks.
        expected: the expected figures; None without a latency.
    """

    def __init__(
        self,
        plan: Plan,
        timetable: Timetable,
        latency: Distribution | None,
        samples: Samples | None,
    ) -> None:
        self.timetable = timetable
        self.expected: Evaluation | None = None if latency is None else plan.expected(latency)
        self._plan = plan
        self._latency = latency
        self._samples = samples

    def text(self) -> Iterator[str]:
        """Yield the parts of the text."""
        from . import picture

        yield str(self._plan.schedule)
        yield table(self._header(), map(self._row, self.timetable.checks)) + self._rest()
        if self._samples is not None:
            yield str(self._samples)
        if self.expected is not None:
            yield _sentence(self.expected)
        glyphs, columns = picture.glyphs(), picture.width()
        yield picture.draw(self.timetable.checks, self._latency, columns=columns, using=glyphs)

    def as_json(self) -> dict[str, object]:
        """Return everything as plain data."""
        expected = self.expected
        return {
            "schedule": str(self._plan.schedule),
            "checks": list(map(self._plain, self.timetable.checks)),
            "ends": self.timetable.ends,
            "samples": self._samples and self._samples.as_json(),
            "expected": expected
            and {
                "overshoot": plain(expected.overshoot),
                "checks": plain(expected.checks),
                "noticed": plain(expected.noticed),
            },
        }

    def _header(self) -> list[str]:
        times = ["earliest", "latest", "delay"] if self.timetable.random else ["at", "delay"]
        return ["check", *times, *([] if self._latency is None else ["ready by then"])]

    def _row(self, check: Check) -> list[str]:
        cells = [str(check.number).rjust(len("check")), seconds(check.earliest)]
        if self.timetable.random:
            cells.append(seconds(check.latest))
        cells.append(_span(seconds(check.shortest), seconds(check.longest)))
        if self._latency is not None:
            cells.append(_span(*map(percent, self._ready(check))))
        return cells

    def _rest(self) -> str:
        if self.timetable.ends is None:
            return "\n  ..."
        return f"\nThe last one: {_ENDS[self.timetable.ends]}."

    def _plain(self, check: Check) -> dict[str, object]:
        ready = self._ready(check) if self._latency else (None, None)
        return {
            "check": check.number,
            "earliest": plain(check.earliest),
            "latest": plain(check.latest),
            "shortest_delay": plain(check.shortest),
            "longest_delay": plain(check.longest),
            "ready_by_earliest": plain(ready[0]),
            "ready_by_latest": plain(ready[1]),
        }

    def _ready(self, check: Check) -> tuple[float, float]:
        """Return the share of waits that a check finds ready, or an earlier one has."""
        assert self._latency is not None  # callers have looked
        after = self._plan.look.seen_after
        return (
            self._latency.ready(check.earliest + after),
            self._latency.ready(check.latest + after),
        )


_ENDS = {"timeout": "the timeout is up", "schedule": "the schedule ends"}


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}"


def _sentence(expected: Evaluation) -> str:
    noticed = ""
    if expected.noticed < 1.0:
        noticed = f"; {percent(expected.noticed)} of the waits are noticed ready"
    return (
        f"On average noticed {seconds(expected.overshoot)} s after ready, by"
        f" {expected.checks:.2f} checks{noticed}."
    )
