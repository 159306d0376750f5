"""Distributions: the numbers that they give, by table and by what must hold for any of them."""

from __future__ import annotations

import copy
import pickle
from datetime import timedelta
from math import exp, inf, isclose, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pollwait._core.distribution import Distribution, empirical

EVEN = Distribution((1.0, 3.0), (0.0, 1.0))
STEPS = Distribution((1.0, 1.0, 3.0, 3.0), (0.0, 0.25, 0.25, 1.0))
DECAY = Distribution((0.5,), (0.5,), 2.0)


@st.composite
def distributions(draw: st.DrawFn) -> Distribution:
    """Draw a distribution with slopes, steps, level parts and sometimes a tail."""
    size = draw(st.integers(1, 8))
    seconds = st.floats(0.0, 100.0).map(lambda time: round(time, 3))
    times = sorted(draw(st.lists(seconds, min_size=size, max_size=size)))
    shares = sorted(draw(st.lists(st.floats(0.0, 1.0), min_size=size, max_size=size)))
    return Distribution(times, shares, draw(st.floats(0.01, 50.0)))


@pytest.mark.parametrize(
    ("latency", "time", "ready", "lost"),
    [
        (EVEN, 0.5, 0.0, 0.0),
        (EVEN, 1.0, 0.0, 0.0),
        (EVEN, 1.5, 0.25, 0.0625),
        (EVEN, 3.0, 1.0, 1.0),
        (EVEN, 4.0, 1.0, 2.0),
        (STEPS, 0.75, 0.0, 0.0),
        (STEPS, 1.0, 0.25, 0.0),
        (STEPS, 2.0, 0.25, 0.25),
        (STEPS, 3.0, 1.0, 0.5),
        (STEPS, 5.0, 1.0, 2.5),
        (DECAY, 0.25, 0.0, 0.0),
        (DECAY, 0.5, 0.5, 0.0),
        (DECAY, 2.5, 1.0 - 0.5 * exp(-1.0), 2.0 - (1.0 - exp(-1.0))),
    ],
)
def test_distribution_tells_what_is_ready_and_lost(latency, time, ready, lost):
    """The share that is ready by a time, and the mean time since, are those of the knots."""
    assert latency.ready(time) == ready
    assert isclose(latency.lost(time), lost, abs_tol=1e-15)


@pytest.mark.parametrize(
    ("latency", "share", "time"),
    [
        (EVEN, 0.0, 1.0),
        (EVEN, 0.25, 1.5),
        (EVEN, 1.0, 3.0),
        (STEPS, 0.125, 1.0),
        (STEPS, 0.25, 1.0),
        (STEPS, 0.5, 3.0),
        (DECAY, 0.25, 0.5),
        (DECAY, 1.0, inf),
    ],
)
def test_distribution_quantile_is_the_earliest_time(latency, share, time):
    """A quantile is the earliest time by which a share is ready."""
    assert latency.quantile(share) == time


@pytest.mark.parametrize(("latency", "mean"), [(EVEN, 2.0), (STEPS, 2.5), (DECAY, 1.5)])
def test_distribution_mean(latency, mean):
    """The mean counts slopes, steps and the tail."""
    assert latency.mean == mean


@given(distributions(), st.floats(0.0, 300.0), st.floats(0.0, 300.0))
def test_distribution_is_consistent(latency, one, other):
    """Shares grow with time, lost time is their integral, and quantiles invert them."""
    early, late = sorted((one, other))
    assert 0.0 <= latency.ready(early) <= latency.ready(late) <= 1.0
    grown = latency.lost(late) - latency.lost(early)
    slack = 1e-9 * (1.0 + late)
    assert latency.ready(early) * (late - early) - slack <= grown
    assert grown <= latency.ready(late) * (late - early) + slack
    assert isclose(latency.lost(1e6), 1e6 - latency.mean, rel_tol=1e-9)
    share = min(one / 300.0, 0.999)
    assert latency.ready(latency.quantile(share) + 1e-9) >= share - 1e-9


def test_empirical_distribution_is_that_of_the_times():
    """Each of some times is a step of equal height; two equal times are one of twice that."""
    latency = empirical([3.0, 1.0, 3.0, 2.0])
    assert [latency.ready(time) for time in (0.5, 1.0, 2.5, 3.0)] == [0.0, 0.25, 0.5, 1.0]
    assert latency.mean == 2.25


def test_distribution_is_a_value():
    """Equal knots make equal values, which travel by pickle and copy, in any units of time."""
    same = Distribution([timedelta(seconds=1), 3], [0, 1])
    assert same == EVEN
    assert hash(same) == hash(EVEN)
    assert repr(EVEN) == "Distribution(times=(1.0, 3.0), shares=(0.0, 1.0), tail=0.0)"
    for twin in (pickle.loads(pickle.dumps(DECAY)), copy.copy(DECAY), copy.deepcopy(DECAY)):
        assert twin == DECAY
        assert twin.lost(2.5) == DECAY.lost(2.5)


def test_distribution_that_ends_has_no_tail():
    """A tail that nothing is left for is no part of the value."""
    assert Distribution((1.0,), (1.0,), 5.0) == Distribution((1.0,), (1.0,))


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        (((), ()), ValueError, "at least one: got 0 times, 0 shares"),
        (((1.0, 2.0), (1.0,)), ValueError, "equally many, at least one: got 2 times, 1 shares"),
        (((2.0, 1.0), (0.0, 1.0)), ValueError, "times must not fall: got 1.0 after 2.0"),
        (((1.0, 2.0), (1.0, 0.5)), ValueError, "shares must not fall: got 0.5 after 1.0"),
        (((nan,), (1.0,)), ValueError, "time must be finite and >= 0 seconds: got time=nan"),
        (((-1.0,), (1.0,)), ValueError, "time must be finite and >= 0 seconds: got time=-1.0"),
        (((1.0,), (1.5,)), ValueError, "share must be from 0 to 1: got share=1.5"),
        (((1.0,), (True,)), TypeError, "share must be a number from 0 to 1: got share=True"),
        (((1.0,), (0.5,)), ValueError, "tail must be > 0 where the last share is below 1"),
        (((1.0,), (0.5,), -1.0), ValueError, "tail must be finite and >= 0 seconds"),
    ],
)
def test_distribution_refuses_what_is_none(arguments: Any, kind, message):
    """Knots out of range or out of order are errors that name them."""
    with pytest.raises(kind) as raised:
        Distribution(*arguments)
    assert message in str(raised.value)


@pytest.mark.parametrize("share", [-0.1, 1.1, nan])
def test_distribution_quantile_refuses_what_is_no_share(share):
    """A share outside 0 to 1 has no quantile."""
    with pytest.raises(ValueError, match="share must be from 0 to 1: got share="):
        EVEN.quantile(share)
