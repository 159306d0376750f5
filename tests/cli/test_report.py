"""The figures that the demo reports."""

from __future__ import annotations

import json

from pollwait.cli.demo.race import Noticed, Way
from pollwait.cli.demo.report import Figures, as_json, figures, legend, percentiles, sentence


def found():
    """Return figures of all ways, each different."""
    overshoots = {
        "botocore's waiter": 13.51234,
        "naive 1 s loop": 0.9,
        "pollwait, fitted": 0.3,
        "pollwait, shared": 0.4,
        "pollwait, by model": 0.35,
    }
    return [
        Figures(name, 1.0, 2.0, 3.0, 4.0, overshoot, 100 - 10 * place)
        for place, (name, overshoot) in enumerate(overshoots.items())
    ]


def test_figures_are_taken_from_the_notices():
    """Latency counts from the request, overshoot from ready; calls are those that were counted."""
    way = Way("pollwait", wait=len, calls=7)
    for index in range(101):
        way.noticed.append(Noticed("pollwait", 10.0, 11.0, 12.0 + index))
    assert figures(way) == Figures("pollwait", 12.0, 52.0, 92.0, 101.0, 51.0, 7)


def test_percentiles_of_one_value_are_that_value():
    """A demo of one volume has figures as well."""
    assert percentiles([2.5]) == [2.5] * 4


def test_sentence_says_what_the_figures_mean():
    """Each way is there with its overshoot and its calls."""
    assert sentence(found()) == (
        "On average botocore's waiter noticed a volume 13.5 s after it was ready"
        " (100 DescribeVolumes calls) and the 1 s loop 0.90 s (90 calls). With pollwait it was"
        " 0.30 s on a fitted schedule (80 calls), 0.40 s where the waits share calls (70), and"
        " 0.35 s where a latency model says when to call (60)."
    )


def test_sentence_finds_the_ways_by_name():
    """The order in which the ways were found does not matter."""
    ways = found()
    assert sentence(ways[::-1]) == sentence(ways)


def test_legend_says_what_each_way_is():
    """Each way has a line, in the order of the table."""
    lines = legend(found()).splitlines()
    assert [line.partition(":")[0] for line in lines] == [each.way for each in found()]
    assert lines[0] == "botocore's waiter: each wait looks at once and then every 15 s"


def test_json_holds_all_figures():
    """The JSON form survives a round trip and rounds seconds to milliseconds."""
    report = json.loads(json.dumps(as_json(found(), volumes=50, seed=3)))
    assert (report["volumes"], report["seed"]) == (50, 3)
    assert report["ways"][0] == {
        "way": "botocore's waiter",
        "p10": 1.0,
        "p50": 2.0,
        "p90": 3.0,
        "p99": 4.0,
        "mean_overshoot": 13.512,
        "describe_calls": 100,
    }
