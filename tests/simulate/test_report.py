"""What a simulation reports."""

from __future__ import annotations

import json
import math

import pytest

from pollwait import fixed
from pollwait.simulate import Batched, Comparison, Report, Run, compare, simulate


def run_of(
    *latencies: float, ready: float = 0.0, calls: tuple[float, ...] = (), seconds: float = 1.0
) -> Run:
    """Return a run with these latencies."""
    return Run(
        ready=(ready,) * len(latencies),
        latencies=latencies,
        calls=calls,
        checks=2 * len(latencies),
        throttles=1,
        seconds=seconds,
    )


@pytest.mark.parametrize(
    ("percent", "value"), [(0, 1.0), (10, 1.5), (25, 2.25), (50, 4.0), (75, 8.0), (100, 16.0)]
)
def test_percentile_reads_in_proportion_between_two_values(percent: float, value: float) -> None:
    """The first sorted value is at 0 percent, the last at 100, the others evenly between."""
    values = (16.0, 4.0, 1.0, 8.0, 2.25)
    assert Report("x", (run_of(*values),)).percentile(percent) == value


def test_percentile_of_one_wait_is_its_value() -> None:
    """There is nothing around it to read off."""
    assert Report("x", (run_of(3.0),)).percentile(99) == 3.0


def test_percentiles_are_averaged_over_the_runs() -> None:
    """Each run counts by itself: pooled, the median would be 2.5."""
    report = Report("x", (run_of(1.0, 2.0, 3.0), run_of(2.0, 9.0, 12.0)))
    assert report.percentile(50) == 5.5


def test_percentiles_may_be_of_overshoots_and_of_what_is_waited_for() -> None:
    """``of`` says which seconds are meant."""
    report = Report("x", (run_of(3.0, 4.0, ready=2.0),))
    assert report.percentile(50, "ready") == 2.0
    assert report.percentile(50, of="overshoot") == 1.5
    assert report.overshoots == (1.0, 2.0)
    assert report.overshoot == 1.5


def test_a_percentile_between_known_and_never_is_never() -> None:
    """Nothing lies in proportion between a number and infinity."""
    report = Report("x", (run_of(1.0, 2.0, math.inf),))
    assert report.percentile(50) == 2.0
    assert report.percentile(75) == math.inf


@pytest.mark.parametrize("percent", [-1, 101, math.nan])
def test_percentile_refuses_what_is_no_percent(percent: float) -> None:
    """A share is from 0 to 100."""
    with pytest.raises(ValueError, match="percent must be from 0 to 100"):
        Report("x", (run_of(1.0),)).percentile(percent)


def test_percentile_refuses_unknown_seconds() -> None:
    """``of`` names one of three."""
    with pytest.raises(ValueError, match="of must be 'latency', 'overshoot' or 'ready'"):
        Report("x", (run_of(1.0),)).percentile(50, of="x")  # type: ignore[arg-type]


def test_the_busiest_second_may_begin_anywhere() -> None:
    """Calls within less than a second count together, those a second apart do not."""
    assert run_of(1.0, calls=(0.0, 0.75, 1.25, 1.5, 1.625)).busiest_second == 4
    assert run_of(1.0, calls=(0.0, 1.0, 2.0)).busiest_second == 1
    assert run_of(1.0).busiest_second == 0


def test_figures_are_means_over_the_runs() -> None:
    """Counts are those of one run, and a rate is taken over at least a second."""
    report = Report(
        "x",
        (run_of(1.0, math.inf, calls=(0.0, 1.5), seconds=4.0), run_of(2.0, 4.0, calls=(0.0,) * 4)),
    )
    assert (report.calls, report.busiest_second, report.checks_per_wait) == (3, 4, 2)
    assert report.calls_per_second == (2 / 4 + 4) / 2
    assert (report.throttles, report.timeouts, report.waits) == (1, 0.5, 2)
    assert report.mean == (1 + 2 + 4) / 3
    short = Report("x", (run_of(1.0, calls=(0.0,) * 4, seconds=0.5),))
    assert short.calls_per_second == 4


def test_a_report_is_plain_data() -> None:
    """JSON can hold it, and what is infinite is null."""
    data = json.loads(json.dumps(Report("x", (run_of(1.0, math.inf),)).as_dict(), allow_nan=False))
    assert data["strategy"] == "x"
    assert (data["waits"], data["runs"], data["p10"], data["p99"]) == (2, 1, None, None)
    assert (data["mean"], data["timeouts"], data["checks_per_wait"]) == (1, 1, 2)


def test_a_report_reads_as_text() -> None:
    """The text shows the strategy, the percentiles and what it took."""
    text = str(simulate(1.625, fixed(0.5).after(1.25), waits=1, call_duration=0.125))
    assert text.splitlines() == [
        "fixed(0.5).after(1.25): 1 wait, 1 run",
        "latency    p10 2.00  p50 2.00  p90 2.00  p95 2.00  p99 2.00  mean 2.00",
        "overshoot  mean 0.375",
        "calls      2.0, 1.0 a second, 2 in the busiest",
        "checks     2.0 for each wait",
        "throttles  0.0",
        "timeouts   0.0",
    ]


def test_a_report_says_where_nothing_was_noticed() -> None:
    """What is infinite is shown in words."""
    text = str(Report("x", (run_of(math.inf), run_of(math.inf))))
    assert "1 wait, 2 runs" in text
    assert "p50 never" in text
    assert "overshoot  mean never" in text


def test_reports_show_briefly_what_they_are() -> None:
    """The full figures are left to ``str``."""
    report = Report("x", (run_of(1.0, 2.0),))
    assert repr(report) == "<Report x: 2 waits, 1 run>"
    assert repr(Comparison((report,))) == "<Comparison of x>"


def test_a_comparison_maps_names_to_reports() -> None:
    """Names are those given, in their order, or else the texts of the strategies."""
    found = compare(1.5, {"slow": fixed(8), "quick": Batched(fixed(1))}, waits=2)
    assert list(found) == ["slow", "quick"]
    assert len(found) == 2
    assert found["slow"].latencies == (8.0, 8.0)
    assert found["quick"].strategy == "quick"
    with pytest.raises(KeyError):
        found["fast"]
    listed = compare(1.5, [fixed(8), Batched(fixed(1))], waits=2)
    assert list(listed) == ["fixed(8)", "fixed(1), batched over 0.05 s"]
    assert found.as_dict()["slow"] == found["slow"].as_dict()


def test_a_comparison_reads_as_a_table() -> None:
    """One row for each strategy, whose columns line up."""
    lines = str(compare(1.5, {"a": fixed(1), "longer": fixed(8)}, waits=2)).splitlines()
    assert [line.split()[0] for line in lines] == ["p10", "a", "longer"]
    assert len({len(line) for line in lines}) == 1
