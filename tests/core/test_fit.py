"""Fitted schedules: against theory, against brute force, and against all other schedules."""

from __future__ import annotations

import pickle
import random
from itertools import accumulate, combinations, islice, pairwise
from math import exp, expm1, inf, isclose, nan
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pollwait._core.distribution import Distribution
from pollwait._core.evaluate import Evaluation, evaluate
from pollwait._core.fit import Fit, fit
from pollwait._core.latency import LatencyModel
from pollwait._core.schedule import Schedule, exponential, fixed, linear

EVEN = Distribution((0.0, 1.0), (0.0, 1.0))
DECAY = Distribution((0.0,), (0.0,), 1.0)
VOLUMES = Distribution(
    (0.938, 1.235, 1.41, 1.674, 2.021, 4.108, 4.912), (0.0, 0.1, 0.5, 0.9, 0.95, 0.985, 1.0)
)
TWO_KINDS = Distribution((1.0, 1.2, 7.0, 8.0), (0.0, 0.6, 0.6, 1.0))

# The schedule to which a driver for volumes was tuned by hand.
BY_HAND = exponential(0.5, factor=1.5).after(1.25)


def price(found: Fit | Evaluation, check_cost: float) -> float:
    """Return what a schedule costs in all."""
    return found.overshoot + check_cost * found.checks


def drawn(count: int, seed: int = 1, latency: Distribution = VOLUMES) -> list[float]:
    """Return random times."""
    rng = random.Random(seed)
    return [latency.quantile(rng.random()) for _ in range(count)]


@pytest.mark.parametrize("cost", [0.001, 0.01, 0.1, 1.0, 10.0])
def test_fit_to_decay_looks_at_one_interval(cost):
    """What decays is best looked at periodically; the interval x solves exp(x) - x = 1 + cost."""
    interval = 1.0
    for _ in range(100):
        interval -= (exp(interval) - interval - 1.0 - cost) / expm1(interval)
    best = price(evaluate(fixed(interval).after(interval), DECAY), cost)
    found = fit(DECAY, check_cost=cost)
    assert isclose(found.schedule.initial_delay, interval, rel_tol=0.02)
    assert best * (1 - 1e-9) <= price(found, cost) < best * 1.01


@pytest.mark.parametrize("cost", [0.001, 0.01, 0.1, 0.3, 1.0])
def test_fit_to_even_chances_looks_ever_sooner(cost):
    """Each interval is shorter than the one before by the cost of a look, and the last one is > 0.

    Source: Barlow, Hunter and Proschan, 1963: n looks are at ``k / n + k (n - k) cost / 2``, for
    the largest n that leaves them in order.
    """
    plans = []
    for count in range(1, 60):
        looks = [at / count + at * (count - at) * cost / 2 for at in range(1, count + 1)]
        if all(before < after for before, after in pairwise([0.0, *looks])):
            gaps = pairwise(looks)
            late = looks[0] + sum((cost + after - before) * (1 - before) for before, after in gaps)
            plans.append(late + cost - 0.5)
    found = fit(EVEN, check_cost=cost)
    assert min(plans) * (1 - 1e-9) <= price(found, cost) < min(plans) * 1.002


def test_fit_is_not_bound_to_a_grid():
    """Over a wide range, too, looks are where theory has them."""
    found = fit(Distribution((0.0, 600.0), (0.0, 1.0)), check_cost=7.0)
    looks = accumulate(found.schedule.delays(), initial=found.schedule.initial_delay)
    best = [at * 600 / 13 + at * (13 - at) * 3.5 for at in range(1, 14)]
    assert all(isclose(look, place, abs_tol=0.05) for place, look in zip(best, looks, strict=False))


@pytest.mark.parametrize("cost", [0.02, 0.05, 0.2, 0.7])
@pytest.mark.parametrize("latency", [VOLUMES, TWO_KINDS], ids=["volumes", "two kinds"])
def test_fit_agrees_with_brute_force(latency, cost):
    """No choice of looks on a coarse grid is better, of all the choices that there are."""
    end = latency.times[-1]
    grid = [end * at / 12 for at in range(1, 13)]
    best = inf
    for count in range(1, 13):
        for chosen in combinations(grid[:-1], count - 1):
            looks = [*chosen, end]
            late = looks[0] - latency.mean
            for before, after in pairwise(looks):
                late += (1 - latency.ready(before)) * (after - before + cost)
            best = min(best, late + cost)
    assert price(fit(latency, check_cost=cost), cost) <= best * 1.001


