"""What came of a simulation: figures, and text and plain data of them."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from .._core.duration import real

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PERCENTILES = (10, 50, 90, 95, 99)

_HEADER = (
    "",
    *(f"p{percent}" for percent in PERCENTILES),
    "mean",
    "overshoot",
    "calls",
    "in 1 s",
    "checks",
    "throttles",
    "timeouts",
)


@dataclass(frozen=True, slots=True)
class Run:
    """What came of one run. The waits are in the order of their arrival; times are in seconds.

    Attributes:
        ready: for each wait, from its arrival until it was ready.
        latencies: for each wait, from its arrival until it was noticed; infinite if it never was.
        calls: when each call started, those that were throttled included.
        checks: how many keys all calls carried.
        throttles: how many calls were throttled.
        seconds: from the first arrival to the end of the last wait.
    """

    ready: tuple[float, ...]
    latencies: tuple[float, ...]
    calls: tuple[float, ...]
    checks: int
    throttles: int
    seconds: float

    @property
    def overshoots(self) -> tuple[float, ...]:
        """For each wait, from ready to noticed; infinite if it never was."""
        return tuple(late - ready for late, ready in zip(self.latencies, self.ready, strict=True))

    @property
    def busiest_second(self) -> int:
        """The most calls that started within one second, wherever that second begins."""
        starts = self.calls
        return max(
            (bisect_left(starts, at + 1.0) - index for index, at in enumerate(starts)), default=0
        )


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a strategy: its runs, and figures over them.

    A figure is the mean over the runs, save where it says otherwise: each run is what somebody
    would see who does it once. ``str`` shows the most important ones.

    Attributes:
        strategy: its name.
        runs: what came of each run.
    """

    strategy: str
    runs: tuple[Run, ...]

    @property
    def waits(self) -> int:
        """How many waits each run has."""
        return len(self.runs[0].latencies)

    @property
    def latencies(self) -> tuple[float, ...]:
        """From arrival to noticed, for each wait of all runs; infinite if never noticed."""
        return tuple(each for run in self.runs for each in run.latencies)

    @property
    def overshoots(self) -> tuple[float, ...]:
        """From ready to noticed, for each wait of all runs; infinite if never noticed."""
        return tuple(each for run in self.runs for each in run.overshoots)

    def percentile(
        self, percent: float, of: Literal["latency", "overshoot", "ready"] = "latency"
    ) -> float:
        """Return the seconds that so many percent of the waits stay below.

        In each run it is read off between the two values around it, in proportion: of ``n`` sorted
        values the first stands for 0 percent and the last for 100, and the others in equal steps
        between. The percentiles of the runs are then averaged. A wait that was never noticed
        counts as infinitely late.

        Args:
            percent: from 0 to 100.
            of: ``"latency"``, from arrival to noticed; ``"overshoot"``, from ready to noticed; or
                ``"ready"``, from arrival to ready, which no strategy can beat.

        Raises:
            TypeError, ValueError: an argument is not as above.
        """
        share = real(percent, "percent", "a number from 0 to 100") / 100
        if not 0 <= share <= 1:
            raise ValueError(f"percent must be from 0 to 100: got percent={percent!r}")
        return fmean(_quantile(_values(run, of), share) for run in self.runs)

    @property
    def mean(self) -> float:
        """The mean seconds from arrival to noticed, of the waits that were noticed."""
        return _mean([each for each in self.latencies if each < math.inf])

    @property
    def overshoot(self) -> float:
        """The mean seconds from ready to noticed, of the waits that were noticed."""
        return _mean([each for each in self.overshoots if each < math.inf])

    @property
    def calls(self) -> float:
        """Calls of a run, those that were throttled included."""
        return fmean(len(run.calls) for run in self.runs)

    @property
    def calls_per_second(self) -> float:
        """Calls divided by the seconds from the first arrival to the last end, at least one."""
        return fmean(len(run.calls) / max(1.0, run.seconds) for run in self.runs)

    @property
    def busiest_second(self) -> int:
        """The most calls that started within one second, in all runs."""
        return max(run.busiest_second for run in self.runs)

    @property
    def checks_per_wait(self) -> float:
        """How many calls asked for a wait, on average."""
        return fmean(run.checks for run in self.runs) / self.waits

    @property
    def throttles(self) -> float:
        """Calls of a run that were throttled."""
        return fmean(run.throttles for run in self.runs)

    @property
    def timeouts(self) -> float:
        """Waits of a run that ended unnoticed, at their timeout or with their schedule."""
        return fmean(run.latencies.count(math.inf) for run in self.runs)

    def as_dict(self) -> dict[str, object]:
        """Return the figures as plain data that JSON can hold; None stands for infinite."""
        percentiles = {f"p{percent}": self.percentile(percent) for percent in PERCENTILES}
        figures = {
            **percentiles,
            "mean": self.mean,
            "overshoot": self.overshoot,
            "calls": self.calls,
            "calls_per_second": self.calls_per_second,
            "busiest_second": self.busiest_second,
            "checks_per_wait": self.checks_per_wait,
            "throttles": self.throttles,
            "timeouts": self.timeouts,
        }
        finite = {
            name: figure if math.isfinite(figure) else None for name, figure in figures.items()
        }
        return {"strategy": self.strategy, "waits": self.waits, "runs": len(self.runs), **finite}

    def __str__(self) -> str:
        latency = "  ".join(f"p{each} {_seconds(self.percentile(each))}" for each in PERCENTILES)
        return "\n".join(
            [
                f"{self.strategy}: {_count(self.waits, 'wait')}, {_count(len(self.runs), 'run')}",
                f"latency    {latency}  mean {_seconds(self.mean)}",
                f"overshoot  mean {_seconds(self.overshoot, 3)}",
                f"calls      {self.calls:,.1f}, {self.calls_per_second:,.1f} a second,"
                f" {self.busiest_second:,} in the busiest",
                f"checks     {self.checks_per_wait:.1f} for each wait",
                f"throttles  {self.throttles:,.1f}",
                f"timeouts   {self.timeouts:,.1f}",
            ]
        )

    def __repr__(self) -> str:
        return f"<Report {str(self).splitlines()[0]}>"


