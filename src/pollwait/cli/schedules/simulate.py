"""``pollwait simulate``: ways of waiting side by side, by the shipped code on virtual time."""

from __future__ import annotations

import argparse
import json
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Any

from ..._core.schedule import DEFAULT
from ..._errors import ClockStalled
from .. import _arguments
from .._errors import UsageError
from .._exit_codes import READY
from . import options, scenario
from .tables import plain, seconds, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..._core.distribution import Distribution
    from ..._core.latency import Latency
    from ..._core.schedule import Schedule
    from ..._simulate.strategies import Strategy
    from ...simulate import Comparison, Report
    from .samples import Samples

CALL_COSTS = (0.25, 0.5, 1.0, 2.0)
FITTED = 3.0  # checks, for which a schedule is fitted if none is given

_PERCENTILES = (50, 90, 99)
_COUNTS = ("calls", "calls/s", "in 1 s", "throttles", "timeouts")
_LONGEST_NAME = 40
_BEAT = 0.25  # seconds after which Ctrl-C is noticed at the latest

_DESCRIPTION = (
    "Simulate many waits in several ways: each by itself, with their checks merged by a Batcher,"
    " and in a PollGroup, by schedule and by the latency itself at several costs of a call. The"
    " shipped code runs on virtual time, against a service that gets things ready as fast as the"
    " latencies say. The table has percentiles of the seconds from the beginning of a wait until it"
    " notices, the mean overshoot (from ready to noticed), and the calls that this took."
)
_EPILOG = (
    f"{options.FILES} Durations are seconds, or such as 45s, 2m and 1h30m. All figures are means"
    " over the runs, but for the most calls within a second, 'in 1 s'."
)