@pytest.mark.parametrize("most", [1.1, 1.5, 1.8, 2.0, 2.5, 3.0, 5.0, 10.0, 30.0])
def test_fit_uses_the_checks_that_it_may(most):
    """The expected checks stay within the limit, and near it."""
    found = fit(VOLUMES, max_checks=most)
    assert 0.99 * most < found.checks <= most


def test_fit_fills_the_jumps_between_numbers_of_looks():
    """Where one look more would be too much, those that there are move up to the limit."""
    found = fit(drawn(2000, seed=16), max_checks=2.02)
    assert 0.99 * 2.02 < found.checks <= 2.02


def test_fit_beats_what_was_tuned_by_hand():
    """With no more checks than a published schedule makes, overshoot is 0.37 of its own."""
    by_hand = evaluate(BY_HAND, VOLUMES)
    found = fit(VOLUMES, max_checks=by_hand.checks)
    assert found.checks <= by_hand.checks
    assert found.overshoot < 0.37 * by_hand.overshoot


def test_fit_knows_that_checks_take_time():
    """Where a check takes 0.141 s, of which half is lost anyway, little more can be gained."""
    options: dict[str, float] = {"check_duration": 0.141, "sees_at": 0.5}
    by_hand = evaluate(BY_HAND, VOLUMES, **options)
    found = fit(VOLUMES, max_checks=by_hand.checks, **options)
    assert found.checks <= by_hand.checks
    assert found.overshoot < 0.475 * by_hand.overshoot
    assert evaluate(found.schedule, VOLUMES, **options) == Evaluation(found.overshoot, found.checks)


@pytest.mark.parametrize(("count", "worse"), [(300, 1.25), (2000, 1.06)])
def test_fit_to_samples_is_nearly_the_best(count, worse):
    """Some hundred samples suffice: on all waits to come the schedule is nearly the best one."""
    by_hand = evaluate(BY_HAND, VOLUMES)
    best = fit(VOLUMES, max_checks=by_hand.checks)
    for seed in range(3):
        found = fit(drawn(count, seed), max_checks=by_hand.checks)
        real = evaluate(found.schedule, VOLUMES)
        assert real.checks < 1.04 * by_hand.checks
        assert real.overshoot < worse * best.overshoot


def test_fit_tells_what_evaluate_tells():
    """The figures of a fit are those of its schedule and the samples themselves."""
    samples = drawn(500)
    found = fit(samples, max_checks=2.5)
    assert found.checks <= 2.5
    assert evaluate(found.schedule, samples) == Evaluation(found.overshoot, found.checks)
    model = LatencyModel(samples)
    found = fit(model, check_cost=0.1)
    assert evaluate(found.schedule, model) == Evaluation(found.overshoot, found.checks)


def test_fit_learns_from_intervals():
    """What pollers saw, at times that differ, leads to nearly the same schedule as exact times."""
    rng = random.Random(2)
    seen: list[Any] = []
    for time in drawn(2000):
        look = rng.uniform(0.0, 0.5)
        while look + 0.5 < time:
            look += 0.5
        seen.append((look, look + 0.5))
    best = fit(VOLUMES, max_checks=2.0)
    real = evaluate(fit(seen, max_checks=2.0).schedule, VOLUMES)
    assert real.checks < 2.1
    assert real.overshoot < 1.3 * best.overshoot


@st.composite
def latencies(draw: st.DrawFn) -> Distribution:
    """Draw a distribution, sometimes with a tail."""
    size = draw(st.integers(2, 6))
    hundredths = st.integers(0, 500).map(lambda number: number / 100)
    times = sorted(draw(st.lists(hundredths, min_size=size, max_size=size)))
    percents = st.integers(0, 100).map(lambda number: number / 100)
    shares = sorted(draw(st.lists(percents, min_size=size, max_size=size)))
    if draw(st.booleans()):
        shares[-1] = 1.0
    return Distribution(times, shares, draw(st.sampled_from([0.25, 1.0, 4.0])))


