"""The figures that the demo reports."""

from __future__ import annotations

import json

import pytest

from pollwait.cli.race import Noticed, Way
from pollwait.cli.report import Figures, as_json, figures, percentiles, sentence


def found(botocore, own, naive, *, calls=(20, 30, 40)):
    """Return the figures of three ways with these mean overshoots and calls."""
    names = ("botocore's waiter", "pollwait", "naive 1 s loop")
    overshoots = (botocore, own, naive)
    return [
        Figures(name, 1.0, 2.0, 3.0, 4.0, overshoot, count)
        for name, overshoot, count in zip(names, overshoots, calls, strict=True)
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


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        ((20, 30, 40), "25% fewer DescribeVolumes calls than"),
        ((20, 60, 40), "50% more DescribeVolumes calls than"),
        ((20, 41, 40), "as many DescribeVolumes calls as"),
    ],
)
def test_sentence_says_what_the_figures_mean(calls, text):
    """One sentence with the overshoots, how they compare, and what they cost in calls."""
    assert sentence(found(13.5, 0.45, 0.5, calls=calls)) == (
        "On average pollwait noticed a volume 0.45 s after it was ready, botocore's waiter 13.5 s"
        " (30 times as long) and the 1 s loop 0.50 s;"
        f" pollwait made {text} that loop."
    )


def test_sentence_finds_the_ways_by_name():
    """The order in which the ways were found does not matter."""
    ways = found(13.5, 0.45, 0.5)
    assert sentence(ways[::-1]) == sentence(ways)


def test_json_holds_all_figures():
    """The JSON form survives a round trip and rounds seconds to milliseconds."""
    report = json.loads(json.dumps(as_json(found(13.51234, 0.45, 0.5), volumes=50, seed=3)))
    assert (report["volumes"], report["seed"]) == (50, 3)
    assert report["ways"][0] == {
        "way": "botocore's waiter",
        "p10": 1.0,
        "p50": 2.0,
        "p90": 3.0,
        "p99": 4.0,
        "mean_overshoot": 13.512,
        "describe_calls": 20,
    }
