"""``pollwait demo``: real boto3 clients wait for real HTTP answers, in five ways side by side."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from .._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from ...testing.ec2 import EmbeddedEC2
    from .race import Noticed, Way
    from .report import Figures

MOST = 300  # volumes; each takes a thread per way
LINES = 4  # a plain log gets a line whenever another quarter of the notices has come in


def add_to(commands: Any) -> None:
    """Add the command to the parser's commands."""
    parser = commands.add_parser(
        "demo",
        help="wait for volumes of an embedded EC2 in five ways, and compare",
        description=(
            "Start an embedded EC2 on a loopback port, create volumes with boto3, and wait for all"
            " of them in five ways side by side: botocore's waiter, a naive loop, a poll each on a"
            " fitted schedule, pollwait's waiter, whose waits share calls, and a group that goes by"
            " a latency model. Takes about half a minute."
        ),
    )
    parser.add_argument("--volumes", type=_count, default=50, help="how many (default: 50)")
    parser.add_argument("--seed", type=int, default=1, help="replays the drawn times (default: 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object and no more")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the demo and print what it found."""
    console = _console(quiet=options.json)
    from . import race, report  # after what says which packages all of it needs

    with _server(options.seed) as ec2:
        contestants = race.ways(ec2, options.seed)
        console.print(
            f"An embedded EC2 listens on {ec2.endpoint_url}. Creating {options.volumes} volumes,"
            " each of which is ready 1 to 5 s after its request, and waiting for them in"
            f" {len(contestants)} ways."
        )
        notices = race.run(ec2, contestants, options.volumes, options.seed)
        _watch(console, notices, contestants, options.volumes)
        found = [report.figures(way) for way in contestants]
    if options.json:
        print(json.dumps(report.as_json(found, options.volumes, options.seed)))  # noqa: T201
    else:
        console.print(_table(found))
        console.print(report.legend(found), style="dim")
        console.print(report.sentence(found))
    return 0


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= MOST:
        raise argparse.ArgumentTypeError(f"must be a number from 1 to {MOST}: got {text!r}")
    return number


def _server(seed: int) -> EmbeddedEC2:
    from ...testing.ec2 import EmbeddedEC2

    try:
        return EmbeddedEC2(seed=seed)
    except RuntimeError as error:  # a setting of moto's in the environment
        raise UsageError(str(error)) from None


def _console(*, quiet: bool) -> Console:
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        raise ImportError(
            'the demo needs boto3, moto and rich: pip install "pollwait[demo]"'
        ) from None

    class Piped(Console):
        def on_broken_pipe(self) -> None:
            raise  # what rich was about to turn into an exit code of its own

    return Piped(quiet=quiet, highlight=False, soft_wrap=True)


def _watch(
    console: Console, notices: Iterable[Noticed], contestants: list[Way], volumes: int
) -> None:
    """Show how far each way has come, until all have noticed everything."""
    watch = _live if console.is_terminal and not console.quiet else _plain
    try:
        watch(console, notices, contestants, volumes)
    finally:
        console.show_cursor(True)  # rich does not, if interrupted while its display starts


def _live(
    console: Console, notices: Iterable[Noticed], contestants: list[Way], volumes: int
) -> None:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[calls]} calls"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        bars = {
            way.name: progress.add_task(way.name, total=volumes, calls=0) for way in contestants
        }
        for notice in notices:
            progress.advance(bars[notice.way])
            for way in contestants:
                progress.update(bars[way.name], calls=way.calls)


def _plain(
    console: Console, notices: Iterable[Noticed], contestants: list[Way], volumes: int
) -> None:
    total = volumes * len(contestants)
    for done, _ in enumerate(notices, start=1):
        if done * LINES // total > (done - 1) * LINES // total:
            counts = "; ".join(f"{way.name} {len(way.noticed)}" for way in contestants)
            console.print(f"noticed of {volumes}: {counts}")


def _table(found: list[Figures]) -> Any:
    from rich.table import Table

    table = Table(
        title="Seconds from request to notice; mean overshoot past ready; DescribeVolumes calls",
        title_justify="left",
    )
    table.add_column("way", no_wrap=True)
    for heading in ("p10", "p50", "p90", "p99", "overshoot", "calls"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in found:
        times = (each.p10, each.p50, each.p90, each.p99, each.mean_overshoot)
        table.add_row(each.way, *(f"{time:.2f}" for time in times), str(each.describe_calls))
    return table