OTHERS = [
    *[fixed(interval).after(start) for interval in (0.1, 0.5, 2) for start in (0, 1)],
    *[exponential(0.1, factor=factor).after(start) for factor in (1.1, 1.5, 2) for start in (0, 1)],
    linear(0.1, step=0.2),
]


@settings(max_examples=40)
@given(latencies(), st.sampled_from([0.02, 0.2, 1.0]), st.sampled_from([0.0, 0.25]))
def test_fit_is_never_worse_than_another_schedule(latency, cost, duration):
    """At its own price of a check, no fixed or growing schedule costs less."""
    found = price(fit(latency, check_cost=cost, check_duration=duration), cost)
    others = [evaluate(schedule, latency, check_duration=duration) for schedule in OTHERS]
    assert found <= min(price(other, cost) for other in others) * 1.003 + 0.001


@settings(max_examples=30)
@given(latencies(), st.sampled_from(OTHERS))
def test_fit_is_never_worse_at_as_many_checks(latency, schedule):
    """Allowed the checks of a fixed or growing schedule, it is no later, but for a hair."""
    other = evaluate(schedule, latency)
    found = fit(latency, max_checks=other.checks)
    assert found.checks <= other.checks
    assert found.overshoot <= other.overshoot * 1.02 + 0.002


@given(
    st.lists(st.floats(0.0, 1e4), min_size=1, max_size=20),
    st.sampled_from([{"max_checks": 1}, {"max_checks": 3}, {"check_cost": 0.1}]),
    st.sampled_from([0.0, 0.5]),
)
def test_fit_makes_a_schedule_of_any_samples(samples, limit, duration):
    """Whatever the samples, the schedule never ends, and its text is short enough to be read."""
    found = fit(samples, **limit, check_duration=duration)
    assert not found.schedule.ends
    assert Schedule.parse(str(found.schedule)) == found.schedule
    assert found.checks <= limit.get("max_checks", inf)
    assert 0.0 <= found.overshoot < inf


@pytest.mark.parametrize("most", [1, 50, 1e6])
def test_fit_text_can_be_read_back(most):
    """However many checks there may be, the schedule is one that ``Schedule.parse`` reads."""
    found = fit(drawn(2000), max_checks=most)
    assert Schedule.parse(str(found.schedule)) == found.schedule


@pytest.mark.parametrize("most", [50, 100, 200, 400, 1000, 1e5])
def test_fit_of_very_many_checks_is_still_the_best(most):
    """The more checks there may be, the less is any of them wasted.

    Gaps in proportion to sqrt(G / f) lose 2/9 of what is even, where equal gaps lose 1/4; in what
    decays they are equal, and lose half of its mean.
    """
    even = fit(Distribution((0.0, 600.0), (0.0, 1.0)), max_checks=most)
    assert most * 0.975 < even.checks <= most
    assert even.overshoot * even.checks < 600 * 2 / 9 * 1.02
    decay = fit(Distribution((0.0,), (0.0,), 60.0), max_checks=most)
    assert most * 0.999 < decay.checks <= most
    assert decay.overshoot * decay.checks < 30 * 1.025


@pytest.mark.parametrize("most", [100, 200, 400])
def test_fit_of_many_checks_beats_plain_schedules_on_samples(most):
    """Over times of several magnitudes, too, no growing schedule of as many checks is sooner."""
    rng = random.Random(1)
    samples = [rng.lognormvariate(0, 1.5) for _ in range(2000)]
    found = fit(samples, max_checks=most)
    assert found.checks <= most
    for schedule in [exponential(0.7 * sum(samples) / 2000 / most, factor=1.003), fixed(1 / most)]:
        other = evaluate(schedule, samples)
        assert found.overshoot * found.checks < other.overshoot * other.checks


def test_fit_at_a_tiny_price_looks_as_often_as_it_pays():
    """A price at which thousands of checks pay is met as well as any other."""
    cost, even = 1e-6, Distribution((0.0, 600.0), (0.0, 1.0))
    least = 2 * (600 * 2 / 9 * cost) ** 0.5
    assert least * 0.999 < price(fit(even, check_cost=cost), cost) < least * 1.001