def add_to(commands: Any) -> None:
    """Add the command to the parser's commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "simulate",
        help="compare ways of waiting, on virtual time",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    options.add_latency(parser, required=True)
    _add_ways(parser)
    scenario.add_to(parser)
    options.add_outputs(parser)
    parser.set_defaults(run=run)


def _add_ways(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--schedule",
        metavar="SCHEDULE",
        nargs="+",
        action="extend",
        type=_arguments.schedule,
        default=[],
        help="schedules to wait by (default: that of a wait that names none, and one fitted to"
        f" {FITTED:g} checks)",
    )
    parser.add_argument(
        "--call-cost",
        metavar="SECONDS",
        nargs="+",
        action="extend",
        type=options.number(0.0, above=True),
        default=[],
        help="how many seconds of waiting, summed over all waits, a call is worth to a group that"
        f" goes by the latency (default: {' '.join(f'{cost:g}' for cost in CALL_COSTS)})",
    )
    parser.add_argument(
        "--min-gap",
        metavar="DURATION",
        type=_arguments.duration,
        help="the least time between two calls of a group (default: that of PollGroup)",
    )
    parser.add_argument(
        "--max-delay",
        metavar="DURATION",
        type=_arguments.duration,
        help="how long a call of a Batcher waits for more (default: that of Batcher)",
    )


def run(asked: argparse.Namespace) -> int:
    """Print what came of the simulations."""
    if asked.plot:
        from . import plot

        plot.check()
    latency, samples = options.latency(asked)
    assert latency is not None  # one of the two is required
    known = latency if samples is None else samples.listed
    try:
        schedules = _schedules(asked, known)
        reports = _reports(asked, latency, _strategies(asked, known, schedules))
    except (ValueError, ClockStalled) as error:
        raise UsageError(str(error)) from None
    if asked.plot:
        from .plot_simulate import draw

        draw(asked.plot, reports)
    if asked.json:
        print(json.dumps(_as_json(asked, samples, schedules, reports)))  # noqa: T201
    else:
        print("\n\n".join(_text(asked, samples, schedules, reports)))  # noqa: T201
    return READY


def _schedules(asked: argparse.Namespace, known: Latency) -> dict[str, Schedule]:
    """Return the schedules to wait by; long ones have short names."""
    if asked.schedule:
        return {
            text if len(text := str(each)) <= _LONGEST_NAME else f"schedule {number}": each
            for number, each in enumerate(asked.schedule, start=1)
        }
    from ..._core.fit import fit

    look = {"check_duration": asked.call_duration, "sees_at": asked.sees_at}
    fitted = fit(known, max_checks=FITTED, **look).schedule
    return {"default": DEFAULT, f"fitted to {FITTED:g} checks": fitted}


def _strategies(
    asked: argparse.Namespace, known: Latency, schedules: dict[str, Schedule]
) -> dict[str, Strategy]:
    """Return all ways of waiting by name."""
    from ...simulate import Batched, Grouped, Single

    window = {} if asked.max_delay is None else {"max_delay": asked.max_delay}
    ways: dict[str, Strategy] = {}
    for name, schedule in schedules.items():
        ways[f"single, {name}"] = Single(schedule)
        ways[f"batched, {name}"] = Batched(schedule, **window)
        ways[f"grouped, {name}"] = Grouped(schedule, min_gap=asked.min_gap)
    for cost in asked.call_cost or CALL_COSTS:
        ways[f"grouped, call cost {cost:g}"] = Grouped(
            latency=known, call_cost=cost, min_gap=asked.min_gap
        )
    return ways


def _reports(
    asked: argparse.Namespace, latency: Distribution, ways: dict[str, Strategy]
) -> list[Report]:
    from ...simulate import compare
    from .bar import bar

    reports: list[Report] = []
    with bar(len(ways)) as begin:
        for name, way in ways.items():
            begin(name)
            work = partial(
                compare,
                latency,
                {name: way},
                waits=asked.waits,
                arrivals=asked.arrivals,
                call_duration=asked.call_duration,
                sees_at=asked.sees_at,
                max_size=asked.max_size,
                bucket=asked.bucket,
                timeout=asked.timeout,
                runs=asked.runs,
                seed=asked.seed,
            )
            reports += _aside(work).reports
    return reports


def _aside(work: Callable[[], Comparison]) -> Comparison:
    """Do some work in another thread, and return what comes of it.

    An event loop into which Ctrl-C breaks may lose a callback, and then cannot wind up in peace. So
    it breaks into nothing but the join here, and the thread ends with the process.
    """
    outcome: Future[Comparison] = Future()

    def run() -> None:
        try:
            outcome.set_result(work())
        except BaseException as error:
            outcome.set_exception(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_BEAT)
    return outcome.result()


def _text(
    asked: argparse.Namespace,
    samples: Samples | None,
    schedules: dict[str, Schedule],
    reports: list[Report],
) -> Iterator[str]:
    """Yield the parts of the text."""
    if samples is not None:
        yield str(samples)
    header = [f"p{percent}" for percent in _PERCENTILES]
    yield table(("", *header, "overshoot", *_COUNTS), map(_row, reports))
    named = [f"{name}:\n  {each}" for name, each in schedules.items() if name != str(each)]
    if named:
        yield "\n".join(named)
    runs = "1 run" if asked.runs == 1 else f"{asked.runs:,} runs"
    yield f"{runs} of {asked.waits:,} waits each; seed {asked.seed} replays them."


def _row(report: Report) -> tuple[str, ...]:
    return (
        report.strategy,
        *(seconds(report.percentile(percent)) for percent in _PERCENTILES),
        seconds(report.overshoot),
        f"{report.calls:,.1f}",
        f"{report.calls_per_second:,.2f}",
        f"{report.busiest_second:,}",
        f"{report.throttles:,.1f}",
        f"{report.timeouts:,.1f}",
    )


def _as_json(
    asked: argparse.Namespace,
    samples: Samples | None,
    schedules: dict[str, Schedule],
    reports: list[Report],
) -> dict[str, object]:
    """Return everything as plain data."""
    return {
        "samples": samples and samples.as_json(),
        "seed": asked.seed,
        "schedules": {name: str(schedule) for name, schedule in schedules.items()},
        "strategies": [
            {
                name: plain(value) if isinstance(value, float) else value
                for name, value in report.as_dict().items()
            }
            for report in reports
        ],
    }