@dataclass(frozen=True, slots=True)
class Comparison(Mapping[str, Report]):
    """The reports of several strategies by name, as a mapping. ``str`` lays them out as a table.

    Attributes:
        reports: the reports in their order.
    """

    reports: tuple[Report, ...]

    def __getitem__(self, name: str) -> Report:
        for report in self.reports:
            if report.strategy == name:
                return report
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (report.strategy for report in self.reports)

    def __len__(self) -> int:
        return len(self.reports)

    def as_dict(self) -> dict[str, dict[str, object]]:
        """Return the figures of all as plain data that JSON can hold."""
        return {report.strategy: report.as_dict() for report in self.reports}

    def __str__(self) -> str:
        lines = [_HEADER, *((report.strategy, *_cells(report)) for report in self.reports)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.rjust(width) if column else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self)}>"


def _seconds(value: float, digits: int = 2) -> str:
    """Return seconds as text."""
    return f"{value:.{digits}f}" if value < math.inf else "never"


def _cells(report: Report) -> tuple[str, ...]:
    """Return the figures as text, under ``_HEADER``."""
    return (
        *(_seconds(report.percentile(each)) for each in PERCENTILES),
        _seconds(report.mean),
        _seconds(report.overshoot, 3),
        f"{report.calls:,.1f}",
        f"{report.busiest_second:,}",
        f"{report.checks_per_wait:.1f}",
        f"{report.throttles:,.1f}",
        f"{report.timeouts:,.1f}",
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _values(run: Run, of: str) -> Sequence[float]:
    if of == "latency":
        return run.latencies
    if of == "overshoot":
        return run.overshoots
    if of == "ready":
        return run.ready
    raise ValueError(f"of must be 'latency', 'overshoot' or 'ready': got of={of!r}")


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    part = place - low
    if not part:
        return ordered[low]
    return ordered[low] * (1 - part) + ordered[low + 1] * part


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else math.inf