@pytest.mark.parametrize(
    ("samples", "options"),
    [
        ([1, 2, 3], {"check_cost": 1e308}),
        ([1, 2, 3], {"check_cost": 1e-300}),
        ([1, 2, 3], {"max_checks": 1e300}),
        ([1e-300, 1e-308], {"max_checks": 3}),
        (Distribution((1, 2), (0, 0.9), 1e-300), {"max_checks": 3}),
        (Distribution((1, 2), (0, 0.9), 1e-300), {"check_cost": 0.1}),
        (Distribution((1, 2), (0, 0.9), 1e9), {"check_cost": 1e-9}),
        (Distribution((0,), (0,), 1e-3), {"check_cost": 1e9}),
        (Distribution((1e-300, 2e-300), (0, 1)), {"max_checks": 3}),
        (Distribution((0.0,), (1.0,)), {"max_checks": 50}),
        (Distribution((0, 1000), (0, 1)), {"check_cost": 1e-9, "check_duration": 1}),
        (Distribution((0, 1e-6, 1), (0, 0.9, 1)), {"max_checks": 40}),
        (Distribution((0, 0, 100, 100), (0, 0.5, 0.5, 1)), {"max_checks": 100}),
    ],
)
def test_fit_bears_extremes(samples, options):
    """Numbers of any magnitude that are accepted lead to a schedule that can be read back."""
    found = fit(samples, **options)
    assert Schedule.parse(str(found.schedule)) == found.schedule
    assert found.checks <= options.get("max_checks", inf)


def test_fit_of_one_check_waits_for_the_last():
    """If one check is all there is, it comes when everything like what was seen is ready."""
    samples = drawn(300)
    found = fit(samples, max_checks=1)
    assert found.checks == 1.0
    assert max(samples) <= found.schedule.initial_delay < 1.2 * max(samples)
    assert fit(EVEN, max_checks=1).schedule.initial_delay == 1.0


def test_fit_backs_off_beyond_what_was_seen():
    """After the last of the samples delays grow for ever, from a readable start."""
    samples = drawn(1000)
    schedule = fit(samples, max_checks=2).schedule
    assert str(schedule).startswith("(sequence(0.")
    assert "+ exponential(0." in str(schedule)
    assert ", factor=1.5)).after(1." in str(schedule)
    delays = list(islice(schedule.delays(), 30))
    assert all(isclose(after, 1.5 * before) for before, after in pairwise(delays[-10:]))
    passed = schedule.initial_delay + sum(delays[: str(schedule).count(",")])
    assert 1.0 <= passed / max(samples) < 1.1
    assert all(round(delay, 3) == delay for delay in delays[:5])


def test_fit_backs_off_from_no_less_than_is_reasonable():
    """If something takes longer than is possible, it is not asked for a thousand times at once."""
    found = fit(VOLUMES, max_checks=10)
    start = float(str(found.schedule).partition("exponential(")[2].partition(",")[0])
    assert 0.02 < start < 0.5


def test_fit_does_not_look_just_behind_samples():
    """Times that were rounded stand for what is around them, too."""
    found = fit([1.0] * 500 + [1.5] * 500, max_checks=2.0)
    assert found.schedule.initial_delay > 1.01


def test_fit_looks_near_to_what_was_seen_often():
    """A time that was seen again and again is met nearly at once."""
    found = fit([2.0] * 150 + [60.0] * 150, max_checks=1.5)
    assert found.checks == 1.0
    assert 60.0 < found.schedule.initial_delay < 61.0


def test_fit_meets_steps_of_a_distribution():
    """What becomes ready at one moment is looked for just then, to the last digit."""
    latency = Distribution((1.0005, 1.0005, 2.0, 2.0), (0.0, 0.5, 0.5, 1.0))
    found = fit(latency, check_cost=0.1)
    assert found.checks == 1.5
    assert found.overshoot < 0.0005


def test_fit_to_few_samples_is_sane():
    """One sample is next to nothing, and the schedule starts near it and backs off."""
    found = fit([2.0], max_checks=3)
    assert 1.0 < found.schedule.initial_delay < 5.0
    found = fit([1.25, 1.5, 1.5, 1.75, 2.0], max_checks=3)
    assert 1.0 < found.schedule.initial_delay < 2.0
    assert len(str(found.schedule)) < 80
    nothing = fit(LatencyModel(), check_cost=1.0)
    assert 0.1 < nothing.schedule.initial_delay < 10.0


def test_fit_goes_where_nothing_is_left_to_gain():
    """Everything ready at once takes one check."""
    found = fit(Distribution((0.0,), (1.0,)), check_cost=0.1)
    assert (found.overshoot, found.checks) == (0.0, 1.0)
    assert found.schedule.initial_delay == 0.0


def test_fit_leaves_slow_checks_their_time():
    """Checks that take long do not overlap: no two looks are nearer than one takes."""
    found = fit(VOLUMES, check_cost=0.001, check_duration=0.5, sees_at=1)
    assert found.schedule.initial_delay < 1.0
    assert min(islice(found.schedule.delays(), 5)) < 0.01
    alone = fit([1.0, 2.0], check_cost=0.1, check_duration=30)
    assert alone.checks == 1.0


def test_fit_follows_the_news_of_a_model():
    """A fit goes by all that a model knows, not by what it made up its mind to."""
    model = LatencyModel([1.0 + at / 100 for at in range(100)])
    model.distribution()
    model.add(5.0)
    other = LatencyModel([*[1.0 + at / 100 for at in range(100)], 5.0])
    assert fit(model, max_checks=2) == fit(other, max_checks=2)


def test_fit_is_a_value():
    """It is compared and travels by its fields."""
    found = fit(EVEN, check_cost=0.3)
    assert pickle.loads(pickle.dumps(found)) == found
    assert repr(found).startswith("Fit(schedule=(sequence(")


@pytest.mark.parametrize(
    ("samples", "options", "kind", "message"),
    [
        ([1.0], {}, TypeError, "give either max_checks or check_cost: got max_checks=None"),
        ([1.0], {"max_checks": 2, "check_cost": 1}, TypeError, "either max_checks or check_cost"),
        ([1.0], {"max_checks": 0.5}, ValueError, "max_checks must be finite and >= 1"),
        ([1.0], {"max_checks": inf}, ValueError, "max_checks must be finite and >= 1"),
        ([1.0], {"max_checks": "2"}, TypeError, "max_checks must be a number: got max_checks='2'"),
        ([1.0], {"check_cost": 0}, ValueError, "check_cost must be finite and > 0"),
        ([1.0], {"check_cost": nan}, ValueError, "check_cost must be finite and > 0"),
        ([1.0], {"check_cost": True}, TypeError, "check_cost must be a number"),
        ([], {"max_checks": 2}, ValueError, "samples must not be empty"),
        ([nan], {"max_checks": 2}, ValueError, "got sample=nan"),
        ([1.0], {"max_checks": 2, "check_duration": nan}, ValueError, "check_duration must be"),
        ([1.0], {"max_checks": 2, "sees_at": -1}, ValueError, "sees_at must be from 0 to 1"),
        (1.0, {"max_checks": 2}, TypeError, "samples must be an iterable of times or pairs"),
        (None, {"max_checks": 2}, TypeError, "got samples=None"),
        ({}, {"max_checks": 2}, TypeError, "got samples={}"),
        ("12", {"max_checks": 2}, TypeError, "got samples='12'"),
        ([1e12], {"max_checks": 2}, ValueError, "samples must not be longer than MAX_DELAY"),
        (Distribution((1.0,), (0.5,), 1e300), {"max_checks": 2}, ValueError, "longer than MAX_DEL"),
        ([(1e-9, 1e9)] * 3, {"max_checks": 1}, ValueError, "max_checks must not be so few for"),
    ],
)
def test_fit_refuses_nonsense(samples: Any, options: Any, kind, message):
    """Arguments out of range, and none or both of the limits, are errors that say so."""
    with pytest.raises(kind) as raised:
        fit(samples, **options)
    assert message in str(raised.value)
